import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'

/**
 * A place in the order in which lists with `changedSince` are read: that of the ids of the transactions
 * that changed the objects, then of their own ids. Without `afterId`: before all objects of the transaction.
 */
export type ChangePosition = { transaction: string; afterId?: number | string | undefined }

/** The changes after a position, by transactions before `until`. */
export type Changes = { since: ChangePosition; until: string }

/** `epoch` changes if the server forgets transactions: see change_epoch() in the migrations. */
export type Horizon = { epoch: string; transaction: string }

/**
 * The oldest transaction that is still open. All before it have ended, so a reader that has read their
 * changes misses none, however long a transaction takes.
 */
export const readHorizon = (db: Db): Promise<Horizon> =>
  db.getRow<Horizon>(sql`
    select change_epoch() as epoch, pg_snapshot_xmin(pg_current_snapshot())::text as transaction`)

/** Limits rows to those that were changed. `changedIn` and `id` are their columns. */
export function isChanged({ since, until }: Changes, changedIn: Sql, id: Sql): Sql {
  const { transaction, afterId } = since
  const after =
    afterId === undefined
      ? sql`${changedIn} >= ${transaction}::xid8`
      : sql`(${changedIn}, ${id}) > (${transaction}::xid8, ${afterId})`
  return sql`and ${after} and ${changedIn} < ${until}::xid8`
}
