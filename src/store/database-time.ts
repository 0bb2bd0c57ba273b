import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The database's time now, not when its transaction began. See docs/decisions/0012-checks-at-firing.md. */
export async function readDatabaseTime(tx: Db) {
  const [row] = await tx.query<{ now: Temporal.Instant }>(sql`select clock_timestamp() as now`)
  return row!.now
}
