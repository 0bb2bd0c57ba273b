import { Batcher } from '../batcher.ts'
import type { Db } from './database.ts'
import { isDatabaseAway } from './postgres-errors.ts'

/**
 * Concurrent callers of the same group share one transaction: ten bookings cost the server little more
 * than three alone. If it fails, each caller gets a transaction of its own.
 */
export class SharedTransactions<Item extends { db: Db }, Result> {
  readonly #work: (tx: Db, items: Item[]) => Promise<Result[]>
  readonly #groups = new Map<string, Group<Item, Result>>()

  /** `work` returns one result for each item. */
  constructor(work: (tx: Db, items: Item[]) => Promise<Result[]>) {
    this.#work = work
  }

  async run(name: string, item: Item): Promise<Result> {
    const group = this.#groups.get(name) ?? this.#openGroup(name)
    group.members += 1
    try {
      return await group.batches.add(item)
    } finally {
      group.members -= 1
      if (group.members === 0) this.#groups.delete(name)
    }
  }

  #openGroup(name: string) {
    const limits = { minItems: MIN_SHARED, maxItems: MAX_SHARED, maxBatches: MAX_TRANSACTIONS }
    const batches = new Batcher((items: Item[]) => this.#transact(items), limits)
    const group = { batches, members: 0 }
    this.#groups.set(name, group)
    return group
  }

  async #transact(items: Item[]): Promise<(Result | Promise<Result>)[]> {
    try {
      return await items[0]!.db.transaction((tx) => this.#work(tx, items))
    } catch (error) {
      // The transaction may have been committed: a second one could write everything twice.
      if (items.length === 1 || isDatabaseAway(error)) throw error
      // Concurrently: in sequence, the last one could wait for the locks of all others.
      const alone = items.map(async (item) => (await this.#transact([item]))[0]!)
      await Promise.allSettled(alone)
      return alone
    }
  }
}

/** Fewer items gain little. More would wait for the slowest, and be repeated if one fails. */
const MIN_SHARED = 8
const MAX_SHARED = 32

/** While one transaction waits for the disk, the next is prepared. */
const MAX_TRANSACTIONS = 2

type Group<Item, Result> = { batches: Batcher<Item, Result>; members: number }
