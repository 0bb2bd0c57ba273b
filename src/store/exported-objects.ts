import { toColumn, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import { idColumn, idType } from './objects.ts'

const BATCH = 500

/** An object as it is exported: times are milliseconds, as on the wire. */
export type ExportedObject = Record<string, unknown>

/**
 * All objects of a kind, also deleted ones, in the order of their ids. Ids of invitations are random:
 * they are ordered by content, so that equal data gives equal exports.
 */
export function streamObjects(tx: Db, businessId: number, kind: ObjectKind) {
  const order =
    kind.id === 'invitationUUID'
      ? sql`created_date, client_id, invitation_campaign_id, status, external_id, expires_time`
      : raw(toColumn(kind.id))
  return tx.stream<ExportedObject>(
    sql`
      select ${wireColumns(kind)} from ${raw(kind.table)} t
      where business_id = ${businessId} order by ${order}`,
    BATCH,
  )
}

/** Times stay numbers: garbage collection cannot keep up with millions of Temporal.Instants. */
function wireColumns(kind: ObjectKind) {
  const own = Object.entries(kind.fields).map(([property, { column, instant }]) =>
    instant ? `${milliseconds(column)} as "${property}"` : `t.${column} as "${property}"`,
  )
  return raw(
    [
      `t.${toColumn(kind.id)} as "${kind.id}"`,
      ...own,
      't.external_id as "externalId"',
      't.active',
      `${milliseconds('created_date')} as "createdDate"`,
    ].join(', '),
  )
}

const milliseconds = (column: string) => `round(extract(epoch from t.${column}) * 1000)::bigint`

/** When an object was created, and whether it is a client who was erased. */
type Creation = { id: number | string; createdDate: number; isErased: boolean }

export async function listCreations(
  db: Db,
  businessId: number,
  kind: ObjectKind,
  ids: (number | string)[],
): Promise<Creation[]> {
  if (ids.length === 0) return []
  const isErased = kind.kind === 'client' ? IS_ERASED : 'false'
  return db.query<Creation>(sql`
    select t.${idColumn(kind)} as id, ${raw(milliseconds('created_date'))} as "createdDate",
           ${raw(isErased)} as "isErased"
    from ${raw(kind.table)} t
    where t.business_id = ${businessId} and t.${idColumn(kind)} = any (${ids}::${raw(idType(kind))}[])`)
}

/** See erase_client() in the migrations. */
const IS_ERASED = `(first_name, last_name, email_address) is not distinct from ('Erased', 'client', null)`

export async function countObjects(db: Db, businessId: number, kinds: readonly ObjectKind[]) {
  let total = 0
  for (const kind of kinds) {
    const row = await db.getRow<{ count: number }>(sql`
      select count(*) as count from ${raw(kind.table)} where business_id = ${businessId}`)
    total += row.count
  }
  return total
}

/** The objects that others refer to, for kinds whose objects are rarely referred to. */
export type ReferredIds = {
  calendar: Set<number>
  disclaimer: Set<number>
  invitation: Set<string>
}

export async function listReferredIds(tx: Db, businessId: number): Promise<ReferredIds> {
  const [calendars, disclaimers, invitations] = await Promise.all([
    tx.query<{ id: number }>(sql`
      select calendar_id as id from disclaimer
      where business_id = ${businessId} and calendar_id is not null
      union
      select object_id from event_definition
      where business_id = ${businessId} and object_type = 'CALENDAR' and object_id is not null`),
    tx.query<{ id: number }>(sql`
      select object_id as id from event_definition
      where business_id = ${businessId} and object_id is not null
        and event_type_id in (12, 13) and object_type <> 'CALENDAR'`),
    tx.query<{ id: string }>(sql`
      select invitation_uuid as id from invitation
      where business_id = ${businessId} and invitation_uuid in (
        select object_uuid from event_definition where business_id = ${businessId}
        union all
        select invitation_uuid from calendar
        where business_id = ${businessId} and invitation_uuid is not null)`),
  ])
  const idsOf = <Id>(rows: { id: Id }[]) => new Set(rows.map((row) => row.id))
  return {
    calendar: idsOf(calendars),
    disclaimer: idsOf(disclaimers),
    invitation: idsOf(invitations),
  }
}
