import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { Limit, Limiter, Standing } from '../../auth/limits.ts'
import { RequestError } from '../../errors.ts'

/** Counts the request under a name and says in its headers how it stands; too many are 429. */
export function limitRate(reply: FastifyReply, limiter: Limiter, name: string) {
  const standing = limiter.take(name)
  reply.header('ratelimit-policy', policyOf(limiter.limit))
  reply.header('ratelimit', `"default";r=${standing.remaining};t=${standing.seconds}`)
  refuseTooMany(standing)
}

export function refuseTooMany({ allowed, seconds }: Standing) {
  if (allowed) return
  throw new RequestError(429, 'Too many requests; wait before the next.', undefined, {
    'retry-after': String(seconds),
  })
}

/** The whole burst is back after the window. */
const policyOf = ({ perSecond, burst }: Limit) =>
  `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`

/**
 * The client's address, as one name for all addresses that a client can choose from: one customer
 * of a provider has a whole IPv6 network of 64 bits. A socket that listens on `::` shows IPv4
 * clients as `::ffff:192.0.2.1`: each of those is a client of its own.
 */
export function addressOf({ ip }: Pick<FastifyRequest, 'ip'>) {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
