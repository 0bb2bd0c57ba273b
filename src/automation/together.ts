/**
 * Lets many callers share one piece of work: while a round is under way, those who come wait for
 * the next one. A commit for each of a hundred mails would cost more than the mails.
 */
export class Together<Item, Result> {
  readonly #work: (items: Item[]) => Promise<Result[]>
  readonly #limits: Limits
  #waiting: Waiting<Item, Result>[] = []
  #lanes = 0
  #underWay = 0

  constructor(work: (items: Item[]) => Promise<Result[]>, limits: Partial<Limits> = {}) {
    this.#work = work
    this.#limits = { least: 1, most: Infinity, lanes: 1, gather: async () => {}, ...limits }
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push({ item, resolve, reject })
    if (this.#lanes < this.#limits.lanes) void this.#run()
    return promise
  }

  async #run() {
    this.#lanes += 1
    for (;;) {
      // Whoever comes in this very moment is in the round too.
      await this.#limits.gather()
      if (this.#waiting.length === 0) break
      const round = this.#waiting.splice(0, this.#share())
      this.#underWay += 1
      try {
        const results = await this.#work(round.map((one) => one.item))
        round.forEach((one, i) => one.resolve(results[i]!))
      } catch (error) {
        for (const one of round) one.reject(error)
      }
      this.#underWay -= 1
    }
    this.#lanes -= 1
  }

  /** Those who came at once share among the rounds that may begin now, or all would be in one. */
  #share() {
    const { least, most, lanes } = this.#limits
    const free = lanes - this.#underWay
    return Math.min(most, Math.max(least, Math.ceil(this.#waiting.length / free)))
  }
}

type Limits = {
  /** How many share a round, unless there are fewer. */
  least: number
  most: number
  /** How many rounds may be under way. */
  lanes: number
  /** What a round waits for, so that more may share it. */
  gather(): Promise<void>
}

type Waiting<Item, Result> = {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}
