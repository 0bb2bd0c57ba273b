import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** Somebody wants what another holds, in this test's database. */
export const isAnyoneWaiting = async (db: Db) => (await countWaiting(db)) > 0

/** How many of them. */
export async function countWaiting(db: Db) {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) from pg_locks join pg_stat_activity using (pid)
    where not granted and datname = current_database()`)
  return row!.count
}
