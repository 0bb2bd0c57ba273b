import type { Db } from './database.ts'

/** Runs the work in a transaction, or in a savepoint of one, and rolls it back. Returns its result. */
export async function runAndRollBack<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  class RolledBack extends Error {
    readonly result: T
    constructor(result: T) {
      super()
      this.result = result
    }
  }
  try {
    return await db.attempt<T>(async (tx) => {
      throw new RolledBack(await work(tx))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.result
    throw error
  }
}
