import type { ThrottledProvider } from './mailer.ts'

/** A limit that falls after failures and rises again after successes. */
export class Width {
  readonly max: number
  current: number
  #good = 0

  constructor(max: number) {
    this.max = max
    this.current = max
  }

  reset() {
    this.current = this.max
    this.#good = 0
  }

  narrow() {
    this.current = Math.max(1, Math.floor(this.current / 2))
    this.#good = 0
  }

  widen() {
    if (this.current >= this.max) return
    if (++this.#good < 10) return
    this.current++
    this.#good = 0
  }
}

/** Limits for each provider (the domain of an address); `*` is for all others. */
export type ProviderLimit = { concurrent: number; perSecond: number }

type Provider = {
  width: Width
  sending: number
  spacing: number
  nextAt: number
  /** The deferrals that asked for a pause: since when they are counted, and how many. */
  burst: { since: number; deferrals: number }
  pausedUntil: number
  lastDeferredAt: number
  /** How long the next pause is, longer after each pause without an accepted mail. */
  pauseMs: number
}

/** A provider is paused after this many deferrals within a minute. */
const BURST = { deferrals: 5, ms: 60_000 }
const FIRST_PAUSE_MS = 5 * 60_000
const MAX_PAUSE_MS = 60 * 60_000

/** Throttling ends after this time without deferrals: most domains get too few mails to recover. */
const FORGET_AFTER_MS = 60 * 60_000
const FORGET_EVERY_MS = 60_000

/** The reply of a provider that gets too many mails at once: 421, or an enhanced status 4.7.x. */
export const asksForPause = (reply: string) => /^421\b|^4\d\d[ -]4\.7\.\d/.test(reply)

/** How a mail to a provider ended: `paused` if the provider asked for a pause. */
export type SendResult = 'accepted' | 'deferred' | 'paused' | 'other'

export class ProviderLimits {
  readonly #limits: Record<string, ProviderLimit>
  readonly #providers = new Map<string, Provider>()
  #forgottenAt = 0

  constructor(limits: Record<string, ProviderLimit>) {
    this.#limits = limits
  }

  /** Milliseconds until a mail can begin. 0: it has begun. Infinity: another mail must end first. */
  enter(domain: string, now: number): number {
    const provider = this.#provider(domain)
    if (provider.sending >= provider.width.current) return Number.POSITIVE_INFINITY
    if (provider.nextAt > now) return provider.nextAt - now
    provider.sending++
    provider.nextAt = Math.max(now, provider.nextAt) + provider.spacing
    return 0
  }

  /** For how many milliseconds this provider gets no mail, because it deferred many. */
  pausedMs(domain: string, now: number) {
    return Math.max(0, (this.#providers.get(domain)?.pausedUntil ?? 0) - now)
  }

  /** A mail has ended, or hangs: another one may begin. */
  leave(domain: string) {
    this.#provider(domain).sending--
  }

  /** A provider that defers a mail gets fewer at a time; one that defers many gets none for a while. */
  note(domain: string, now: number, result: SendResult) {
    const provider = this.#provider(domain)
    if (result === 'deferred' || result === 'paused') {
      provider.width.narrow()
      provider.lastDeferredAt = now
    } else provider.width.widen()
    if (result === 'accepted') provider.pauseMs = FIRST_PAUSE_MS
    if (result === 'paused') countDeferral(provider, now)
    if (now - this.#forgottenAt >= FORGET_EVERY_MS) this.#forgetIdle(now)
    else if (isForgettable(provider, now)) this.#providers.delete(domain)
  }

  /**
   * The providers that get fewer mails at a time than their limit, and none while paused. Those that get
   * the fewest come first.
   */
  throttled(now: number): ThrottledProvider[] {
    this.#forgetIdle(now)
    return [...this.#providers]
      .filter(([, { width, pausedUntil }]) => width.current < width.max || pausedUntil > now)
      .map(([provider, { width, pausedUntil }]) => ({
        provider,
        concurrent: pausedUntil > now ? 0 : width.current,
        maxConcurrent: width.max,
      }))
      .toSorted((a, b) => a.concurrent - b.concurrent)
  }

  /** The mail server works again after an outage: what it deferred was a part of it. */
  reset() {
    for (const provider of this.#providers.values()) {
      provider.width.reset()
      provider.burst = { since: 0, deferrals: 0 }
      provider.pausedUntil = 0
      provider.pauseMs = FIRST_PAUSE_MS
    }
  }

  #forgetIdle(now: number) {
    this.#forgottenAt = now
    for (const [domain, provider] of this.#providers) {
      if (isForgettable(provider, now)) this.#providers.delete(domain)
    }
  }

  #provider(domain: string) {
    let provider = this.#providers.get(domain)
    if (!provider) {
      const limit = this.#limits[domain] ?? this.#limits['*']
      provider = {
        width: new Width(limit?.concurrent ?? Number.MAX_SAFE_INTEGER),
        sending: 0,
        spacing: limit && Number.isFinite(limit.perSecond) ? 1000 / limit.perSecond : 0,
        nextAt: 0,
        burst: { since: 0, deferrals: 0 },
        pausedUntil: 0,
        lastDeferredAt: 0,
        pauseMs: FIRST_PAUSE_MS,
      }
      this.#providers.set(domain, provider)
    }
    return provider
  }
}

function isForgettable(provider: Provider, now: number) {
  const { sending, width, nextAt, pausedUntil, lastDeferredAt } = provider
  if (sending > 0 || nextAt > now || pausedUntil > now) return false
  return (
    width.current === width.max || now - Math.max(lastDeferredAt, pausedUntil) >= FORGET_AFTER_MS
  )
}

function countDeferral(provider: Provider, now: number) {
  // Mails that were being sent when the pause began do not lengthen it.
  if (provider.pausedUntil > now) return
  const isRecent = now - provider.burst.since < BURST.ms
  const deferrals = isRecent ? provider.burst.deferrals + 1 : 1
  provider.burst = { since: isRecent ? provider.burst.since : now, deferrals }
  if (deferrals < BURST.deferrals) return
  provider.pausedUntil = now + provider.pauseMs
  provider.pauseMs = Math.min(MAX_PAUSE_MS, provider.pauseMs * 2)
  provider.burst = { since: 0, deferrals: 0 }
}

export const DEFAULT_LIMITS: Record<string, ProviderLimit> = {
  '*': { concurrent: 20, perSecond: Number.POSITIVE_INFINITY },
}
