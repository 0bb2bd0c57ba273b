import type { Database, Db } from './database.ts'
import { sql } from './sql.ts'

/**
 * The same database for a loop that serves all businesses: a transaction of a business that waits longer
 * for a lock fails, and the loop goes on with the next business. 0: it waits until the statement times out.
 */
export function limitLockWaits(database: Database, maxMs: number): Database {
  const limit = (db: Db): Db => ({
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        tx.send(sql`select set_config('lock_timeout', ${String(maxMs)}, true)`)
        return work(tx)
      }),
  })
  if (maxMs === 0) return database
  return { ...database, forBusiness: (...who) => limit(database.forBusiness(...who)) }
}
