import type { ObjectType } from '../contract/event-type.ts'
import {
  TRIGGER_STATUSES,
  type EventTrigger,
  type TriggerStatus,
} from '../contract/event-trigger.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, withValues, type Sql } from '../database/sql.ts'
import type { Sight } from './objects.ts'
import { aboutSeenObject } from './sight.ts'

/** As answered, with moments still moments. */
export type StoredTrigger = Omit<EventTrigger, Moments> & {
  completedTime: Temporal.Instant | null
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant | null
  scheduledTime: Temporal.Instant
}
type Moments = 'completedTime' | 'createdDate' | 'modifiedDate' | 'scheduledTime'

const columns = sql`
  business_id as "businessId", completed_time as "completedTime", created_date as "createdDate",
  created_user as "createdUser", event_defn_id as "eventDefnId",
  event_trigger_id as "eventTriggerId", modified_date as "modifiedDate",
  modified_user as "modifiedUser", object_id as "objectId", object_type as "objectType",
  object_uuid as "objectUUId", scheduled_time as "scheduledTime", status,
  status_reason as "statusReason"`

/** Whichever of the two they are in, the triggers of an object have an index. */
export const triggersOfObjects = sql`(
  select * from event_trigger where filed_as <> 'CANCELLED' and occurrence is null
  union all
  select * from event_trigger where filed_as = 'CANCELLED' or occurrence is not null)`

/** It has this id and not one of the other sort: the indexes begin with one and go on with the other. */
const isAbout = (id: number | string) =>
  typeof id === 'string'
    ? sql`object_id is null and object_uuid = ${id}`
    : sql`object_uuid is null and object_id = ${id}`

export function listTriggersOfObject(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
) {
  return db.query<StoredTrigger>(sql`
    select ${columns} from ${triggersOfObjects} t
    where business_id = ${businessId} and object_type = ${objectType} and ${isAbout(id)}
    order by scheduled_time, event_trigger_id`)
}

/** What of a trigger says how its definition's work on an object stands. */
export type TriggerState = Pick<
  StoredTrigger,
  'eventTriggerId' | 'eventDefnId' | 'scheduledTime' | 'status' | 'statusReason'
> & { anchorTime: Temporal.Instant }

/** Newest first; far more than any one object has. */
export function listTriggerStates(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
) {
  return db.query<TriggerState>(sql`
    select event_trigger_id as "eventTriggerId", event_defn_id as "eventDefnId",
           anchor_time as "anchorTime", scheduled_time as "scheduledTime", status,
           status_reason as "statusReason"
    from ${triggersOfObjects} t
    where business_id = ${businessId} and object_type = ${objectType} and ${isAbout(id)}
    order by event_trigger_id desc limit 10000`)
}

export async function findTrigger(
  db: Db,
  businessId: number,
  eventTriggerId: number,
  sight: Sight,
) {
  const [trigger] = await listTriggersById(db, businessId, [eventTriggerId], sight)
  return trigger
}

export function listTriggersById(db: Db, businessId: number, ids: number[], sight: Sight) {
  return db.query<StoredTrigger>(sql`
    select ${columns} from event_trigger
    where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
      ${aboutSeenObject('event_trigger', sight)}`)
}

export type TriggerFilters = {
  status?: TriggerStatus | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
  eventDefnId?: number | undefined
  objectType?: ObjectType | undefined
  after?: { scheduledTime: string; eventTriggerId: number } | undefined
  limit: number
  sight: Sight
  now: Temporal.Instant
}

/** A page of each status, and of these the first: each is found by its index. */
export function listTriggers(db: Db, businessId: number, filters: TriggerFilters) {
  const { status, from, to, eventDefnId, objectType, after, limit, sight, now } = filters
  const filed = status === 'RUNNING' ? IN_HAND_OR_LEAVING : status ? [status] : TRIGGER_STATUSES
  return db.query<StoredTrigger>(sql`
    select t.* from unnest(${filed}::text[]) as filed (status) cross join lateral (
      select ${columns} from event_trigger
      where business_id = ${businessId} and filed_as = filed.status
        ${status ? sql`and status = ${status}` : empty}
        ${status === 'RUNNING' ? sql`and scheduled_time <= ${now}` : empty}
        ${from ? sql`and scheduled_time >= ${from}` : empty}
        ${to ? sql`and scheduled_time < ${to}` : empty}
        ${eventDefnId ? sql`and event_defn_id = ${eventDefnId}` : empty}
        ${objectType ? sql`and object_type = ${objectType}` : empty}
        ${aboutSeenObject('event_trigger', sight)}
        ${
          after
            ? sql`and (scheduled_time, event_trigger_id) > (${after.scheduledTime}::timestamptz, ${after.eventTriggerId})`
            : empty
        }
      order by scheduled_time, event_trigger_id limit ${limit}) t
    order by t."scheduledTime", t."eventTriggerId" limit ${limit}`)
}

/** What runs is due: it is not looked for among all that waits. */
const IN_HAND_OR_LEAVING = ['SCHEDULED', 'RUNNING']

/** A reminder's row, as planning sees it. */
export type ReminderRow = {
  eventTriggerId: number
  eventDefnId: number
  defnVersion: number
  objectId: number | null
  objectUUId: string | null
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  status: TriggerStatus
  /** Since when its object asks for another time, which could not be planned while it was in hand. */
  replanSince: Temporal.Instant | null
}

/**
 * The reminders of these objects, pending and past. The pending ones are kept still: the engine
 * passes over a row that is locked here, and takes it as it is after the commit.
 */
export async function lockReminders(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  eventDefnIds: number[],
) {
  const reminders = remindersOf(businessId, objectType, ids, eventDefnIds)
  const rows = await Promise.all([
    tx.query<ReminderRow>(reminders.standing(sql`for update`)),
    tx.query<ReminderRow>(reminders.takenBack),
  ])
  return rows.flat()
}

/** The same, for those who only look. */
export function listReminders(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  eventDefnIds: number[],
) {
  const { standing, takenBack } = remindersOf(businessId, objectType, ids, eventDefnIds)
  return db.query<ReminderRow>(sql`${standing(sql`offset 0`)} union all ${takenBack}`)
}

/** Those that stand, and those that a person cancelled, which stay so; each has an index. */
function remindersOf(
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  eventDefnIds: number[],
) {
  const isInvitation = objectType === 'INVITATION'
  const id = isInvitation
    ? sql`object_id is null and object_uuid`
    : sql`object_uuid is null and object_id`
  const list = isInvitation ? sql`${ids}::text[]` : sql`${ids}::bigint[]`
  const reminder = sql`
    select event_trigger_id as "eventTriggerId", event_defn_id as "eventDefnId",
           defn_version as "defnVersion", object_id as "objectId", object_uuid as "objectUUId",
           anchor_time as "anchorTime", scheduled_time as "scheduledTime", status,
           replan_since as "replanSince"
    from event_trigger
    where business_id = ${businessId} and object_type = ${objectType} and occurrence is null`
  return {
    // One by one: left to choose, the planner may read all triggers of the business for a page. In
    // the order of the objects, which whoever plans has locked before: within one any order will do.
    standing: (held: Sql) => sql`
      select r.* from (select unnest(${list}) as id order by 1) o
      cross join lateral (
        ${reminder} and ${id} = o.id and event_defn_id = any (${eventDefnIds}::bigint[])
          and filed_as <> 'CANCELLED' ${held}) r`,
    takenBack: sql`
      ${reminder} and event_defn_id = any (${eventDefnIds}::bigint[]) and ${id} = any (${list})
        and filed_as = 'CANCELLED' and modified_user <> 'SYSTEM'`,
  }
}

/** The objects for which a definition has something pending, in pages. */
export function listPendingObjects(
  db: Db,
  businessId: number,
  eventDefnId: number,
  page: { after: number | string | undefined; limit: number; uuids: boolean },
) {
  const id = page.uuids ? sql`object_uuid` : sql`object_id`
  return db.query<{ id: number | string }>(sql`
    select ${id} as id from event_trigger
    where business_id = ${businessId} and event_defn_id = ${eventDefnId} and occurrence is null
      and filed_as in ('SCHEDULED', 'RUNNING')
      ${page.after === undefined ? empty : sql`and ${id} > ${page.after}`}
    order by ${id} limit ${page.limit}`)
}

/** In nobody's hands; the index by status holds those too. */
const isWaiting = sql`filed_as = 'SCHEDULED' and status = 'SCHEDULED'`

/** A pending trigger of a change that happened. */
export type EventRow = {
  eventTriggerId: number
  /** Event type, object and version. */
  occurrence: string
  objectId: number | null
  objectUUId: string | null
  oldStatus: string | null
  newStatus: string | null
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
}

export function listPendingEvents(
  db: Db,
  businessId: number,
  eventDefnId: number,
  page: { after: number; limit: number },
) {
  return db.query<EventRow>(sql`
    select event_trigger_id as "eventTriggerId", occurrence, object_id as "objectId",
           object_uuid as "objectUUId", old_status as "oldStatus", new_status as "newStatus",
           anchor_time as "anchorTime", scheduled_time as "scheduledTime"
    from event_trigger
    where business_id = ${businessId} and event_defn_id = ${eventDefnId}
      and occurrence is not null and ${isWaiting} and event_trigger_id > ${page.after}
    order by event_trigger_id limit ${page.limit}`)
}

/** A definition that was turned to another kind of event no longer asks for what it planned before. */
export function cancelOtherKinds(
  db: Db,
  definition: DefinitionKey,
  objectType: ObjectType,
  isReminder: boolean,
  now: Temporal.Instant,
) {
  return db.query(sql`
    update event_trigger
    set status = 'CANCELLED', status_reason = 'the definition asks for another event now',
        modified_date = ${now}, modified_user = 'SYSTEM'
    where ${ofOtherKinds(definition, objectType, isReminder)}`)
}

type DefinitionKey = { businessId: number; eventDefnId: number }
export type OtherKind = Pick<
  StoredTrigger,
  'objectType' | 'objectId' | 'objectUUId' | 'scheduledTime'
>

/** How many that would be, and the first of them. */
export async function countOtherKinds(
  db: Db,
  definition: DefinitionKey,
  objectType: ObjectType,
  isReminder: boolean,
  limit: number,
) {
  const rows = await db.query<OtherKind & { all: number }>(sql`
    select count(*) over () as all, object_type as "objectType", object_id as "objectId",
           object_uuid as "objectUUId", scheduled_time as "scheduledTime"
    from event_trigger
    where ${ofOtherKinds(definition, objectType, isReminder)}
    order by event_trigger_id limit ${limit}`)
  return { count: rows[0]?.all ?? 0, first: rows }
}

const ofOtherKinds = (
  { businessId, eventDefnId }: DefinitionKey,
  objectType: ObjectType,
  isReminder: boolean,
) => sql`
  business_id = ${businessId} and event_defn_id = ${eventDefnId} and ${isWaiting}
  and (object_type <> ${objectType} or (occurrence is null) <> ${isReminder})`

/** Everything a change does to the plan, written at once by `writePlan`. */
export type Plan = {
  /** Nothing of what is inserted is there already: the objects are new, or held by this plan. */
  isFresh?: boolean
  insert: NewTrigger[]
  /** Pending rows that get another time, or end before they fire. */
  update: PlannedUpdate[]
  /** Running rows whose object moved meanwhile: they are planned again when they end. */
  replan: Replanned[]
}

export type Replanned = {
  eventTriggerId: number
  /** From when the other time is asked for. */
  since: Temporal.Instant
}

export type NewTrigger = {
  eventDefnId: number
  defnVersion: number
  objectType: ObjectType
  objectId: number | null
  objectUUId: string | null
  occurrence: string | null
  oldStatus: string | null
  newStatus: string | null
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  status: 'SCHEDULED' | 'EXPIRED'
  statusReason: string | null
}

export type PlannedUpdate = {
  eventTriggerId: number
  defnVersion: number
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  status: 'SCHEDULED' | 'EXPIRED' | 'CANCELLED'
  statusReason: string | null
}

/** What is about to be due wakes the engines; the rest they find by themselves. */
const SOON_MS = 10_000

/** A statement for each sort of change, however many triggers: the same natural key is never planned twice. */
export function writePlan(tx: Db, businessId: number, plan: Plan, now: Temporal.Instant) {
  const { insert, update, replan } = plan
  if (insert.length + update.length + replan.length === 0) return
  // First what moves away: another may be planned for where it was.
  if (update.length > 0) tx.send(moving(businessId, update, now))
  if (replan.length > 0) tx.send(marking(businessId, replan))
  if (insert.length > 0) {
    const inserting = insertion(businessId, insert, now)
    tx.send(plan.isFresh ? inserting : sql`${inserting} on conflict do nothing`)
  }
  const isSoon = [...insert, ...update].some(
    ({ status, scheduledTime }) =>
      status === 'SCHEDULED' && scheduledTime.epochMilliseconds - now.epochMilliseconds < SOON_MS,
  )
  if (isSoon) tx.hint('bellwether_due')
}

const of = <Row, Key extends keyof Row>(rows: Row[], key: Key) => rows.map((row) => row[key])

type Written = [keyof NewTrigger, string, string]

/** What each trigger has of its own, whatever it is for. */
const OWN: Written[] = [
  ['eventDefnId', 'event_defn_id', 'bigint'],
  ['defnVersion', 'defn_version', 'bigint'],
  ['objectId', 'object_id', 'bigint'],
  ['anchorTime', 'anchor_time', 'timestamptz'],
  ['scheduledTime', 'scheduled_time', 'timestamptz'],
]

/** What is the same in all of a statement where those are reminders of what lies ahead. */
const COMMON: Written[] = [
  ['objectType', 'object_type', 'text'],
  ['objectUUId', 'object_uuid', 'text'],
  ['occurrence', 'occurrence', 'text'],
  ['oldStatus', 'old_status', 'text'],
  ['newStatus', 'new_status', 'text'],
  ['status', 'status', 'text'],
  ['statusReason', 'status_reason', 'text'],
]

/** Those of a booking are few: put down row by row they cost the server less than as lists. */
const FEW = 8

function insertion(businessId: number, insert: NewTrigger[], now: Temporal.Instant) {
  const [first] = insert
  const isFew = insert.length <= FEW
  const areAlike = insert.every((row) => COMMON.every(([key]) => row[key] === first![key]))
  const valuesOf = (row: NewTrigger, fields: Written[]) => fields.map(([key]) => row[key])
  const common = areAlike ? valuesOf(first!, COMMON) : []
  const own = areAlike ? OWN : [...OWN, ...COMMON]
  const rows = isFew
    ? insert.flatMap((row) => valuesOf(row, own))
    : own.map(([key]) => insert.map((row) => row[key]))
  const statement = insertionOf(isFew ? insert.length : MANY, own, areAlike ? COMMON : [])
  return withValues(statement, [businessId, now, ...common, ...rows])
}

const MANY = Infinity
const insertions = new Map<string, Sql>()

/** The text is put together once for each number of rows. */
function insertionOf(count: number, own: Written[], common: Written[]): Sql {
  const name = `${count} ${common.length}`
  let statement = insertions.get(name)
  if (!statement) {
    const names = raw([...common, ...own].map(([, column]) => column).join(', '))
    const parameters = (fields: Written[], many = '') =>
      fields.map(([, , type]) => sql`${null}::${raw(type + many)}`)
    const row = sql`(${join(parameters(own), ', ')})`
    const rows =
      count === MANY
        ? sql`unnest(${join(parameters(own, '[]'), ', ')})`
        : sql`(values ${join(Array(count).fill(row), ', ')})`
    const shared = [sql`${null}::bigint`, sql`${null}::timestamptz`, ...parameters(common)]
    statement = sql`
      insert into event_trigger (business_id, created_date, ${names})
      select ${join(shared, ', ')}, i.* from ${rows} as i`
    insertions.set(name, statement)
  }
  return statement
}

function moving(businessId: number, update: PlannedUpdate[], now: Temporal.Instant) {
  const [first] = update
  const areAlike = update.every(
    ({ status, statusReason }) => status === first!.status && statusReason === first!.statusReason,
  )
  // Most go on waiting, for another moment: that is said once.
  const [state, lists, names] = areAlike
    ? [sql`status = ${first!.status}, status_reason = ${first!.statusReason}`, empty, empty]
    : [
        sql`status = u.status, status_reason = u.status_reason`,
        sql`, ${of(update, 'status')}::text[], ${of(update, 'statusReason')}::text[]`,
        sql`, status, status_reason`,
      ]
  return sql`
    update event_trigger t
    set anchor_time = u.anchor_time, scheduled_time = u.scheduled_time, ${state},
        defn_version = u.defn_version, replan = false, replan_since = null,
        modified_date = ${now}, modified_user = 'SYSTEM'
    from unnest(${of(update, 'eventTriggerId')}::bigint[], ${of(update, 'defnVersion')}::bigint[],
                ${of(update, 'anchorTime')}::timestamptz[], ${of(update, 'scheduledTime')}::timestamptz[]
                ${lists})
      as u (event_trigger_id, defn_version, anchor_time, scheduled_time${names})
    where t.business_id = ${businessId} and t.event_trigger_id = u.event_trigger_id
      and t.status = 'SCHEDULED'`
}

const marking = (businessId: number, replan: Replanned[]) => sql`
  update event_trigger t
  set replan = true, replan_since = r.since
  from unnest(${of(replan, 'eventTriggerId')}::bigint[], ${of(replan, 'since')}::timestamptz[])
    as r (event_trigger_id, since)
  where t.business_id = ${businessId} and t.event_trigger_id = r.event_trigger_id
    and t.status = 'RUNNING'`

/** Due at once, because somebody asked for it. Only what still waits; gives back what it was. */
export function fireTriggersNow(tx: Db, businessId: number, ids: number[], { user, now }: Who) {
  return tx.query<StoredTrigger>(sql`
    with asked as (
      update event_trigger
      set fire_now = true, scheduled_time = ${now}, modified_date = ${now}, modified_user = ${user}
      where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
        and status = 'SCHEDULED'
      returning *
    ), hint as (select pg_notify('bellwether_due', ''))
    select ${columns} from asked, hint order by event_trigger_id`)
}

export function cancelTriggers(tx: Db, businessId: number, ids: number[], { user, now }: Who) {
  return tx.query<StoredTrigger>(sql`
    update event_trigger
    set status = 'CANCELLED', status_reason = 'cancelled by ' || ${user}, modified_date = ${now},
        modified_user = ${user}
    where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
      and status = 'SCHEDULED'
    returning ${columns}`)
}

type Who = { user: string; now: Temporal.Instant }
