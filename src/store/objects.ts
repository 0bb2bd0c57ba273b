import type { Subject } from './subject.ts'
import type { ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType, toColumn, type Filter, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, withValues, type Sql } from '../database/sql.ts'
import { clientsWithWord, wordsOf } from './client-words.ts'
import { subjectsIn } from './subjects.ts'
import { isVisible, type Visibility } from './visibility.ts'

/** A scheduling object as it is kept: its own properties, and those that all of them have. */
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

export async function findObject(
  db: Db,
  businessId: number,
  kind: ObjectKind,
  id: number | string,
  visibility: Visibility = null,
): Promise<StoredObject | undefined> {
  const [object] = await db.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and ${idColumn(kind)} = ${id} ${isVisible(kind, visibility)}`)
  return object
}

export function listObjectsById(
  db: Db,
  businessId: number,
  kind: ObjectKind,
  ids: (number | string)[],
) {
  return db.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and ${idColumn(kind)} = any (${ids})`)
}

/**
 * What was written just now, as it would be read back. Nothing where only the server can tell: it
 * puts JSON in order, and some kinds show more than their own columns.
 */
export function asStored(kind: ObjectKind, object: StoredObject): StoredObject | undefined {
  const stored: Record<string, unknown> = {}
  for (const { property, sqlType } of writtenFields(kind)) {
    const value = object[property] ?? null
    if (!isKeptAsWritten(value, sqlType)) return undefined
    stored[property] = value
  }
  return BESIDE[kind.kind] ? undefined : (stored as StoredObject)
}

const isKeptAsWritten = (value: unknown, sqlType: string) =>
  sqlType === 'jsonb' ? Object.keys(value ?? {}).length === 0 : !sqlType.endsWith('[]')

export type Listing = {
  filters: Record<string, unknown>
  /** Where the page before ended. */
  after: (string | number)[] | undefined
  limit: number
  visibility: Visibility
}

export function listObjects(db: Db, businessId: number, kind: ObjectKind, listing: Listing) {
  const { filters, after, limit, visibility } = listing
  const conditions = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => condition(kind, kind.filters[name]!, value))
  const order = kind.listedBy ? [raw(toColumn(kind.listedBy)), idColumn(kind)] : [idColumn(kind)]
  const beyond = after
    ? sql`and (${join(order, ', ')}) > (${join(
        after.map((value, i) =>
          i === 0 && kind.listedBy ? sql`${value}::timestamptz` : sql`${value}`,
        ),
        ', ',
      )})`
    : empty
  return db.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and active ${join(conditions, ' ')} ${isVisible(kind, visibility)} ${beyond}
    order by ${join(order, ', ')} limit ${limit}`)
}

/** How many active appointments start on each day of the business's clock, as `2026-11-19`. */
export function countAppointmentDays(
  db: Db,
  businessId: number,
  during: { from: Temporal.Instant; to: Temporal.Instant; locationId: number | undefined },
  visibility: Visibility,
) {
  const { from, to, locationId } = during
  return db.query<{ day: string; count: number }>(sql`
    select to_char(t.start_time at time zone b.time_zone, 'YYYY-MM-DD') as day, count(*) as count
    from calendar t join business b on b.business_id = t.business_id
    where t.business_id = ${businessId} and t.active
      and t.start_time >= ${from} and t.start_time < ${to}
      ${locationId === undefined ? empty : sql`and t.location_id = ${locationId}`}
      ${isVisible(kindOfObjectType('CALENDAR'), visibility)}
    group by 1 order by 1`)
}

/**
 * Locks the rows that a batch of saves changes. `no key`: a foreign key to one of them does not wait;
 * see docs/engine.md, lock order.
 */
export function lockObjects(
  tx: Db,
  businessId: number,
  kind: ObjectKind,
  named: { ids: (number | string)[]; externalIds: string[]; visibility: Visibility },
) {
  const byId = sql`${idColumn(kind)} = any (${named.ids})`
  const byExternalId = sql`external_id = any (${named.externalIds})`
  // Asked for what is named only: most batches name all by their id, or all by their externalId.
  const isNamed =
    named.ids.length === 0
      ? byExternalId
      : named.externalIds.length === 0
        ? byId
        : sql`(${byId} or ${byExternalId})`
  return tx.query<StoredObject>(sql`
    select ${columnsOf(kind)} from ${raw(kind.table)} t
    where business_id = ${businessId} and ${isNamed}
      ${isVisible(kind, named.visibility)}
    order by ${idColumn(kind)}
    for no key update`)
}

/** Gives back the ids that were written: another transaction may have taken an `externalId` first. */
export async function insertObjects(tx: Db, kind: ObjectKind, rows: StoredObject[]) {
  const written = await tx.query<{ id: number | string }>(sql`
    ${insertion(kind, rows)} ${unlessTaken} returning ${idColumn(kind)} as id`)
  return new Set(written.map((row) => row.id))
}

/** For rows that nobody can have written first: none has an `externalId`. */
export const sendObjects = (tx: Db, kind: ObjectKind, rows: StoredObject[]) =>
  tx.send(insertion(kind, rows))

/** An object as it becomes and as it was. */
export type ChangedObject = { object: StoredObject; before: StoredObject }

export const updateObjects = (tx: Db, kind: ObjectKind, changed: ChangedObject[]) =>
  tx.query(change(kind, changed))

/** The same, and gives back what was written as matching and timing see it. */
export function updateSubjects(tx: Db, kind: ObjectKind, changed: ChangedObject[]) {
  return tx.query<Subject>(sql`
    with written as (${change(kind, changed)} returning t.*)
    ${subjectsIn(raw('written'), kind.objectType!)}`)
}

function insertion(kind: ObjectKind, rows: StoredObject[]) {
  const layout = layoutOf(kind, areAlike(rows) ? 'envelope' : 'nothing', rows.length === 1)
  layout.insertion ??= sql`
    insert into ${raw(kind.table)} (${columnList(layout)})
    select ${columnList(layout)} from ${layout.rows}`
  return withValues(layout.insertion, layout.values(rows))
}

/** Most bookings that share a statement are: new, by the same user and at the same moment. */
const areAlike = ([first, ...rest]: StoredObject[]) =>
  rest.every((row) => ENVELOPE.every(({ property }) => row[property] === first![property]))

const unlessTaken = sql`on conflict (business_id, external_id) where external_id is not null do nothing`

function change(kind: ObjectKind, changed: ChangedObject[]) {
  const areMoves = changed.length > 1 && changed.every((one) => isMove(kind, one))
  const rows = changed.map(({ object }) => object)
  const layout = layoutOf(kind, areMoves ? 'moves' : 'stamps', rows.length === 1)
  const assignments = () =>
    layout.fields
      .filter(({ column }) => column !== toColumn(kind.id) && column !== 'business_id')
      .map(({ column }) => `${column} = r.${column}`)
  layout.change ??= sql`
    update ${raw(kind.table)} t set ${raw(assignments().join(', '))}
    from ${layout.rows}
    where t.business_id = r.business_id and t.${idColumn(kind)} = r.${idColumn(kind)}`
  return withValues(layout.change, layout.values(rows))
}

/** Only when it is changes: the rest need neither be sent nor looked at. */
const isMove = (kind: ObjectKind, { object, before }: ChangedObject) =>
  writtenFields(kind).every(
    (field) => isOfMoves(field) || object[field.property] === before[field.property],
  )

const isOfMoves = ({ property, sqlType }: Written) =>
  property === 'version' || STAMPS.includes(property) || sqlType === 'timestamptz'

/** Which of the ids that are referred to are the business's own, as `kind:id`. */
export async function listKnownIds(
  db: Db,
  businessId: number,
  wanted: Map<ObjectKind, Set<number>>,
): Promise<Set<string>> {
  const known = knownIds(businessId, wanted)
  const rows = known ? await db.query<{ known: string }>(known) : []
  return new Set(rows.map((row) => row.known))
}

export function knownIds(
  businessId: number,
  wanted: Map<ObjectKind, Set<number>>,
  needed: Record<string, string> = {},
): Sql | undefined {
  if (wanted.size === 0) return undefined
  const selects = [...wanted].map(
    ([kind, ids]) => sql`
      select ${raw(`'${kind.kind}:'`)} || ${idColumn(kind)} as known,
             ${raw(needed[kind.kind] ?? 'null::jsonb')} as needed
      from ${raw(kind.table)}
      where business_id = ${businessId} and ${idColumn(kind)} = any (${[...ids]}::bigint[])`,
  )
  return join(selects, ' union all ')
}

/** The ids of what a save refers to by `externalId`. */
export async function listIdsOfExternalIds(
  db: Db,
  businessId: number,
  wanted: Map<ObjectKind, Set<string>>,
): Promise<Map<ObjectKind, Map<string, number>>> {
  const found = await Promise.all(
    [...wanted].map(async ([kind, externalIds]) => {
      const rows = await db.query<{ externalId: string; id: number }>(sql`
        select external_id as "externalId", ${idColumn(kind)} as id from ${raw(kind.table)}
        where business_id = ${businessId} and external_id = any (${[...externalIds]}::text[])`)
      return [kind, new Map(rows.map((row) => [row.externalId, row.id]))] as const
    }),
  )
  return new Map(found)
}

/** What events may happen to, of these clients. */
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

type Written = { property: string; column: string; sqlType: string }

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

const written = new Map<ObjectKind, Written[]>()

function writtenFields(kind: ObjectKind): Written[] {
  let fields = written.get(kind)
  if (!fields) {
    const own = Object.entries(kind.fields).map(([property, { column, sqlType }]) => ({
      property,
      column,
      sqlType,
    }))
    const idType = kind.id === 'invitationUUID' ? 'text' : 'bigint'
    const id = { property: kind.id, column: toColumn(kind.id), sqlType: idType }
    fields = [id, ...own, ...ENVELOPE]
    written.set(kind, fields)
  }
  return fields
}

const idColumn = (kind: ObjectKind) => {
  let column = idColumns.get(kind)
  if (!column) idColumns.set(kind, (column = raw(toColumn(kind.id))))
  return column
}
const idColumns = new Map<ObjectKind, Sql>()

/** What all rows of a statement have in common; of changes and moves, who made them and when. */
type Shared = 'nothing' | 'envelope' | 'stamps' | 'moves'

/** How rows go into a statement. It follows from a declaration, and is worked out once. */
type Layout = {
  fields: Written[]
  rows: Sql
  values: (rows: StoredObject[]) => unknown[]
  insertion?: Sql
  change?: Sql
}

const layouts = new Map<string, Layout>()

function layoutOf(kind: ObjectKind, shared: Shared, isOne: boolean): Layout {
  const name = `${kind.kind} ${shared} ${isOne}`
  let layout = layouts.get(name)
  if (!layout) layouts.set(name, (layout = layOut(kind, shared, isOne)))
  return layout
}

function layOut(kind: ObjectKind, shared: Shared, isOne: boolean): Layout {
  const isChange = shared === 'stamps' || shared === 'moves'
  const known = writtenFields(kind).filter(
    (field) =>
      !(isChange && field.property.startsWith('created')) &&
      (shared !== 'moves' || isOfMoves(field) || field.property === kind.id),
  )
  const isShared = ({ property }: Written) =>
    shared === 'envelope'
      ? ENVELOPE.some((field) => field.property === property)
      : isChange && STAMPS.includes(property)
  if (isOne) return oneRow(known)
  // A list in a list of lists would be taken apart: those kinds go in as one JSON text.
  if (known.some(({ sqlType }) => sqlType.endsWith('[]'))) return records(known)
  return lists(
    known.filter((field) => !isShared(field)),
    known.filter(isShared),
  )
}

const STAMPS = ['businessId', 'modifiedDate', 'modifiedUser']

/** A booking is one row: put down as it is, it costs a third less than as lists of one. */
const oneRow = (fields: Written[]): Layout => ({
  fields,
  rows: sql`(values (${join(fields.map(parameter), ', ')})) as r (${columnList({ fields })})`,
  values: ([row]) => fields.map((field) => valueOf(row!, field)),
})

const records = (fields: Written[]): Layout => ({
  fields,
  rows: sql`json_to_recordset(${null}::json) as r (${raw(
    fields.map(({ column, sqlType }) => `${column} ${sqlType}`).join(', '),
  )})`,
  values: (rows) => {
    const recordOf = (row: StoredObject) =>
      Object.fromEntries(fields.map(({ property, column }) => [column, row[property]]))
    return [JSON.stringify(rows.map(recordOf))]
  },
})

/** What is the same in all rows is said once. */
function lists(own: Written[], shared: Written[]): Layout {
  const once = shared.map((field) => sql`, ${parameter(field)} as ${raw(field.column)}`)
  const columns = own.map((field) => sql`${parameter(field)}[]`)
  return {
    fields: [...own, ...shared],
    rows: sql`(select u.*${join(once, '')}
               from unnest(${join(columns, ', ')}) as u (${columnList({ fields: own })})) as r`,
    values: (rows) => [
      ...shared.map((field) => valueOf(rows[0]!, field)),
      ...own.map((field) => rows.map((row) => valueOf(row, field))),
    ],
  }
}

const parameter = ({ sqlType }: Written) => sql`${null}::${raw(sqlType)}`

const columnList = ({ fields }: Pick<Layout, 'fields'>) =>
  raw(fields.map(({ column }) => column).join(', '))

const valueOf = (row: StoredObject, { property, sqlType }: Written) =>
  sqlType === 'jsonb' ? JSON.stringify(row[property]) : row[property]

const columns = new Map<ObjectKind, Sql>()

function columnsOf(kind: ObjectKind): Sql {
  let list = columns.get(kind)
  if (!list) {
    const own = writtenFields(kind).map(({ property, column }) => `t.${column} as "${property}"`)
    list = raw([...own, ...(BESIDE[kind.kind] ?? [])].join(', '))
    columns.set(kind, list)
  }
  return list
}

/** What is shown beside a kind's own columns. */
const BESIDE: Record<string, string[]> = {
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
    case 'from':
      return sql`and ${column} >= ${value}`
    case 'before':
      return sql`and ${column} < ${value}`
    case 'contains':
      // Behind the wall `@>` uses no index; a business has few enough members of staff.
      if (kind.kind === 'classSchedule') {
        return sql`and t.class_schedule_id = any (array(select classes_of_client(${value}::bigint)))`
      }
      return sql`and ${column} @> array[${value}::bigint]`
    case 'words':
      return join(
        wordsOf(String(value)).map(
          (word) => sql`and t.client_id in (${clientsWithWord(sql`app_business()`, word)})`,
        ),
        ' ',
      )
  }
}
