import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { Limit, Limiter, Standing } from '../../auth/limits.ts'
import { RequestError } from '../../errors.ts'

/** Counts the request under a name and sets the `RateLimit` headers. Above the limit it throws 429. */
export function limitRate(reply: FastifyReply, limiter: Limiter, name: string) {
  const standing = limiter.take(name)
  reply.header('ratelimit-policy', policyOf(limiter.limit))
  reply.header('ratelimit', `"default";r=${standing.remaining};t=${standing.seconds}`)
  refuseTooMany(standing)
}

export function refuseTooMany({ allowed, seconds }: Standing) {
  if (allowed) return
  throw new RequestError(
    429,
    'Too many requests. Wait for the seconds in Retry-After.',
    undefined,
    {
      'retry-after': String(seconds),
    },
  )
}

/** The window `w` is the time after which the whole burst is available again. */
const policyOf = ({ perSecond, burst }: Limit) =>
  `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`

/**
 * The client's IPv4 address or /64 IPv6 network: a provider assigns a customer a whole /64. A socket that
 * listens on `::` shows IPv4 clients as `::ffff:192.0.2.1`, which is converted back to IPv4.
 */
export function networkOf({ ip }: Pick<FastifyRequest, 'ip'>) {
  if (!ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return address.toString()
  const network = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
