import type { Clock } from '../clock.ts'
import { RecentlyUsed } from '../recently-used.ts'

export type Limit = { perSecond: number; burst: number }

/** The state of a caller's limit after a request. */
export type Standing = {
  allowed: boolean
  /** Requests that are allowed at once. */
  remaining: number
  /** Seconds until the next request is allowed; if one is allowed now, until the burst is full. */
  seconds: number
}

const MAX_BUCKETS = 50_000

/**
 * A token bucket for each name: `burst` at once, `perSecond` in the long run. Each process has its
 * own buckets, so several nodes allow several times as much.
 */
export class Limiter {
  readonly limit: Limit
  readonly #clock: Clock
  readonly #buckets = new RecentlyUsed<string, { tokens: number; at: number }>(MAX_BUCKETS)

  constructor(limit: Limit, clock: Clock) {
    this.limit = limit
    this.#clock = clock
  }

  take(name: string): Standing {
    const bucket = this.#fill(name)
    const allowed = bucket.tokens >= 1
    if (allowed) bucket.tokens -= 1
    const { perSecond, burst } = this.limit
    const missing = allowed ? burst - bucket.tokens : 1 - bucket.tokens
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      seconds: Math.max(1, Math.ceil(missing / perSecond)),
    }
  }

  /** Returns a token, for example after a successful sign-in. */
  giveBack(name: string) {
    const bucket = this.#fill(name)
    bucket.tokens = Math.min(this.limit.burst, bucket.tokens + 1)
  }

  #fill(name: string) {
    const now = this.#clock.now().epochMilliseconds
    const { perSecond, burst } = this.limit
    const bucket = this.#buckets.get(name) ?? { tokens: burst, at: now }
    // The database's clock can step back a little.
    const elapsed = Math.max(0, now - bucket.at) / 1000
    bucket.tokens = Math.min(burst, bucket.tokens + elapsed * perSecond)
    bucket.at = now
    this.#buckets.set(name, bucket)
    return bucket
  }
}
