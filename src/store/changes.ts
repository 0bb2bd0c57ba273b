import { CHANGE_KINDS, type ChangeKind } from '../contract/change.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { PageAfter } from './pages.ts'

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
  auditId: number
  kind: ChangeKind
  id: string
  isNew: boolean
  locationId: number | null
  professionalId: number | null
  oldLocationId: number | null
  oldProfessionalId: number | null
}

/** Changes after this id, in the order of ids, which can differ from the order of commits. */
export function listChanges(db: Db, businessId: number, { after, limit }: PageAfter) {
  return db.query<AuditChange>(sql`
    select audit_id as "auditId", object as kind, id, change = 'CREATED' as "isNew",
           (after ->> 'location_id')::bigint as "locationId",
           (after ->> 'professional_id')::bigint as "professionalId",
           (before ->> 'location_id')::bigint as "oldLocationId",
           (before ->> 'professional_id')::bigint as "oldProfessionalId"
    from (select audit_id, object, id, change, after, before from audit_entry
          where business_id = ${businessId} and audit_id > ${after}
            and object = any (${CHANGE_KINDS}::text[])
          order by audit_id limit ${limit} offset 0) entry
    order by audit_id`)
}

/** Never an id from before a restore: a reader that resumes from one reads everything again. */
export async function findLastChangeId(db: Db, businessId: number) {
  const [row] = await db.query<{ auditId: number }>(sql`
    select greatest(max(audit_id), (select last_value from restored_audit_id)) as "auditId"
    from audit where business_id = ${businessId}`)
  return row!.auditId
}

/** Smaller ids may be of changes that a restore lost; see hold_database() in the migrations. */
export async function readRestoredId(db: Db) {
  const [row] = await db.query<{ id: number }>(sql`select last_value as id from restored_audit_id`)
  return row!.id
}
