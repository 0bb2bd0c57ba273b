import type { Clock } from '../clock.ts'

export type Limit = { perSecond: number; burst: number }

/** How a request stands with its limit. */
export type Standing = {
  allowed: boolean
  /** Requests left at once. */
  remaining: number
  /** Seconds until another one is allowed, where none is; else until the whole burst is back. */
  seconds: number
}

/** More than this many names at once are not told apart: the oldest are forgotten. */
const MOST_NAMES = 50_000

/**
 * A token bucket for each name: `burst` at once, `perSecond` in the long run. Kept in this
 * process: several nodes allow several times as much.
 */
export class Limiter {
  readonly limit: Limit
  readonly #clock: Clock
  /** In the order of last use, so that the first is the one to forget. */
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

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

  /** Gives one back: what it was taken for turned out well. */
  giveBack(name: string) {
    const bucket = this.#fill(name)
    bucket.tokens = Math.min(this.limit.burst, bucket.tokens + 1)
  }

  #fill(name: string) {
    const now = this.#clock.now().epochMilliseconds
    const { perSecond, burst } = this.limit
    const bucket = this.#buckets.get(name) ?? { tokens: burst, at: now }
    // The database's clock may step back a little: then nothing is added.
    const elapsed = Math.max(0, now - bucket.at) / 1000
    bucket.tokens = Math.min(burst, bucket.tokens + elapsed * perSecond)
    bucket.at = now
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > MOST_NAMES) this.#buckets.delete(this.#buckets.keys().next().value!)
    return bucket
  }
}
