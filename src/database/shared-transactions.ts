import { Batcher } from '../batcher.ts'
import type { Db } from './database.ts'
import { isDatabaseAway } from './postgres-errors.ts'

/**
 * Concurrent callers of the same group share one transaction: ten bookings cost the server little more
 * than three alone. If it fails, each caller gets a transaction of its own.
 */
export class SharedTransactions<Item extends { db: Db }, Result> {
  readonly #options: Options<Item, Result>
  readonly #groups = new Map<string, Group<Item, Result>>()

  constructor(options: Options<Item, Result>) {
    this.#options = options
  }

  async run(item: Item): Promise<Result> {
    const name = this.#options.groupOf(item)
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
      return await items[0]!.db.transaction(async (tx) => {
        const results = await this.#options.work(tx, items)
        // If the transaction fails, these fail too, and no caller awaits them.
        for (const result of results) void Promise.resolve(result).catch(() => {})
        return results
      })
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

type Options<Item, Result> = {
  /** Items with the same name may share a transaction. */
  groupOf(item: Item): string
  /** Returns a result for each item. One that is a promise may wait for the commit, and fails alone. */
  work(tx: Db, items: Item[]): Promise<(Result | Promise<Result>)[]>
}

/** Fewer items gain little. More would wait for the slowest, and be repeated if one fails. */
const MIN_SHARED = 8
const MAX_SHARED = 32

/** While one transaction waits for the disk, the next is prepared. */
const MAX_TRANSACTIONS = 2

type Group<Item, Result> = { batches: Batcher<Item, Result>; members: number }
