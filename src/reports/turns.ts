import { RequestError } from '../errors.ts'

/**
 * Who may print now: two reports of one business at once and three in all, the rest in the order
 * in which they came. So one business cannot keep the others waiting, and all of them together
 * cannot keep the machine from its real work.
 */
export class Turns {
  readonly #running = new Map<number, number>()
  readonly #waiting: { businessId: number; go: () => void }[] = []
  readonly #perBusiness: number
  readonly #inAll: number
  readonly #mostWaiting: number

  constructor({ perBusiness = 2, inAll = 3, mostWaiting = 20 } = {}) {
    this.#perBusiness = perBusiness
    this.#inAll = inAll
    this.#mostWaiting = mostWaiting
  }

  async take<T>(businessId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(businessId, signal)
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      this.#leave(businessId)
    }
  }

  #turn(businessId: number, signal: AbortSignal) {
    if (this.#isFree(businessId)) {
      this.#enter(businessId)
      return Promise.resolve()
    }
    if (this.#waiting.filter((one) => one.businessId === businessId).length >= this.#mostWaiting) {
      throw new RequestError(429, 'Many reports of yours are waiting already.', undefined, {
        'retry-after': '10',
      })
    }
    return new Promise<void>((resolve, reject) => {
      const place = { businessId, go: resolve }
      this.#waiting.push(place)
      signal.addEventListener('abort', () => {
        const i = this.#waiting.indexOf(place)
        if (i === -1) return
        this.#waiting.splice(i, 1)
        reject(signal.reason)
      })
    })
  }

  #isFree(businessId: number) {
    const all = [...this.#running.values()].reduce((sum, n) => sum + n, 0)
    return all < this.#inAll && (this.#running.get(businessId) ?? 0) < this.#perBusiness
  }

  #enter(businessId: number) {
    this.#running.set(businessId, (this.#running.get(businessId) ?? 0) + 1)
  }

  #leave(businessId: number) {
    const left = this.#running.get(businessId)! - 1
    if (left === 0) this.#running.delete(businessId)
    else this.#running.set(businessId, left)
    const i = this.#waiting.findIndex((one) => this.#isFree(one.businessId))
    if (i === -1) return
    const [next] = this.#waiting.splice(i, 1)
    this.#enter(next!.businessId)
    next!.go()
  }
}
