import { randomBytes } from 'node:crypto'
import type { ObjectType } from '../contract/event-type.ts'
import type { Objects } from '../contract/object-types.ts'
import {
  kindOfObjectType,
  orderedBy,
  toColumn,
  type Filter,
  type ObjectKind,
} from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { isChanged, type Changes } from './change-positions.ts'
import { clientsWithWords, searchWordsOf } from './client-words.ts'
import { insertRows, updateRows, type Column, type Stored } from './rows.ts'
import type { Tags } from './subject.ts'
import {
  atVisiblePlace,
  isLimited,
  isVisible,
  wasAtVisiblePlace,
  type Visibility,
} from './visibility.ts'

/** A stored scheduling object: the properties of its kind, and those that all kinds have. */
export type StoredObject = Record<string, unknown> & {
  businessId: number
  externalId: string | null
  active: boolean
  version: number
  createdDate: Temporal.Instant
  createdUser: string
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

export type Appointment = Stored<Objects['calendar']>
export type ClassSchedule = Stored<Objects['classSchedule']>
export type Disclaimer = Stored<Objects['disclaimer']>
export type Professional = Stored<Objects['professional']>

/** The object as one of this kind; undefined if it is of another. */
export const ofKind = <K extends keyof Objects>(
  name: K,
  { kind }: ObjectKind,
  object: StoredObject,
) => (kind === name ? (object as StoredObject & Stored<Objects[K]>) : undefined)

/** Invitations have a UUID, all others a number. */
export const idIn = (kind: ObjectKind, object: StoredObject) => object[kind.id] as number | string

export const findObject = (
  db: Db,
  businessId: number,
  kind: ObjectKind,
  id: number | string,
  visibility: Visibility = null,
): Promise<StoredObject | undefined> =>
  db.findRow<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and ${idColumn(kind)} = ${id} ${isVisible(kind, visibility)}`)

/** The stored form of each of these objects, which this transaction has written. */
export async function readStored(
  tx: Db,
  kind: ObjectKind,
  objects: StoredObject[],
): Promise<Map<StoredObject, StoredObject>> {
  const unknown = objects.filter((object) => !isKnownAsStored(kind, object))
  const rows =
    unknown.length === 0
      ? []
      : await tx.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${objects[0]!.businessId}
      and ${idColumn(kind)} = any (${unknown.map((object) => idIn(kind, object))}::${raw(idType(kind))}[])`)
  const byId = new Map(rows.map((row) => [row[kind.id], row]))
  return new Map(
    objects.map((object) => {
      const row = byId.get(object[kind.id])
      // The transaction may have changed the object again.
      return [object, row?.version === object.version ? row : asStored(kind, object)]
    }),
  )
}

/** False if the object must be read: the server reorders JSON, and some kinds have additional columns. */
const isKnownAsStored = (kind: ObjectKind, object: StoredObject) =>
  !ADDITIONAL_COLUMNS[kind.kind] &&
  writtenFields(kind).every(({ property, sqlType }) =>
    isStoredAsWritten(object[property] ?? null, sqlType),
  )

const asStored = (kind: ObjectKind, object: StoredObject) =>
  Object.fromEntries(
    writtenFields(kind).map(({ property }) => [property, object[property] ?? null]),
  ) as StoredObject

const isStoredAsWritten = (value: unknown, sqlType: string) =>
  sqlType === 'jsonb' ? Object.keys(value ?? {}).length === 0 : !sqlType.endsWith('[]')

type Listing = {
  filters: Record<string, unknown>
  /** The position where the previous page ended. */
  after: (string | number)[] | undefined
  limit: number
  visibility: Visibility
}

export function listObjects(db: Db, businessId: number, kind: ObjectKind, listing: Listing) {
  const { filters, after, limit, visibility } = listing
  const first = orderedBy(kind, filters)
  const order = first ? [raw(toColumn(first)), idColumn(kind)] : [idColumn(kind)]
  const beyond = after
    ? sql`and (${join(order, ', ')}) > (${join(
        after.map((value, i) => (i === 0 && first ? sql`${value}::timestamptz` : sql`${value}`)),
        ', ',
      )})`
    : empty
  return db.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} ${conditions(kind, { ...filters, active: filters.active ?? 'true' })}
      ${isVisible(kind, visibility)} ${beyond}
    order by ${join(order, ', ')} limit ${limit}`)
}

type ChangedObject = StoredObject & { changedIn: string }

export async function listChangedObjects(
  db: Db,
  businessId: number,
  kind: ObjectKind,
  { filters, changes, limit, visibility }: Omit<Listing, 'after'> & { changes: Changes },
) {
  const id = sql`now.${idColumn(kind)}`
  const objects = await db.query<ChangedObject>(sql`
    select ${columnsOf(kind)}, now.changed_in::text as "changedIn"
    from ${raw(kind.table)} now ${asSeen(kind, visibility)}
    where now.business_id = ${businessId} ${isChanged(changes, sql`now.changed_in`, id)}
      ${conditions(kind, filters)}
    order by now.changed_in, ${id} limit ${limit}`)
  return isLimited(kind, visibility) ? objects.map((object) => withDefaults(kind, object)) : objects
}

/**
 * Joins `t`, the object as the caller sees it. One that the caller does not see any more is shown deleted,
 * as the caller saw it last, so that clients remove it; one that the caller never saw is left out.
 */
function asSeen(kind: ObjectKind, visibility: Visibility): Sql {
  if (!isLimited(kind, visibility)) return sql`cross join lateral (select now.*) t`
  const isSeen = sql`(true ${atVisiblePlace(visibility, 'now.')})`
  return sql`cross join lateral (
    select now.* where ${isSeen}
    union all
    select former.* from (
      select a.after from audit a
      where a.business_id = now.business_id and a.object = ${kind.kind}
        and a.id = now.${idColumn(kind)}::text ${wasAtVisiblePlace(visibility)}
      order by a.audit_id desc limit 1) entry
    cross join lateral jsonb_populate_record(
      null::${raw(kind.table)}, entry.after || '{"active": false}') former
    where ${isSeen} is not true) t`
}

/** An entry of the audit lacks properties that were introduced after it. */
const withDefaults = ({ initially }: ObjectKind, object: ChangedObject) => ({
  ...object,
  ...Object.fromEntries(
    Object.entries(initially).map(([property, value]) => [property, object[property] ?? value]),
  ),
})

const conditions = (kind: ObjectKind, filters: Record<string, unknown>) =>
  join(
    Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => condition(kind, kind.filters[name]!, value)),
    ' ',
  )

/** How many active appointments start on each day in the business's time zone, as `2026-11-19`. */
export function countAppointmentDays(
  db: Db,
  businessId: number,
  where: {
    from: Temporal.Instant
    to: Temporal.Instant
    locationId: number | undefined
    professionalId?: number | undefined
  },
  visibility: Visibility,
) {
  const { from, to, locationId, professionalId } = where
  return db.query<{ day: string; count: number }>(sql`
    select to_char(t.start_time at time zone b.time_zone, 'YYYY-MM-DD') as day, count(*) as count
    from calendar t join business b on b.business_id = t.business_id
    where t.business_id = ${businessId} and t.active
      and t.start_time >= ${from} and t.start_time < ${to}
      ${locationId === undefined ? empty : sql`and t.location_id = ${locationId}`}
      ${professionalId === undefined ? empty : sql`and t.professional_id = ${professionalId}`}
      ${isVisible(kindOfObjectType('CALENDAR'), visibility)}
    group by 1 order by 1`)
}

/** Objects of one kind by their ids, by their externalIds, or by both. */
type Named = { ids: (number | string)[]; externalIds: string[] }

/**
 * Locks the objects that a save changes. `no key`: foreign keys to them do not wait; see
 * docs/engine.md, lock order.
 */
export async function lockObjectsForUpdate(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  { visibility, ...named }: Named & { visibility: Visibility },
): Promise<StoredObject[]> {
  if (named.ids.length + named.externalIds.length === 0) return []
  return tx.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and ${isNamed(kind, named)} ${isVisible(kind, visibility)}
    order by ${idColumn(kind)}
    for no key update`)
}

function isNamed(kind: ObjectKind, { ids, externalIds }: Named): Sql {
  const byId = sql`${idColumn(kind)} = any (${ids}::${raw(idType(kind))}[])`
  if (externalIds.length === 0) return byId
  const byExternalId = sql`external_id = any (${externalIds}::text[])`
  return ids.length === 0 ? byExternalId : sql`(${byId} or ${byExternalId})`
}

/** Inserts objects. Returns those whose `externalId` another transaction has just taken. */
export async function insertObjects(tx: Db, kind: ObjectKind, objects: StoredObject[]) {
  if (objects.length === 0) return []
  const insertion = insertRows(kind.table, writtenFields(kind), objects)
  if (objects.every(({ externalId }) => externalId === null)) {
    tx.send(insertion)
    return []
  }
  const inserted = await tx.query<{ id: number | string }>(sql`
    ${insertion} on conflict (business_id, external_id) where external_id is not null do nothing
    returning ${idColumn(kind)} as id`)
  const ids = new Set(inserted.map(({ id }) => id))
  return objects.filter((object) => !ids.has(idIn(kind, object)))
}

export function updateObjects(tx: Db, kind: ObjectKind, objects: StoredObject[]) {
  if (objects.length === 0) return
  const columns = writtenFields(kind).filter(({ property }) => !property.startsWith('created'))
  tx.send(updateRows(kind.table, ['business_id', toColumn(kind.id)], columns, objects))
}

/** New ids for objects of a kind; invitations have random ones. */
export async function drawObjectIds(
  tx: Db,
  kind: ObjectKind,
  count: number,
): Promise<(number | string)[]> {
  if (count === 0) return []
  if (kind.id === 'invitationUUID') {
    return Array.from({ length: count }, () => randomBytes(16).toString('hex'))
  }
  const sequence = `${kind.table}_${toColumn(kind.id)}_seq`
  const rows = await tx.query<{ id: number }>(sql`
    select nextval(${sequence}) as id from generate_series(1, ${count}::int)`)
  return rows.map(({ id }) => id)
}

/** Objects of one kind that are referred to, by id or by `externalId`. */
export type WantedReferences = Map<
  ObjectKind,
  { ids: Set<number | string>; externalIds: Set<string> }
>

export type ReferredObject = {
  kind: string
  /** Invitations have a UUID. */
  id: number | string
  externalId: string | null
  /** For clients. */
  tags: Tags | null
  /** For campaigns. */
  expiresTime: Temporal.Instant | null
}

type Referred = Omit<ReferredObject, 'id'> & { id: number | null; uuid: string | null }

export async function listReferredObjects(
  db: Db,
  businessId: number,
  wanted: WantedReferences,
  visibility: Visibility = null,
): Promise<ReferredObject[]> {
  const selects = [...wanted].map(
    ([kind, { ids, externalIds }]) => sql`
      select ${raw(`'${kind.kind}'`)} as kind, ${idType(kind) === 'text' ? raw('null::bigint') : idColumn(kind)} as id,
             ${idType(kind) === 'text' ? idColumn(kind) : raw('null::text')} as uuid,
             external_id as "externalId",
             ${raw(kind.kind === 'client' ? 'tags' : 'null::jsonb')} as tags,
             ${raw(kind.kind === 'invitationCampaign' ? 'expires_time' : 'null::timestamptz')}
               as "expiresTime"
      from ${raw(kind.table)} t
      where business_id = ${businessId}
        and ${isNamed(kind, { ids: [...ids], externalIds: [...externalIds] })}
        ${isVisible(kind, visibility)}`,
  )
  if (selects.length === 0) return []
  const referred = await db.query<Referred>(join(selects, ' union all '))
  return referred.map(({ id, uuid, ...object }) => ({ ...object, id: (id ?? uuid)! }))
}

export function listObjectsOfClients(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  clientIds: number[],
) {
  const kind = kindOfObjectType(objectType)
  return db.query<{ id: number | string; version: number }>(sql`
    select ${idColumn(kind)} as id, version from ${raw(kind.table)}
    where business_id = ${businessId} and active and client_id = any (${clientIds}::bigint[])
    order by ${idColumn(kind)}`)
}

export const idType = (kind: ObjectKind) => (kind.id === 'invitationUUID' ? 'text' : 'bigint')

const ENVELOPE: Written[] = [
  { property: 'businessId', column: 'business_id', sqlType: 'bigint' },
  { property: 'externalId', column: 'external_id', sqlType: 'text' },
  { property: 'active', column: 'active', sqlType: 'boolean' },
  { property: 'version', column: 'version', sqlType: 'bigint' },
  { property: 'createdDate', column: 'created_date', sqlType: 'timestamptz' },
  { property: 'createdUser', column: 'created_user', sqlType: 'text' },
  { property: 'modifiedDate', column: 'modified_date', sqlType: 'timestamptz' },
  { property: 'modifiedUser', column: 'modified_user', sqlType: 'text' },
]

type Written = Column<StoredObject>

const written = new Map<ObjectKind, Written[]>()

function writtenFields(kind: ObjectKind): Written[] {
  let fields = written.get(kind)
  if (!fields) {
    const own = Object.entries(kind.fields).map(([property, { column, sqlType }]) => ({
      property,
      column,
      sqlType,
    }))
    const id = { property: kind.id, column: toColumn(kind.id), sqlType: idType(kind) }
    fields = [id, ...own, ...ENVELOPE]
    written.set(kind, fields)
  }
  return fields
}

export const idColumn = (kind: ObjectKind) => {
  let column = idColumns.get(kind)
  if (!column) idColumns.set(kind, (column = raw(toColumn(kind.id))))
  return column
}
const idColumns = new Map<ObjectKind, Sql>()

const columns = new Map<ObjectKind, Sql>()

function columnsOf(kind: ObjectKind): Sql {
  let list = columns.get(kind)
  if (!list) {
    const own = writtenFields(kind).map(({ property, column }) => `t.${column} as "${property}"`)
    list = raw([...own, ...(ADDITIONAL_COLUMNS[kind.kind] ?? [])].join(', '))
    columns.set(kind, list)
  }
  return list
}

/** Columns that a kind returns in addition to its own. */
const ADDITIONAL_COLUMNS: Record<string, string[]> = {
  emailTemplate: [
    `(select json_build_object('emailCategoryId', c.email_category_id, 'name', c.name,
                               'code', c.code, 'transactional', c.transactional)
      from email_category c
      where (c.business_id, c.email_category_id) = (t.business_id, t.email_category_id)) as "emailCategory"`,
  ],
}

function condition(kind: ObjectKind, { field, match }: Filter, value: unknown): Sql {
  const column = raw(`t.${toColumn(field)}`)
  switch (match) {
    case 'equal':
      return sql`and ${column} = ${value}`
    case 'among': {
      const text = String(value)
      // For one status, the index returns rows in the order of the list.
      if (!text.includes(',')) return sql`and ${column} = ${text}`
      // A name may itself contain a comma.
      const all = [text, ...text.split(',').map((one) => one.trim())]
      return sql`and ${column} = any (${all}::text[])`
    }
    case 'from':
      return sql`and ${column} >= ${value}`
    case 'before':
      return sql`and ${column} < ${value}`
    case 'contains':
      // Under row-level security, `@>` uses no index. For staff that is fine, as a business has few.
      if (kind.kind === 'classSchedule') {
        return sql`and t.class_schedule_id = any (array(select classes_of_client(${value}::bigint)))`
      }
      return sql`and ${column} @> array[${value}::bigint]`
    case 'active':
      // Without parameters: the indexes hold active objects only, or deleted ones only.
      if (value === 'all') return empty
      return value === 'true' ? sql`and ${column}` : sql`and not ${column}`
    case 'words': {
      const words = searchWordsOf(String(value))
      if (words.length === 0) return empty
      return sql`and t.client_id in (${clientsWithWords(sql`app_business()`, words)})`
    }
  }
}
