import type { ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { empty, raw, sql, type Sql } from '../database/sql.ts'
import { recordedColumns, recordedEntries, type Recorded } from './audit.ts'
import { objectIdOf, type ObjectKey, type Subject } from './subject.ts'

/** Objects of one type as matching and timing see them, by their ids. */
export function listSubjects(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
): Promise<Subject[]> {
  const { view, table, id } = VIEWS[objectType]
  return db.query<Subject>(sql`
    ${view(raw(table))} where t.business_id = ${businessId} and t.${raw(id)} = any (${ids})`)
}

/**
 * The same, and nobody changes the objects, nor fires what is about them, until the transaction ends.
 * Firing holds an object before its triggers, as one of many: who plans would wait for the one trigger
 * with another in hand that firing may want.
 *
 * Read only once all are locked, by a statement of its own: one that waits for an object and then goes
 * on sees it as it is now, but beside it the status and client it had when the statement began.
 */
export function lockSubjects(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
): Promise<Subject[]> {
  const { table, id } = VIEWS[objectType]
  tx.send(sql`
    select from ${raw(table)} t where t.business_id = ${businessId} and t.${raw(id)} = any (${ids})
    order by t.${raw(id)} for no key update`)
  return listSubjects(tx, businessId, objectType, ids)
}

/** The same for objects of any business: what the engine is about to write of. */
export function holdSubjects(
  tx: Db,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<Subject[]> {
  lockObjects(tx, objectType, keys)
  return tx.query<Subject>(VIEWS[objectType].view(objectsBy(objectType, keys, empty)))
}

/** Nobody changes these objects until the transaction ends. */
export const lockObjects = (tx: Db, objectType: ObjectType, keys: ObjectKey[]) =>
  tx.send(sql`select count(*) from ${objectsBy(objectType, keys, sql`for share`)} t`)

/** Locks objects of several types for share, types in alphabetical order: see docs/engine.md, lock order. */
export function lockObjectsOf(tx: Db, objects: (ObjectKey & { objectType: ObjectType })[]) {
  const byType = [...Map.groupBy(objects, (object) => object.objectType)]
  for (const [objectType, some] of byType.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const distinct = new Map(some.map((object) => [objectIdOf(object), object]))
    lockObjects(tx, objectType, [...distinct.values()])
  }
}

function objectsBy(objectType: ObjectType, keys: ObjectKey[], held: Sql) {
  const { table, id } = VIEWS[objectType]
  // Everybody locks in the same order.
  const sorted = keys.toSorted(
    (a, b) =>
      a.businessId - b.businessId ||
      (objectIdOf(a) < objectIdOf(b) ? -1 : Number(objectIdOf(a) > objectIdOf(b))),
  )
  const ids = objectType === 'INVITATION' ? sql`text[]` : sql`bigint[]`
  // One by one by its key: left to choose, the planner may read all of a business for each of them.
  return sql`
    unnest(${sorted.map((key) => key.businessId)}::bigint[], ${sorted.map(objectIdOf)}::${ids})
      as k (business_id, id)
    cross join lateral (
      select * from ${raw(table)} o where o.business_id = k.business_id and o.${raw(id)} = k.id
      limit 1 ${held})`
}

/** What each kind of object is listed by, with an index. */
export type Anchor = 'startTime' | 'dueTime' | 'createdDate'

/** Where a page ended: its last anchor and id. */
export type SubjectCursor = { anchor: Temporal.Instant; id: number | string }

/** A page of the objects whose anchor is not before `from`, and before `to`, in its order. */
export function listSubjectsFrom(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  page: {
    anchor: Anchor
    from: Temporal.Instant
    to?: Temporal.Instant | undefined
    after: SubjectCursor | undefined
    limit: number
  },
): Promise<Subject[]> {
  const { view, table, id } = VIEWS[objectType]
  const anchor = raw(ANCHORS[page.anchor])
  const beyond = page.after
    ? sql`(${anchor}, t.${raw(id)}) > (${page.after.anchor}, ${page.after.id})`
    : sql`${anchor} >= ${page.from}`
  return db.query<Subject>(sql`
    ${view(raw(table))} where t.business_id = ${businessId} and t.active and ${beyond}
      ${page.to ? sql`and ${anchor} < ${page.to}` : empty}
    order by ${anchor}, t.${raw(id)} limit ${page.limit}`)
}

/** The active objects of a type that came last. */
export function listRecentObjects(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  limit: number,
) {
  const { table, id } = VIEWS[objectType]
  const key =
    objectType === 'INVITATION'
      ? sql`null::bigint as "objectId", t.invitation_uuid as "objectUUId"`
      : sql`t.${raw(id)} as "objectId", null as "objectUUId"`
  const order = objectType === 'INVITATION' ? sql`t.created_date desc` : sql`t.${raw(id)} desc`
  return db.query<ObjectKey>(sql`
    select t.business_id as "businessId", ${key} from ${raw(table)} t
    where t.business_id = ${businessId} and t.active order by ${order} limit ${limit}`)
}

/** The ids of the same, and where the page ended: for those who read them again under a lock. */
export async function listSubjectIds(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  page: { anchor: Anchor; from: Temporal.Instant; after: SubjectCursor | undefined; limit: number },
): Promise<{ ids: (number | string)[]; last: SubjectCursor | undefined }> {
  const { table, id } = VIEWS[objectType]
  const anchor = raw(ANCHORS[page.anchor])
  const beyond = page.after
    ? sql`(${anchor}, t.${raw(id)}) > (${page.after.anchor}, ${page.after.id})`
    : sql`${anchor} >= ${page.from}`
  const [found] = await db.query<{
    ids: SubjectCursor['id'][] | null
    anchor: Temporal.Instant
  }>(sql`
    select array_agg(id order by anchor, id) as ids, max(anchor) as anchor
    from (select ${anchor} as anchor, t.${raw(id)} as id from ${raw(table)} t
          where t.business_id = ${businessId} and t.active and ${beyond}
          order by ${anchor}, t.${raw(id)} limit ${page.limit}) page`)
  const ids = found!.ids ?? []
  return { ids, last: ids.length > 0 ? { anchor: found!.anchor, id: ids.at(-1)! } : undefined }
}

/** What people call the things that objects refer to; each name by `${what} ${id}`. */
export async function listNames(db: Db, businessId: number, subjects: Subject[]) {
  const idsOf = (
    key: 'locationId' | 'professionalId' | 'reasonId' | 'disclaimerFormId' | 'clientId',
  ) => [...new Set(subjects.map((subject) => subject[key]).filter((id) => id != null))]
  const rows = await db.query<{ what: string; id: number; name: string }>(sql`
    select 'location' as what, location_id as id, name from location
    where business_id = ${businessId} and location_id = any (${idsOf('locationId')}::bigint[])
    union all
    select 'staff', professional_id, first_name || ' ' || last_name from professional
    where business_id = ${businessId}
      and professional_id = any (${idsOf('professionalId')}::bigint[])
    union all
    select 'service', reason_id, name from reason
    where business_id = ${businessId} and reason_id = any (${idsOf('reasonId')}::bigint[])
    union all
    select 'disclaimer form', disclaimer_form_id, name from disclaimer_form
    where business_id = ${businessId}
      and disclaimer_form_id = any (${idsOf('disclaimerFormId')}::bigint[])
    union all
    select 'client', client_id, first_name || ' ' || last_name from client
    where business_id = ${businessId} and client_id = any (${idsOf('clientId')}::bigint[])`)
  return new Map(rows.map(({ what, id, name }) => [`${what} ${id}`, name]))
}

/**
 * One object after each of its recorded changes up to a moment, oldest first. The tags of its client
 * and what a status means are read as they are now. A column that an old entry lacks is as it is now.
 */
export function listSubjectStates(
  db: Db,
  businessId: number,
  { objectType, id, ...page }: StateQuery,
) {
  const { view, table, id: column } = VIEWS[objectType]
  const about = { object: kindOfObjectType(objectType).kind, id, ...page }
  const recorded = sql`(
    select r.* from ${raw(table)} o cross join lateral jsonb_populate_record(o, a.after) r
    where o.business_id = a.business_id and o.${raw(column)} = ${id})`
  return db.query<Subject & Recorded>(sql`
    select ${recordedColumns}, s.* from ${recordedEntries(businessId, about)} a
    cross join lateral (${view(recorded)}) s order by a.audit_id`)
}

type StateQuery = {
  objectType: ObjectType
  id: number | string
  until: Temporal.Instant
  limit: number
}

/** The tags that a client had at a moment; none if nothing is recorded so early. */
export async function findClientTagsAt(
  db: Db,
  businessId: number,
  clientId: number,
  until: Temporal.Instant,
) {
  const about = { object: 'client', id: clientId, until, limit: 1 }
  const [row] = await db.query<{ tags: Subject['clientTags'] }>(sql`
    select coalesce(after -> 'tags', '{}') as tags from ${recordedEntries(businessId, about)} a`)
  return row?.tags
}

/** Rows of an object's own table as subjects, such as a statement has just written. */
export const subjectsIn = (from: Sql, objectType: ObjectType) => VIEWS[objectType].view(from)

const ANCHORS: Record<Anchor, string> = {
  startTime: 't.start_time',
  dueTime: 't.due_time',
  createdDate: 't.created_date',
}

/** `from` is its table, or rows of it that a statement has just written. */
type View = { view: (from: Sql) => Sql; table: string; id: string }

const shared = sql`
  t.business_id as "businessId", t.active, t.status, coalesce(s.live, false) as live,
  coalesce(s.live_after, false) as "liveAfter", t.tags, t.created_date as "createdDate"`

const noClient = sql`null::bigint as "clientId", '{}'::jsonb as "clientTags"`
const ofClient = sql`t.client_id as "clientId", c.tags as "clientTags"`
const client = sql`join client c on c.business_id = t.business_id and c.client_id = t.client_id`

/** Objects whose place has a clock of its own go by that; the others by the business's. */
const ofPlace = sql`coalesce(l.time_zone, b.time_zone) as "timeZone"`
const place = sql`
  join business b on b.business_id = t.business_id
  left join location l on l.business_id = t.business_id and l.location_id = t.location_id`

const status = (objectType: ObjectType) => sql`
  left join status s on s.business_id = t.business_id and s.object_type = ${raw(`'${objectType}'`)}
    and s.status = t.status`

const VIEWS: Record<ObjectType, View> = {
  CALENDAR: {
    id: 'calendar_id',
    table: 'calendar',
    view: (from) => sql`
      select 'CALENDAR' as "objectType", t.calendar_id as "objectId", null as "objectUUId", ${shared},
             ${ofClient}, t.location_id as "locationId", t.professional_id as "professionalId",
             t.reason_id as "reasonId", ${ofPlace}, t.start_time as "startTime", t.end_time as "endTime",
             null as "dueTime", null as "expiresTime"
      from ${from} t ${client} ${place} ${status('CALENDAR')}`,
  },
  CLASS_SCHEDULE: {
    id: 'class_schedule_id',
    table: 'class_schedule',
    view: (from) => sql`
      select 'CLASS_SCHEDULE' as "objectType", t.class_schedule_id as "objectId", null as "objectUUId",
             ${shared}, ${noClient}, t.location_id as "locationId",
             t.professional_id as "professionalId", t.reason_id as "reasonId", ${ofPlace},
             t.start_time as "startTime", t.end_time as "endTime", null as "dueTime",
             null as "expiresTime"
      from ${from} t ${place} ${status('CLASS_SCHEDULE')}`,
  },
  INVITATION: {
    id: 'invitation_uuid',
    table: 'invitation',
    view: (from) => sql`
      select 'INVITATION' as "objectType", null as "objectId", t.invitation_uuid as "objectUUId",
             ${shared}, ${ofClient}, t.invitation_campaign_id as "invitationCampaignId",
             b.time_zone as "timeZone", null as "startTime", null as "endTime", null as "dueTime",
             coalesce(t.expires_time, g.expires_time) as "expiresTime",
             g.expires_time as "campaignExpiresTime"
      from ${from} t ${client} join business b on b.business_id = t.business_id
      join invitation_campaign g on g.business_id = t.business_id
        and g.invitation_campaign_id = t.invitation_campaign_id ${status('INVITATION')}`,
  },
  RECALL: {
    id: 'recall_id',
    table: 'recall',
    view: (from) => sql`
      select 'RECALL' as "objectType", t.recall_id as "objectId", null as "objectUUId", ${shared},
             ${ofClient}, t.location_id as "locationId", t.professional_id as "professionalId",
             t.reason_id as "reasonId", ${ofPlace}, null as "startTime", null as "endTime",
             t.due_time as "dueTime", null as "expiresTime"
      from ${from} t ${client} ${place} ${status('RECALL')}`,
  },
  DISCLAIMER: {
    id: 'disclaimer_id',
    table: 'disclaimer',
    view: (from) => sql`
      select 'DISCLAIMER' as "objectType", t.disclaimer_id as "objectId", null as "objectUUId",
             ${shared}, ${ofClient}, t.disclaimer_form_id as "disclaimerFormId",
             t.calendar_id as "calendarId", b.time_zone as "timeZone", null as "startTime",
             null as "endTime", null as "dueTime", null as "expiresTime"
      from ${from} t ${client} join business b on b.business_id = t.business_id
      ${status('DISCLAIMER')}`,
  },
}
