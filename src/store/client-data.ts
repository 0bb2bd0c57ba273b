import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { raw, sql, type Sql } from '../database/sql.ts'
import { propertiesOf } from './row-properties.ts'

export type Row = Record<string, unknown>
type ClientKey = { businessId: number; clientId: number }

/** The columns that say nothing about the client, or something about another one. */
const LEFT_OUT = [
  'version',
  'changed_in',
  'client_id_list',
  'attendance',
  'confirmed_client_id_list',
  'answers',
]

async function readRows(db: Db, source: Sql): Promise<Row[]> {
  const rows = await db.query<{ row: Row }>(sql`
    select to_jsonb(t) - ${LEFT_OUT}::text[] as row from (${source}) t`)
  return rows.map(({ row }) => propertiesOf(row))
}

export async function readClientRows(db: Db, { businessId, clientId }: ClientKey) {
  const ownRows = (table: string, order: string) =>
    readRows(
      db,
      sql`select * from ${raw(table)} where business_id = ${businessId} and client_id = ${clientId}
          order by ${raw(order)}`,
    )
  const [client] = await ownRows('client', 'client_id')
  if (!client) return undefined
  return {
    client,
    calendar: await ownRows('calendar', 'calendar_id'),
    classSchedule: await readClasses(db, { businessId, clientId }),
    invitation: await ownRows('invitation', 'created_date'),
    recall: await ownRows('recall', 'recall_id'),
    disclaimer: await ownRows('disclaimer', 'disclaimer_id'),
  }
}

/** The classes of which the client is or was a student, with its own answer only. */
function readClasses(db: Db, { businessId, clientId }: ClientKey): Promise<Row[]> {
  return readRows(
    db,
    sql`select s.*, own.answer
        from class_schedule s
        left join lateral (
          select one - 'clientId' as answer from jsonb_array_elements(s.answers) one
          where (one ->> 'clientId')::bigint = ${clientId}) own on true
        where s.business_id = ${businessId}
          and (s.client_id_list @> array[${clientId}::bigint] or own.answer is not null)
        order by s.class_schedule_id`,
  )
}

/** What feeds name the client, and the entries of feeds about it. One that names others is shown without texts. */
export const readFeedRows = async (db: Db, { businessId, clientId }: ClientKey) => ({
  feedMatch: await readRows(
    db,
    sql`select feed_id, match_key, name, made_by, applied, modified_date from feed_match
        where business_id = ${businessId} and kind = 'client' and object_id = ${clientId}
        order by feed_match_id`,
  ),
  feedEntry: await readRows(
    db,
    sql`select e.feed_id, e.feed_entry_id, e.state, e.reason, e.start_time, e.end_time, e.object_type,
               e.object_id, e.changed_time,
               case when cardinality(e.person_keys) <= 1 then e.title end as title,
               case when cardinality(e.person_keys) <= 1 then e.source end as source
        from feed_entry e
        where e.business_id = ${businessId} and (
          exists (select from feed_match m
                  where m.business_id = e.business_id and m.feed_id = e.feed_id and m.kind = 'client'
                    and m.object_id = ${clientId} and e.person_keys @> array[m.match_key])
          or e.object_type = 'CALENDAR' and e.object_id in (
            select calendar_id from calendar
            where business_id = ${businessId} and client_id = ${clientId}))
        order by e.feed_entry_id`,
  ),
})

export type AuditedObjects = { object: string; ids: string[] }[]

export function readAuditOf(db: Db, businessId: number, objects: AuditedObjects) {
  const pairs = objects.flatMap(({ object, ids }) => ids.map((id) => ({ object, id })))
  return readRows(
    db,
    sql`select a.time, a.username as "user", a.object, a.id, a.change, a.after from audit a
        join unnest(${pairs.map(({ object }) => object)}::text[],
                    ${pairs.map(({ id }) => id)}::text[]) as wanted (object, id) using (object, id)
        where a.business_id = ${businessId} order by a.audit_id`,
  )
}

export const readSuppressionsOf = (db: Db, businessId: number, addresses: string[]) =>
  readRows(
    db,
    sql`select * from suppression
        where business_id = ${businessId} and email_address = any (${addresses}::text[])
        order by email_address, reason`,
  )

/** Invitations have a UUID, all others a number. */
type ObjectName = { type: ObjectType; id: number | string }

export const readTriggersOf = (db: Db, businessId: number, objects: ObjectName[]) =>
  readRows(
    db,
    sql`select t.* from any_trigger t
        join unnest(${objects.map(({ type }) => type)}::text[],
                    ${objects.map(({ id }) => (typeof id === 'number' ? id : null))}::bigint[],
                    ${objects.map(({ id }) => (typeof id === 'string' ? id : null))}::text[])
          as o (object_type, object_id, object_uuid)
          on t.object_type = o.object_type
            and (t.object_id = o.object_id or t.object_uuid = o.object_uuid)
        where t.business_id = ${businessId} order by t.event_trigger_id`,
  )
