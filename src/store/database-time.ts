import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'

/** The database's time now, not when its transaction began. See docs/decisions/0012-checks-at-firing.md. */
export async function readDatabaseTime(tx: Db) {
  const row = await tx.getRow<{ now: Temporal.Instant }>(sql`select clock_timestamp() as now`)
  return row.now
}

/** Whether a moment is more than a minute ago, as a condition of a statement that has no time of its own. */
export const isOverAMinuteAgo = (moment: Sql) =>
  sql`${moment} < clock_timestamp() - interval '1 minute'`

export async function readServerVersion(db: Db) {
  const row = await db.getRow<{ version: string }>(
    sql`select split_part(current_setting('server_version'), ' ', 1) as version`,
  )
  return row.version
}
