import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** True if a transaction waits for a lock in this test's database. */
export const isLockAwaited = async (db: Db) => (await countLockWaits(db)) > 0

/** The number of transactions that wait for a lock. */
export async function countLockWaits(db: Db) {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database()`)
  return row!.count
}
