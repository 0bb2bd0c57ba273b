import { isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Limit, Limiter, Standing } from '../auth/limits.ts'
import { RequestError } from '../errors.ts'

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

/** One household or office has a whole IPv6 network to itself. */
export function addressOf({ ip }: FastifyRequest) {
  return isIPv6(ip) ? `${expand(ip).slice(0, 4).join(':')}::/64` : ip
}

function expand(ip: string) {
  const [head = '', tail] = ip.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const middle = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(Math.max(0, middle)).fill('0'), ...right]
}
