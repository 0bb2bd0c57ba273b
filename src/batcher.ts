/**
 * Lets concurrent callers share one piece of work, such as a commit. Callers that arrive while a batch
 * is in progress join the next one.
 */
export class Batcher<Item, Result> {
  readonly #work: Work<Item, Result>
  readonly #limits: Limits
  #queued: Queued<Item, Result>[] = []
  #workers = 0
  #inProgress = 0

  constructor(work: Work<Item, Result>, limits: Partial<Limits> = {}) {
    this.#work = work
    this.#limits = {
      minItems: 1,
      maxItems: Infinity,
      maxBatches: 1,
      gather: async () => {},
      ...limits,
    }
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#queued.push({ item, resolve, reject })
    if (this.#workers < this.#limits.maxBatches) void this.#run()
    return promise
  }

  async #run() {
    this.#workers += 1
    for (;;) {
      // Concurrent callers join the same batch.
      await this.#limits.gather()
      if (this.#queued.length === 0) break
      const batch = this.#queued.splice(0, this.#batchSize())
      this.#inProgress += 1
      try {
        const results = await this.#work(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, i) => resolve(results[i]!))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      this.#inProgress -= 1
    }
    this.#workers -= 1
  }

  /** Spreads the queued items over the batches that can begin now. */
  #batchSize() {
    const { minItems, maxItems, maxBatches } = this.#limits
    const free = maxBatches - this.#inProgress
    return Math.min(maxItems, Math.max(minItems, Math.ceil(this.#queued.length / free)))
  }
}

/** A result that is a promise belongs to its caller alone, also if it is rejected. */
type Work<Item, Result> = (items: Item[]) => Promise<(Result | Promise<Result>)[]>

type Limits = {
  /** A batch has at least this many items, if that many are queued. */
  minItems: number
  maxItems: number
  /** How many batches may be in progress at the same time. */
  maxBatches: number
  /** Waits before a batch begins, so that more callers can share it. */
  gather(): Promise<void>
}

type Queued<Item, Result> = {
  item: Item
  resolve(result: Result | Promise<Result>): void
  reject(error: unknown): void
}
