import { CHANGE_KINDS, type ChangeKind } from '../contract/change.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'

const CHANNEL = 'bellwether_changes'

/** A hint lists at most this many triggers of a business; for more, it says `many`. */
const MAX_HINTED_IDS = 200

/** A received hint: the audit of the business has new entries, or these triggers changed. */
export type ChangeHint = { businessId: number; triggerIds: number[] | 'many' }

/** The audit of the business has new entries. */
export const hintChanges = (db: Db, businessId: number) => db.hint(CHANNEL, String(businessId))

/** Triggers of the business have changed, but it is not known which. */
export const hintManyChangedTriggers = (db: Db, businessId: number) =>
  db.hint(CHANNEL, `${businessId}:many`)

/** The audit does not contain triggers, so the engine sends the ids of changed ones after the commit. */
export function hintChangedTriggers(
  tx: Db,
  changed: { businessId: number; eventTriggerId: number | null }[],
) {
  for (const [businessId, triggers] of Map.groupBy(changed, (one) => one.businessId)) {
    const ids = new Set(triggers.map((trigger) => trigger.eventTriggerId))
    // A mail that a user sent has no trigger.
    if (ids.has(null) || ids.size > MAX_HINTED_IDS) hintManyChangedTriggers(tx, businessId)
    else tx.hint(CHANNEL, `${businessId}:${[...ids].join()}`)
  }
}

export function readChangeHint(payload: string): ChangeHint {
  const [businessId, ids = ''] = payload.split(':')
  return {
    businessId: Number(businessId),
    triggerIds: ids === 'many' ? 'many' : ids.split(',').filter(Boolean).map(Number),
  }
}

/** An audited change, with the ids that decide who sees it, before and after. */
export type AuditChange = {
  /** The id of its transaction. */
  changedIn: string
  kind: ChangeKind
  id: string
  isNew: boolean
  locationId: number | null
  professionalId: number | null
  oldLocationId: number | null
  oldProfessionalId: number | null
}

/**
 * What a reader has seen: the changes of all transactions with smaller ids than `next`, except those that
 * were `open`. Transactions commit in another order than that of their ids.
 */
export type SeenChanges = { epoch: string; next: string; open: string[] }

/** The changes that a reader has not seen, in the order of their entries, and what it has seen then. */
export async function listUnseenChanges(
  db: Db,
  businessId: number,
  { seen, limit }: { seen: SeenChanges; limit: number },
) {
  const entriesOf = (condition: Sql) => sql`(
    select audit_id, changed_in, object, id, change, after, before from audit_entry
    where business_id = ${businessId} and ${condition} and object = any (${CHANGE_KINDS}::text[])
      -- Entries from before a restore have ids of other transactions.
      and audit_id > (select last_value from restored_audit_id)
    order by changed_in, audit_id limit ${limit})`
  const rows = await db.query<AuditChange & { now: SeenChanges }>(sql`
    with unseen as (
      ${entriesOf(sql`changed_in = any (${seen.open}::xid8[])`)}
      union all
      ${entriesOf(sql`changed_in >= ${seen.next}::xid8 and changed_in < pg_snapshot_xmax(pg_current_snapshot())`)}
      order by audit_id limit ${limit}
    )
    select ${seenNow} as now, e.changed_in::text as "changedIn", e.object as kind, e.id,
           e.change = 'CREATED' as "isNew",
           (e.after ->> 'location_id')::bigint as "locationId",
           (e.after ->> 'professional_id')::bigint as "professionalId",
           (e.before ->> 'location_id')::bigint as "oldLocationId",
           (e.before ->> 'professional_id')::bigint as "oldProfessionalId"
    from (select) one
    left join unseen e on true
    order by e.audit_id`)
  return { changes: rows.filter(({ kind }) => kind !== null), now: rows[0]!.now }
}

/** Of the snapshot of the statement, so that it names the changes that the statement sees. */
const seenNow = sql`
  (select jsonb_build_object(
     'epoch', change_epoch(), 'next', pg_snapshot_xmax(s)::text,
     'open', array(select open::text from pg_snapshot_xip(s) open))
   from pg_current_snapshot() s)`

export async function readSeenChanges(db: Db) {
  const row = await db.getRow<{ now: SeenChanges }>(sql`select ${seenNow} as now`)
  return row.now
}
