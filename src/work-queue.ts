import { RequestError } from './errors.ts'

export type QueueLimits = {
  /** How much work of all businesses runs at once. */
  total: number
  /** How much work of one business runs at once. */
  perBusiness?: number
  /** How much work of one business can wait; more is refused with 429. */
  maxWaiting?: number
  /** The answer's `Retry-After`. */
  retryAfterSeconds?: number
}

/** The business that the work is for, and the signal that removes it from the queue. */
export type Caller = { businessId?: number; signal?: AbortSignal }

/** A place in the queue. The owner must call `release` when the work has ended. */
export type Slot = {
  /** Resolves when the work may start; rejects if the signal aborts before that. */
  granted: Promise<void>
  /** Frees the slot, or gives up the place in the queue. May be called more than once. */
  release(): void
}

/**
 * A semaphore: limits how much work of one kind runs at once in this process. Work over the limit
 * waits. Each free slot goes to the business that was served least recently.
 */
export class WorkQueue {
  readonly #limits: Required<QueueLimits>
  readonly #running = new Map<number, number>()
  /** Waiting work by business. The first business in the map is the next one to be served. */
  readonly #waiting = new Map<number, Set<() => void>>()

  constructor(limits: QueueLimits) {
    this.#limits = { perBusiness: Infinity, maxWaiting: Infinity, retryAfterSeconds: 5, ...limits }
  }

  async run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const slot = this.reserve(caller)
    try {
      await slot.granted
      caller.signal?.throwIfAborted()
      return await work()
    } finally {
      slot.release()
    }
  }

  /** Takes a place in the queue. Throws 429 if too much work of the business waits already. */
  reserve({ businessId = 0, signal }: Caller): Slot {
    signal?.throwIfAborted()
    const { promise: granted, resolve, reject } = Promise.withResolvers<void>()
    granted.catch(() => {}) // The owner may release the slot without having awaited it.
    let isRunning = false
    const leave = () => {
      this.#removeWaiting(businessId, start)
      signal?.removeEventListener('abort', abort)
    }
    const abort = () => {
      leave()
      reject(signal?.reason)
    }
    const start = () => {
      leave()
      this.#running.set(businessId, this.#countRunning(businessId) + 1)
      isRunning = true
      resolve()
    }
    const release = () => {
      if (!isRunning) return leave()
      isRunning = false
      this.#finish(businessId)
    }

    if (this.#hasRoom(businessId)) start()
    else {
      this.#addWaiting(businessId, start)
      signal?.addEventListener('abort', abort)
    }
    return { granted, release }
  }

  #countRunning(businessId: number) {
    return this.#running.get(businessId) ?? 0
  }

  #hasRoom(businessId: number) {
    const all = [...this.#running.values()].reduce((sum, n) => sum + n, 0)
    const { perBusiness, total } = this.#limits
    return all < total && this.#countRunning(businessId) < perBusiness
  }

  #addWaiting(businessId: number, start: () => void) {
    const waiting = this.#waiting.get(businessId) ?? new Set()
    if (waiting.size >= this.#limits.maxWaiting) throw this.#full()
    this.#waiting.set(businessId, waiting.add(start))
  }

  #removeWaiting(businessId: number, start: () => void) {
    const waiting = this.#waiting.get(businessId)
    if (waiting?.delete(start) && waiting.size === 0) this.#waiting.delete(businessId)
  }

  #finish(businessId: number) {
    const remaining = this.#countRunning(businessId) - 1
    if (remaining === 0) this.#running.delete(businessId)
    else this.#running.set(businessId, remaining)
    this.#startNext()
  }

  #startNext() {
    for (const [businessId, waiting] of this.#waiting) {
      if (!this.#hasRoom(businessId)) continue
      const [start] = waiting
      start!()
      // The business goes to the end of the map, so the others are served first.
      if (this.#waiting.delete(businessId)) this.#waiting.set(businessId, waiting)
      return
    }
  }

  #full() {
    const { retryAfterSeconds } = this.#limits
    const detail = `Too many long requests of this business are running or queued. Try again in ${retryAfterSeconds} s.`
    return new RequestError(429, detail, undefined, { 'retry-after': String(retryAfterSeconds) })
  }
}
