import { RequestError } from './errors.ts'

export type QueueLimits = {
  /** How much work of all businesses runs at once. */
  total: number
  /** How much work of one business runs at once. */
  perBusiness?: number
  /** How much work of one business can wait; more is refused with 429. */
  maxWaiting?: number
  /** How long work can wait before it is refused with 503. */
  maxWaitSeconds?: number
  /** The answer's `Retry-After`. */
  retryAfterSeconds?: number
}

/**
 * The business that the work is for, or the client's address while the business is unknown, and the
 * signal that removes the work from the queue.
 */
export type WaitingCaller = { businessId?: number; address?: string; signal?: AbortSignal }

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
  readonly #running = new Map<Name, number>()
  #runningTotal = 0
  /** Waiting work by business. The first business in the map is the next one to be served. */
  readonly #waiting = new Map<Name, Set<() => void>>()

  constructor(limits: QueueLimits) {
    this.#limits = {
      perBusiness: Infinity,
      maxWaiting: Infinity,
      maxWaitSeconds: Infinity,
      retryAfterSeconds: 5,
      ...limits,
    }
  }

  /** How much work waits. */
  get waiting() {
    return this.#waiting.values().reduce((sum, { size }) => sum + size, 0)
  }

  async run<T>(caller: WaitingCaller, work: () => Promise<T>): Promise<T> {
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
  reserve({ businessId, address, signal }: WaitingCaller): Slot {
    signal?.throwIfAborted()
    const name = businessId ?? address ?? 0
    if (this.#hasRoom(name)) {
      this.#start(name)
      return { granted: GRANTED, release: this.#releaseOf(name) }
    }
    return this.#wait(name, signal)
  }

  #wait(name: Name, signal: AbortSignal | undefined): Slot {
    const { promise: granted, resolve, reject } = Promise.withResolvers<void>()
    granted.catch(() => {}) // The owner may release the slot without having awaited it.
    let release = () => leave()
    const leave = () => {
      this.#removeWaiting(name, start)
      signal?.removeEventListener('abort', abort)
      clearTimeout(deadline)
    }
    const giveUp = (reason: unknown) => {
      leave()
      reject(reason)
    }
    const abort = () => giveUp(signal?.reason)
    const start = () => {
      leave()
      this.#start(name)
      release = this.#releaseOf(name)
      resolve()
    }
    this.#addWaiting(name, start)
    signal?.addEventListener('abort', abort)
    const { maxWaitSeconds } = this.#limits
    const deadline = Number.isFinite(maxWaitSeconds)
      ? setTimeout(() => giveUp(this.#tooLong()), maxWaitSeconds * 1000)
      : undefined
    return { granted, release: () => release() }
  }

  #start(name: Name) {
    this.#running.set(name, this.#countRunning(name) + 1)
    this.#runningTotal += 1
  }

  #releaseOf(name: Name) {
    let isRunning = true
    return () => {
      if (!isRunning) return
      isRunning = false
      this.#finish(name)
    }
  }

  #countRunning(name: Name) {
    return this.#running.get(name) ?? 0
  }

  #hasRoom(name: Name) {
    const { perBusiness, total } = this.#limits
    return this.#runningTotal < total && this.#countRunning(name) < perBusiness
  }

  #addWaiting(name: Name, start: () => void) {
    const waiting = this.#waiting.get(name) ?? new Set()
    if (waiting.size >= this.#limits.maxWaiting) throw this.#full()
    this.#waiting.set(name, waiting.add(start))
  }

  #removeWaiting(name: Name, start: () => void) {
    const waiting = this.#waiting.get(name)
    if (waiting?.delete(start) && waiting.size === 0) this.#waiting.delete(name)
  }

  #finish(name: Name) {
    this.#runningTotal -= 1
    const remaining = this.#countRunning(name) - 1
    if (remaining === 0) this.#running.delete(name)
    else this.#running.set(name, remaining)
    this.#startNext()
  }

  #startNext() {
    for (const [name, waiting] of this.#waiting) {
      if (!this.#hasRoom(name)) continue
      const [start] = waiting
      start!()
      // The business goes to the end of the map, so the others are served first.
      if (this.#waiting.delete(name)) this.#waiting.set(name, waiting)
      return
    }
  }

  #full() {
    const { retryAfterSeconds } = this.#limits
    const detail = `Too many long requests of this business are running or queued. Try again in ${retryAfterSeconds} s.`
    return new RequestError(429, detail, undefined, { 'retry-after': String(retryAfterSeconds) })
  }

  #tooLong() {
    const { maxWaitSeconds, retryAfterSeconds } = this.#limits
    const detail = `The request waited ${maxWaitSeconds} s for other requests of this business. Try again in ${retryAfterSeconds} s.`
    return new RequestError(503, detail, undefined, { 'retry-after': String(retryAfterSeconds) })
  }
}

type Name = number | string

const GRANTED = Promise.resolve()
