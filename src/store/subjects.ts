import type { ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType, toColumn } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { empty, raw, sql, type Sql } from '../database/sql.ts'
import { recordedColumns, recordedEntries, type Recorded } from './audit.ts'
import { tableOf } from './object-tables.ts'
import {
  readSettings,
  readSettingsVersions,
  type Settings,
  type SettingsCache,
} from './settings.ts'
import {
  buildSubject,
  objectIdOf,
  objectKeyOf,
  subjectProperties,
  type ObjectKey,
  type Subject,
  type SubjectContext,
  type SubjectRow,
} from './subject.ts'

export async function listSubjects(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
): Promise<Subject[]> {
  const { table, id } = tableOf(objectType)
  const rows = await db.query<Row>(sql`
    ${selectRows(objectType, table)}
    where t.business_id = ${businessId} and t.${id} = any (${ids})`)
  return toSubjects(db, objectType, rows)
}

/**
 * The same, locked until the transaction ends. A second statement reads them, because one that waited
 * for a lock sees joined rows as of its start.
 */
export function lockSubjectsForUpdate(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
): Promise<Subject[]> {
  const { table, id } = tableOf(objectType)
  tx.send(sql`
    select from ${table} t where t.business_id = ${businessId} and t.${id} = any (${ids})
    order by t.${id} for no key update`)
  return listSubjects(tx, businessId, objectType, ids)
}

/** Objects of one type and of any business. */
export async function readSubjects(
  tx: Db,
  cache: SettingsCache,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<Subject[]> {
  const [versions, rows] = await Promise.all([
    readSettingsVersions(tx, [...new Set(keys.map(({ businessId }) => businessId))]),
    tx.query<Row>(selectRows(objectType, objectsBy(objectType, keys, empty))),
  ])
  const settings = await cache.read(tx, versions, rows)
  return rows.map((row) => toSubject(objectType, row, settings))
}

/**
 * Locks objects for share until the transaction ends: a save of one of them waits. Types are locked
 * in alphabetical order; see docs/engine.md, lock order.
 */
export function lockObjectsForShare(tx: Db, objects: TypedKey[]) {
  for (const [objectType, distinct] of distinctByType(objects))
    tx.send(sql`select count(*) from ${objectsBy(objectType, distinct, sql`for share`)} t`)
}

/** The same for the objects that no other transaction has locked; returns their `objectKeyOf`. */
export async function lockFreeObjects(tx: Db, objects: TypedKey[]): Promise<Set<string>> {
  const locking = distinctByType(objects).map(async ([objectType, distinct]) => {
    const { id } = tableOf(objectType)
    const free = await tx.query<{ businessId: number; id: number | string }>(sql`
      select t.business_id as "businessId", t.${id} as id
      from ${objectsBy(objectType, distinct, sql`for share skip locked`)} t`)
    const ids = new Set(free.map((row) => `${row.businessId} ${row.id}`))
    return distinct.filter((object) => ids.has(`${object.businessId} ${objectIdOf(object)}`))
  })
  return new Set((await Promise.all(locking)).flat().map(objectKeyOf))
}

export type TypedKey = ObjectKey & { objectType: ObjectType }

/** Each object once, by type, in lock order. */
export function distinctByType(objects: TypedKey[]): [ObjectType, TypedKey[]][] {
  const distinct = new Map(objects.map((object) => [objectKeyOf(object), object]))
  return [...Map.groupBy(distinct.values(), (object) => object.objectType)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
}

/** Objects by their keys, in the order in which every transaction locks them. */
function objectsBy(objectType: ObjectType, keys: ObjectKey[], lock: Sql) {
  const { table, id, idType } = tableOf(objectType)
  const sorted = keys.toSorted(
    (a, b) =>
      a.businessId - b.businessId ||
      (objectIdOf(a) < objectIdOf(b) ? -1 : Number(objectIdOf(a) > objectIdOf(b))),
  )
  return sql`
    unnest(${sorted.map((key) => key.businessId)}::bigint[], ${sorted.map(objectIdOf)}::${idType}[])
      as k (business_id, id)
    cross join lateral (
      select * from ${table} o where o.business_id = k.business_id and o.${id} = k.id
      limit 1 ${lock})`
}

/** The column by which objects of a type are listed; each has an index. */
export type Anchor = 'startTime' | 'dueTime' | 'createdDate'

/** The last anchor and id of a page. */
export type SubjectCursor = { anchor: Temporal.Instant; id: number | string }

type AnchorPage = {
  anchor: Anchor
  from: Temporal.Instant
  to?: Temporal.Instant | undefined
  after: SubjectCursor | undefined
  limit: number
}

/** A page of the objects whose anchor is at or after `from` and before `to`, in its order. */
export async function listSubjectsFrom(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  page: AnchorPage,
): Promise<Subject[]> {
  const { table } = tableOf(objectType)
  const rows = await db.query<Row>(sql`
    ${selectRows(objectType, table)} ${ofPage(businessId, objectType, page)}`)
  return toSubjects(db, objectType, rows)
}

/** The ids of the same objects, for callers that read them again under a lock. */
export function listSubjectIds(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  page: AnchorPage,
): Promise<SubjectCursor[]> {
  const { table, id } = tableOf(objectType)
  return db.query<SubjectCursor>(sql`
    select t.${raw(toColumn(page.anchor))} as anchor, t.${id} as id from ${table} t
    ${ofPage(businessId, objectType, page)}`)
}

function ofPage(businessId: number, objectType: ObjectType, page: AnchorPage) {
  const id = sql`t.${tableOf(objectType).id}`
  const anchor = sql`t.${raw(toColumn(page.anchor))}`
  const beyond = page.after
    ? sql`(${anchor}, ${id}) > (${page.after.anchor}, ${page.after.id})`
    : sql`${anchor} >= ${page.from}`
  return sql`
    where t.business_id = ${businessId} and t.active and ${beyond}
      ${page.to ? sql`and ${anchor} < ${page.to}` : empty}
    order by ${anchor}, ${id} limit ${page.limit}`
}

export function listRecentObjects(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  limit: number,
) {
  const { table, id } = tableOf(objectType)
  const isInvitation = objectType === 'INVITATION'
  const key = isInvitation
    ? sql`null::bigint as "objectId", t.${id} as "objectUUId"`
    : sql`t.${id} as "objectId", null as "objectUUId"`
  const order = isInvitation ? sql`t.created_date desc` : sql`t.${id} desc`
  return db.query<ObjectKey>(sql`
    select t.business_id as "businessId", ${key} from ${table} t
    where t.business_id = ${businessId} and t.active order by ${order} limit ${limit}`)
}

/** The names of the objects that these refer to, by `${what} ${id}`. */
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
 * One object after each of its audited changes up to a given time, oldest first. Its client's tags, the
 * meaning of its status, and columns that an old entry lacks have their current values.
 */
export async function listSubjectStates(
  db: Db,
  businessId: number,
  { objectType, id, ...page }: StateQuery,
): Promise<(Subject & Recorded)[]> {
  const { table, id: idColumn } = tableOf(objectType)
  const about = { object: kindOfObjectType(objectType).kind, id, ...page }
  const recorded = sql`
    ${recordedEntries(businessId, about)} a
    join ${table} o on o.business_id = a.business_id and o.${idColumn} = ${id}
    cross join lateral jsonb_populate_record(o, a.after)`
  const rows = await db.query<Row & Recorded>(sql`
    ${selectRows(objectType, recorded, sql`, ${recordedColumns}`)} order by a.audit_id`)
  const subjects = await toSubjects(db, objectType, rows)
  return rows.map(({ auditId, time, user, change }, i) => ({
    ...subjects[i]!,
    auditId,
    time,
    user,
    change,
  }))
}

type StateQuery = {
  objectType: ObjectType
  id: number | string
  until: Temporal.Instant
  limit: number
}

/** The tags of a client at a given time; undefined if the audit begins later. */
export async function findClientTagsAt(
  db: Db,
  businessId: number,
  clientId: number,
  until: Temporal.Instant,
) {
  const about = { object: 'client', id: clientId, until, limit: 1 }
  const row = await db.findRow<{ tags: Subject['clientTags'] }>(sql`
    select coalesce(after -> 'tags', '{}') as tags from ${recordedEntries(businessId, about)} a`)
  return row?.tags
}

type Row = SubjectRow & Omit<SubjectContext, 'settings'>

async function toSubjects(db: Db, objectType: ObjectType, rows: Row[]): Promise<Subject[]> {
  if (rows.length === 0) return []
  const settings = await readSettings(db, rows)
  return rows.map((row) => toSubject(objectType, row, settings))
}

const toSubject = (objectType: ObjectType, row: Row, settings: Map<number, Settings>) =>
  buildSubject(objectType, row, {
    settings: settings.get(row.businessId)!,
    clientTags: row.clientTags,
    campaignExpiresTime: row.campaignExpiresTime,
  })

/** Selects rows for `buildSubject`; `from` becomes `t`. */
function selectRows(objectType: ObjectType, from: Sql, more: Sql = empty) {
  const { hasClient } = tableOf(objectType)
  const isInvitation = objectType === 'INVITATION'
  return sql`
    select ${subjectColumns(objectType)} ${more},
           ${hasClient ? sql`c.tags` : sql`null::jsonb`} as "clientTags",
           ${isInvitation ? sql`g.expires_time` : sql`null::timestamptz`} as "campaignExpiresTime"
    from ${from} t
    ${hasClient ? sql`join client c on c.business_id = t.business_id and c.client_id = t.client_id` : empty}
    ${
      isInvitation
        ? sql`join invitation_campaign g on g.business_id = t.business_id
                and g.invitation_campaign_id = t.invitation_campaign_id`
        : empty
    }`
}

/** The columns of `SubjectRow`, read from a table with the alias `t`. */
export const subjectColumns = (objectType: ObjectType) =>
  raw(
    subjectProperties(objectType)
      .map((property) => `t.${toColumn(property)} as "${property}"`)
      .join(', '),
  )
