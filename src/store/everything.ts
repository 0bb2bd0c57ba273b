import { toColumn, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import { columnsOf, type StoredObject } from './objects.ts'

/** Everything that is read until the transaction ends is as it was at one moment. */
export const holdStill = (tx: Db) =>
  tx.query(sql`set transaction isolation level repeatable read, read only`)

const BATCH = 500

/**
 * All objects of a kind, the deleted ones too, in the order of their ids. Invitations have ids
 * without an order: theirs is by what they say, so that equal data is told equally.
 */
export function streamObjects(tx: Db, businessId: number, kind: ObjectKind) {
  const order =
    kind.id === 'invitationUUID'
      ? sql`created_date, client_id, invitation_campaign_id, status, external_id, expires_time`
      : raw(toColumn(kind.id))
  return tx.stream<StoredObject>(
    sql`
      select ${columnsOf(kind)} from ${raw(kind.table)} t
      where business_id = ${businessId} order by ${order}`,
    BATCH,
  )
}

export async function countObjects(db: Db, businessId: number, kinds: readonly ObjectKind[]) {
  let total = 0
  for (const kind of kinds) {
    const [row] = await db.query<{ count: number }>(sql`
      select count(*) as count from ${raw(kind.table)} where business_id = ${businessId}`)
    total += row!.count
  }
  return total
}

/** The appointments that something else points at. */
export async function listNamedCalendars(tx: Db, businessId: number): Promise<Set<number>> {
  const rows = await tx.query<{ id: number }>(sql`
    select calendar_id as id from disclaimer
    where business_id = ${businessId} and calendar_id is not null
    union
    select object_id from event_definition
    where business_id = ${businessId} and object_type = 'CALENDAR' and object_id is not null`)
  return new Set(rows.map((row) => row.id))
}
