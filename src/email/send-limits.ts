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

type Provider = { width: Width; under: number; spacing: number; nextAt: number }

/** Counts the mails that are being sent to each provider. */
export class ProviderLimits {
  readonly #limits: Record<string, ProviderLimit>
  readonly #providers = new Map<string, Provider>()

  constructor(limits: Record<string, ProviderLimit>) {
    this.#limits = limits
  }

  /** Milliseconds until a mail to this provider can begin. 0: it has begun. Infinity: after another ends. */
  enter(domain: string, now: number): number {
    const provider = this.#provider(domain)
    if (provider.under >= provider.width.current) return Number.POSITIVE_INFINITY
    if (provider.nextAt > now) return provider.nextAt - now
    provider.under++
    provider.nextAt = Math.max(now, provider.nextAt) + provider.spacing
    return 0
  }

  /** `deferred`: the provider deferred the mail, so it gets fewer mails at a time. */
  leave(domain: string, now: number, deferred: boolean) {
    const provider = this.#provider(domain)
    provider.under--
    if (deferred) provider.width.narrow()
    else provider.width.widen()
    const { under, width, nextAt } = provider
    if (under === 0 && width.current === width.max && nextAt <= now) this.#providers.delete(domain)
  }

  /** The providers that get fewer mails at a time than their limit. */
  throttled(): ThrottledProvider[] {
    return [...this.#providers]
      .filter(([, { width }]) => width.current < width.max)
      .map(([provider, { width }]) => ({
        provider,
        concurrent: width.current,
        maxConcurrent: width.max,
      }))
  }

  #provider(domain: string) {
    let provider = this.#providers.get(domain)
    if (!provider) {
      const limit = this.#limits[domain] ?? this.#limits['*']
      provider = {
        width: new Width(limit?.concurrent ?? Number.MAX_SAFE_INTEGER),
        under: 0,
        spacing: limit && Number.isFinite(limit.perSecond) ? 1000 / limit.perSecond : 0,
        nextAt: 0,
      }
      this.#providers.set(domain, provider)
    }
    return provider
  }
}
