import { CHANGE_KINDS, type ChangeKind } from '../contract/change.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

const CHANNEL = 'bellwether_changes'

/** A hint names this many triggers of a business; for more it says only that there are some. */
const MAX_HINTED_IDS = 200

/** What a node has heard of a business: look at the audit, and at these triggers. */
export type ChangeHint = { businessId: number; triggerIds: number[] | 'many' }

/** The audit of the business has new entries. */
export const hintChanges = (db: Db, businessId: number) => db.hint(CHANNEL, String(businessId))

/** Triggers of the business have changed, and nothing says which. */
export const hintManyChangedTriggers = (db: Db, businessId: number) =>
  db.hint(CHANNEL, `${businessId}:many`)

/** Changes of triggers are in no audit: the engine names them, of any business, once committed. */
export function hintChangedTriggers(
  tx: Db,
  changed: { businessId: number; eventTriggerId: number | null }[],
) {
  for (const [businessId, triggers] of Map.groupBy(changed, (one) => one.businessId)) {
    const ids = new Set(triggers.map((trigger) => trigger.eventTriggerId))
    // A mail that people sent by hand has no trigger.
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

/** A change of the audit, with what decides who sees it, before and after. */
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

/** Changes after this one, in the order of their ids, which is not quite that of their commits. */
export function listChanges(
  db: Db,
  businessId: number,
  { after, limit }: { after: number; limit: number },
) {
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

export async function findLastChangeId(db: Db, businessId: number) {
  const [row] = await db.query<{ auditId: number }>(sql`
    select coalesce(max(audit_id), 0) as "auditId" from audit where business_id = ${businessId}`)
  return row!.auditId
}
