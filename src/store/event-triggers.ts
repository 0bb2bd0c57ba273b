import { REASONS } from '../contract/reasons.ts'
import type { ObjectType } from '../contract/event-type.ts'
import {
  TRIGGER_STATUSES,
  type EventTrigger,
  type TriggerStatus,
} from '../contract/event-trigger.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { OBJECT_TABLES } from './object-tables.ts'
import { columnsFor, insertRows, rowTable } from './rows.ts'
import type { ObjectKey } from './subject.ts'
import { clientsNamed } from './client-words.ts'
import { aboutVisibleObject, type Visibility } from './visibility.ts'
import { lockObjectsForShare } from './subjects.ts'
import { HELD_UNTIL } from './approvals.ts'
import { asPlanned, recordEnded } from './trigger-queue.ts'

/** As answered, with moments still moments. */
export type StoredTrigger = Omit<EventTrigger, Moments> & {
  completedTime: Temporal.Instant | null
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant | null
  scheduledTime: Temporal.Instant
}
type Moments = 'completedTime' | 'createdDate' | 'modifiedDate' | 'scheduledTime'

const columnsOf = (state: Sql) => sql`
  business_id as "businessId", created_date as "createdDate",
  created_user as "createdUser", event_defn_id as "eventDefnId",
  event_trigger_id as "eventTriggerId", modified_date as "modifiedDate",
  modified_user as "modifiedUser", object_id as "objectId", object_type as "objectType",
  object_uuid as "objectUUId", scheduled_time as "scheduledTime", ${state}`
const STATE = sql`status, status_reason as "statusReason", completed_time as "completedTime"`
const columns = columnsOf(sql`${STATE}, approval_id as "approvalId"`)
const finishedColumns = columnsOf(sql`${STATE}, null::bigint as "approvalId"`)
/** What is in a worker's hands is RUNNING. */
const pendingColumns = columnsOf(sql`
  case when worker is null then 'SCHEDULED' else 'RUNNING' end as status,
  pending_reason(last_error, approval_id) as "statusReason",
  null::timestamptz as "completedTime", approval_id as "approvalId"`)

/** It has this id and not one of the other sort: the indexes begin with one and go on with the other. */
const isAbout = (id: number | string) =>
  typeof id === 'string'
    ? sql`object_id is null and object_uuid = ${id}`
    : sql`object_uuid is null and object_id = ${id}`

/** The finished triggers of an object. Each is in one of two indexes. */
export const endedOfObjects = sql`(
  select * from event_trigger where status <> 'CANCELLED' and occurrence is null
  union all
  select * from event_trigger where status = 'CANCELLED' or occurrence is not null)`

/** All triggers of one object. Pending triggers have an index by definition and object. */
const ofObject = (businessId: number, objectType: ObjectType, id: number | string) => sql`
  business_id = ${businessId} and object_type = ${objectType} and ${isAbout(id)}
  and event_defn_id = any (array(
    select event_defn_id from event_definition where business_id = ${businessId}))`

export function listTriggersOfObject(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  id: number | string,
) {
  return db.query<StoredTrigger>(sql`
    select ${columns} from any_trigger where ${ofObject(businessId, objectType, id)}
    order by scheduled_time, event_trigger_id`)
}

/** How many triggers of each status each of these objects has. */
export function countTriggersOfObjects(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
) {
  const [list, id, isOfKind] =
    objectType === 'INVITATION'
      ? [sql`${ids}::text[]`, sql`object_uuid`, sql`object_id is null`]
      : [sql`${ids}::bigint[]`, sql`object_id`, sql`object_uuid is null`]
  // Pending triggers have an index by definition and object, finished ones by object. Finished ones
  // are read one object at a time, or the planner may read all of the business.
  return db.query<{ id: number | string; status: TriggerStatus; count: number }>(sql`
    select id, status, count(*) as count from (
      select ${id} as id, case when worker is null then 'SCHEDULED' else 'RUNNING' end as status
      from pending_trigger
      where business_id = ${businessId} and object_type = ${objectType} and ${isOfKind}
        and ${id} = any (${list}) and event_defn_id = any (array(
          select event_defn_id from event_definition where business_id = ${businessId}))
      union all
      select o.id, e.status from unnest(${list}) as o (id)
      cross join lateral (
        select status from ${endedOfObjects} t
        where business_id = ${businessId} and object_type = ${objectType} and ${isOfKind}
          and ${id} = o.id offset 0) e) t
    group by 1, 2`)
}

/** What of a trigger says how its definition's work on an object stands. */
export type TriggerState = Pick<
  StoredTrigger,
  'eventTriggerId' | 'eventDefnId' | 'scheduledTime' | 'status' | 'statusReason'
> & {
  anchorTime: Temporal.Instant
  /** It has not fired yet, though a worker may have claimed it. */
  isPending: boolean
}

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
           status_reason as "statusReason",
           exists (select from pending_trigger p
                   where p.business_id = any_trigger.business_id
                     and p.event_trigger_id = any_trigger.event_trigger_id) as "isPending"
    from any_trigger where ${ofObject(businessId, objectType, id)}
    order by event_trigger_id desc limit 10000`)
}

export async function findTrigger(
  db: Db,
  businessId: number,
  eventTriggerId: number,
  visibility: Visibility,
) {
  const [trigger] = await listTriggersById(db, businessId, [eventTriggerId], visibility)
  return trigger
}

/** How a trigger was planned: what it is counted from, and whether a user made it due. */
export type TriggerPlan = {
  /** What happened; null for reminders. */
  occurrence: string | null
  anchorTime: Temporal.Instant
  oldStatus: string | null
  fireNow: boolean
}

export async function findTriggerPlan(db: Db, businessId: number, eventTriggerId: number) {
  const planIn = (table: Sql) => sql`
    select occurrence, anchor_time as "anchorTime", old_status as "oldStatus",
           fire_now as "fireNow"
    from ${table} where business_id = ${businessId} and event_trigger_id = ${eventTriggerId}`
  const [plan] = await db.query<TriggerPlan>(
    sql`${planIn(sql`pending_trigger`)} union all ${planIn(sql`event_trigger`)}`,
  )
  return plan
}

export function listTriggersById(
  db: Db,
  businessId: number,
  ids: number[],
  visibility: Visibility,
) {
  return db.query<StoredTrigger>(sql`
    select ${columns} from any_trigger t
    where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
      ${aboutVisibleObject('t', visibility)}`)
}

export type TriggerFilters = {
  /** Unset: of any status. */
  statuses?: TriggerStatus[] | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
  eventDefnId?: number | undefined
  objectType?: ObjectType | undefined
  clientId?: number | undefined
  locationId?: number | undefined
  /** Words of a client's name, or the beginning of an address. */
  text?: string | undefined
  visibility: Visibility
  now: Temporal.Instant
}

type TriggerPage = {
  newestFirst: boolean
  after?: { scheduledTime: string; eventTriggerId: number } | undefined
  limit: number
}

/** A page of the pending triggers and one of each final status, each found by its index; of these the first. */
export function listTriggers(
  db: Db,
  businessId: number,
  filters: TriggerFilters,
  { newestFirst, after, limit }: TriggerPage,
) {
  const direction = raw(newestFirst ? 'desc' : 'asc')
  const beyond = raw(newestFirst ? '<' : '>')
  const page = sql`
    ${
      after
        ? sql`and (t.scheduled_time, t.event_trigger_id) ${beyond} (${after.scheduledTime}::timestamptz, ${after.eventTriggerId})`
        : empty
    }
    order by t.scheduled_time ${direction}, t.event_trigger_id ${direction} limit ${limit}`
  const { pending, ended } = sourcesOf(businessId, filters)
  const pages: Sql[] = []
  if (pending)
    pages.push(sql`(select ${pendingColumns} from pending_trigger t where ${pending} ${page})`)
  if (ended.statuses.length > 0) {
    pages.push(sql`(
      select t.* from unnest(${ended.statuses}::text[]) as recorded (status)
      cross join lateral (
        select ${finishedColumns} from event_trigger t
        where ${ended.condition} and t.status = recorded.status ${page}) t)`)
  }
  if (pages.length === 0) return Promise.resolve<StoredTrigger[]>([])
  return db.query<StoredTrigger>(sql`
    select * from (${join(pages, ' union all ')}) t
    order by t."scheduledTime" ${direction}, t."eventTriggerId" ${direction} limit ${limit}`)
}

/** How many triggers of each status the filters let through. */
export async function countTriggers(db: Db, businessId: number, filters: TriggerFilters) {
  const { pending, ended } = sourcesOf(businessId, filters)
  const counts: Sql[] = []
  if (pending) {
    counts.push(sql`
      select case when worker is null then 'SCHEDULED' else 'RUNNING' end as status, count(*) as count
      from pending_trigger t where ${pending} group by 1`)
  }
  if (ended.statuses.length > 0) {
    counts.push(sql`
      select status, count(*) as count from event_trigger t
      where ${ended.condition} and t.status = any (${ended.statuses}::text[]) group by 1`)
  }
  if (counts.length === 0) return {}
  const rows = await db.query<{ status: TriggerStatus; count: number }>(sql`
    select status, sum(count)::bigint as count from (${join(counts, ' union all ')}) t group by 1`)
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

/** The conditions for pending and for final triggers; without one where no status of its kind is asked for. */
function sourcesOf(businessId: number, filters: TriggerFilters) {
  const {
    statuses = TRIGGER_STATUSES,
    from,
    to,
    eventDefnId,
    objectType,
    visibility,
    now,
  } = filters
  const common = sql`t.business_id = ${businessId}
    ${from ? sql`and t.scheduled_time >= ${from}` : empty}
    ${to ? sql`and t.scheduled_time < ${to}` : empty}
    ${eventDefnId ? sql`and t.event_defn_id = ${eventDefnId}` : empty}
    ${objectType ? sql`and t.object_type = ${objectType}` : empty}
    ${aboutObjectsOf(businessId, filters)}
    ${aboutVisibleObject('t', visibility)}`
  const [scheduled, running] = [statuses.includes('SCHEDULED'), statuses.includes('RUNNING')]
  const shown =
    scheduled && running
      ? empty
      : scheduled
        ? sql`and t.worker is null`
        : // A claimed trigger is due: it is not looked for among all that are pending.
          sql`and t.worker is not null and t.scheduled_time <= ${now}`
  return {
    pending: scheduled || running ? sql`${common} ${shown}` : undefined,
    ended: { condition: common, statuses: RECORDED.filter((one) => statuses.includes(one)) },
  }
}

/** Keeps triggers to those whose object is a client's, is at a location, or whose client has these words. */
function aboutObjectsOf(businessId: number, { clientId, locationId, text }: TriggerFilters): Sql {
  const conditions: ((objects: { hasClient: boolean; hasLocation: boolean }) => Sql)[] = []
  if (clientId !== undefined) {
    conditions.push(({ hasClient }) =>
      hasClient ? sql`and o.client_id = ${clientId}` : sql`and false`,
    )
  }
  if (locationId !== undefined) {
    conditions.push(({ hasLocation }) =>
      hasLocation ? sql`and o.location_id = ${locationId}` : sql`and false`,
    )
  }
  if (text !== undefined) {
    conditions.push(({ hasClient }) =>
      hasClient ? sql`and o.client_id in (${clientsNamed(businessId, text)})` : sql`and false`,
    )
  }
  if (conditions.length === 0) return empty
  const cases = OBJECT_TABLES.map(
    ({ objectType, table, id, key, ...objects }) => sql`
      when ${raw(`'${objectType}'`)} then t.${key} in (
        select o.${id} from ${table} o where o.business_id = ${businessId}
        ${join(
          conditions.map((condition) => condition(objects)),
          ' ',
        )})`,
  )
  return sql`and case t.object_type ${join(cases, ' ')} else false end`
}

const RECORDED = TRIGGER_STATUSES.filter((status) => status !== 'SCHEDULED')

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
  /** Since when its object asks for another time, which could not be planned while its mails left. */
  replanSince: Temporal.Instant | null
}

/**
 * The reminders of these objects, pending and finished. The caller holds the objects, so none of them
 * fires meanwhile. The locks wait for workers that give up a trigger or end one whose mails are sent.
 */
export async function readReminders(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  eventDefnIds: number[],
): Promise<ReminderRow[]> {
  const { recorded, pending, standing, cancelledByUser } = remindersOf(
    businessId,
    objectType,
    ids,
    eventDefnIds,
  )
  const inLockOrder = sql`order by event_trigger_id for update`
  // One round trip. Pending triggers are locked first; see docs/engine.md, lock order.
  const rows = await Promise.all([
    tx.query<ReminderRow>(sql`${pending} ${inLockOrder}`),
    tx.query<ReminderRow>(sql`
      ${recorded} and status <> 'CANCELLED'
        and event_trigger_id = any (array(select r."eventTriggerId" from (${standing}) r)) ${inLockOrder}`),
    tx.query<ReminderRow>(cancelledByUser),
  ])
  return rows.flat()
}

/** The same, without locks. */
export function listReminders(
  db: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  eventDefnIds: number[],
) {
  const { pending, standing, cancelledByUser } = remindersOf(
    businessId,
    objectType,
    ids,
    eventDefnIds,
  )
  return db.query<ReminderRow>(sql`${pending} union all ${standing} union all ${cancelledByUser}`)
}

/** Pending reminders, those that are not cancelled, and those that a user cancelled; each has an index. */
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
  const reminder = (table: Sql, state: Sql) => sql`
    select event_trigger_id as "eventTriggerId", event_defn_id as "eventDefnId",
           defn_version as "defnVersion", object_id as "objectId", object_uuid as "objectUUId",
           anchor_time as "anchorTime", scheduled_time as "scheduledTime", ${state}
    from ${table}
    where business_id = ${businessId} and object_type = ${objectType} and occurrence is null
      and event_defn_id = any (${eventDefnIds}::bigint[])`
  const recorded = reminder(sql`event_trigger`, sql`status, replan_since as "replanSince"`)
  return {
    recorded,
    pending: sql`
      ${reminder(sql`pending_trigger`, sql`'SCHEDULED' as status, null::timestamptz as "replanSince"`)}
        and ${id} = any (${list})`,
    // One by one: left to choose, the planner may read all triggers of the business for a page.
    standing: sql`
      select r.* from unnest(${list}) as o (id)
      cross join lateral (${recorded} and ${id} = o.id and status <> 'CANCELLED' offset 0) r`,
    cancelledByUser: sql`
      ${recorded} and ${id} = any (${list}) and status = 'CANCELLED' and modified_user <> 'SYSTEM'`,
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
    select ${id} as id from pending_trigger
    where business_id = ${businessId} and event_defn_id = ${eventDefnId} and occurrence is null
      ${page.uuids ? sql`and object_id is null` : empty}
      ${page.after === undefined ? empty : sql`and ${id} > ${page.after}`}
    order by ${id} limit ${page.limit}`)
}

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
    from pending_trigger
    where business_id = ${businessId} and event_defn_id = ${eventDefnId}
      and occurrence is not null and worker is null and event_trigger_id > ${page.after}
    order by event_trigger_id limit ${page.limit}`)
}

export const OTHER_EVENT = REASONS.otherEventType

type DefinitionKey = { businessId: number; eventDefnId: number }
type Kind = { objectType: ObjectType; isReminder: boolean }

/** Pending triggers of a definition that are of another kind than the one it asks for, in pages. */
export function listOtherKinds(
  db: Db,
  definition: DefinitionKey,
  kind: Kind,
  page: { after: number; limit: number },
) {
  return db.query<
    OtherKind & Pick<PlannedUpdate, 'eventTriggerId' | 'anchorTime' | 'scheduledTime'>
  >(sql`
    select event_trigger_id as "eventTriggerId", object_type as "objectType",
           object_id as "objectId", object_uuid as "objectUUId", anchor_time as "anchorTime",
           scheduled_time as "scheduledTime"
    from pending_trigger w
    where ${ofOtherKinds(definition, kind)} and event_trigger_id > ${page.after}
    order by event_trigger_id limit ${page.limit}`)
}

type OtherKind = Pick<StoredTrigger, 'objectType' | 'objectId' | 'objectUUId' | 'scheduledTime'>

/** How many there are, and the first of them. */
export async function countOtherKinds(
  db: Db,
  definition: DefinitionKey,
  kind: Kind,
  limit: number,
) {
  const rows = await db.query<OtherKind & { all: number }>(sql`
    select count(*) over () as all, object_type as "objectType", object_id as "objectId",
           object_uuid as "objectUUId", scheduled_time as "scheduledTime"
    from pending_trigger w
    where ${ofOtherKinds(definition, kind)}
    order by event_trigger_id limit ${limit}`)
  return { count: rows[0]?.all ?? 0, first: rows }
}

const ofOtherKinds = (
  { businessId, eventDefnId }: DefinitionKey,
  { objectType, isReminder }: Kind,
) => sql`
  w.business_id = ${businessId} and w.event_defn_id = ${eventDefnId} and w.worker is null
  and (w.object_type <> ${objectType} or (w.occurrence is null) <> ${isReminder})`

/** Moves matching pending triggers to the outcome table as CANCELLED. */
const cancelling = (condition: Sql, reason: string, who: Who) => sql`
  with gone as (
    delete from pending_trigger w where ${condition}
    returning w.*, 'CANCELLED' as status, ${reason}::text as status_reason, ${asPlanned}
  )
  ${recordEnded(sql`gone`, who)}`

/** Everything a change does to the plan, written at once by `writePlan`. */
export type Plan = {
  insert: NewTrigger[]
  /** Pending rows that get another time, or end before they fire. */
  update: PlannedUpdate[]
  /** Running rows whose object moved meanwhile: they are planned again when they end. */
  replan: Replanned[]
}

type Replanned = {
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
} & Holdable

type PlannedUpdate = {
  eventTriggerId: number
  defnVersion: number
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  status: 'SCHEDULED' | 'EXPIRED' | 'CANCELLED'
  statusReason: string | null
} & Holdable

/** A trigger of a bulk call may have to wait for an approval. */
type Holdable = {
  /** A reminder whose time had passed: `latePolicy` sends it all the same. */
  isLate?: boolean
  /** It waits for this approval. */
  approvalId?: number
}

/** What is about to be due wakes the engines; the rest they find by themselves. */
const SOON_MS = 10_000

/** Writes a plan in one statement for each kind of change. The caller holds the objects' locks. */
export function writePlan(tx: Db, businessId: number, plan: Plan, now: Temporal.Instant) {
  const { insert, update, replan } = plan
  if (insert.length + update.length + replan.length === 0) return
  // Moves first: a new trigger may be planned for the time that a moved one had.
  const moved = update.filter((one) => one.status === 'SCHEDULED').map(withApproval)
  const gone = update.filter((one) => one.status !== 'SCHEDULED')
  if (moved.length > 0) tx.send(moving(businessId, moved, now))
  if (gone.length > 0) tx.send(ending(businessId, gone, now))
  if (replan.length > 0) tx.send(marking(businessId, replan))
  const created = insert.map((one) => ({
    ...withApproval(one),
    businessId,
    createdDate: now,
    nextAttemptTime: one.approvalId === undefined ? one.scheduledTime : HELD_UNTIL,
  }))
  const pending = created.filter((one) => one.status === 'SCHEDULED')
  const late = created.filter((one) => one.status !== 'SCHEDULED')
  if (pending.length > 0) tx.send(insertRows('pending_trigger', PENDING_COLUMNS, pending))
  if (late.length > 0) {
    tx.send(sql`${insertRows('event_trigger', FINISHED_COLUMNS, late)} on conflict do nothing`)
  }
  const isSoon = [...pending, ...moved].some(
    ({ scheduledTime, approvalId }) =>
      approvalId === null && scheduledTime.epochMilliseconds - now.epochMilliseconds < SOON_MS,
  )
  if (isSoon) tx.hint('bellwether_due')
}

const withApproval = <Row extends Holdable>(row: Row) => ({
  ...row,
  approvalId: row.approvalId ?? null,
})

type WrittenTrigger = Omit<NewTrigger, 'approvalId'> & {
  approvalId: number | null
  businessId: number
  createdDate: Temporal.Instant
  nextAttemptTime: Temporal.Instant
}

const TRIGGER_COLUMNS = columnsFor<WrittenTrigger>({
  businessId: 'bigint',
  createdDate: 'timestamptz',
  eventDefnId: 'bigint',
  defnVersion: 'bigint',
  objectType: 'text',
  objectId: 'bigint',
  objectUUId: 'text',
  occurrence: 'text',
  oldStatus: 'text',
  newStatus: 'text',
  anchorTime: 'timestamptz',
  scheduledTime: 'timestamptz',
})

const PENDING_COLUMNS = [
  ...TRIGGER_COLUMNS,
  ...columnsFor<WrittenTrigger>({ nextAttemptTime: 'timestamptz', approvalId: 'bigint' }),
]

const FINISHED_COLUMNS = [
  ...TRIGGER_COLUMNS,
  ...columnsFor<WrittenTrigger>({ status: 'text', statusReason: 'text' }),
]

const PLANNED_COLUMNS = columnsFor<PlannedUpdate>({
  eventTriggerId: 'bigint',
  defnVersion: 'bigint',
  anchorTime: 'timestamptz',
  scheduledTime: 'timestamptz',
  status: 'text',
  statusReason: 'text',
})

type MovedUpdate = Omit<PlannedUpdate, 'approvalId'> & { approvalId: number | null }

const MOVED_COLUMNS = [...PLANNED_COLUMNS, ...columnsFor<MovedUpdate>({ approvalId: 'bigint' })]

/** A trigger goes on waiting for its approval; a reminder with another time is planned, and does not wait. */
const staysHeld = sql`
  w.approval_id is not null and (w.occurrence is not null or w.scheduled_time = r.scheduled_time)`

/** A claimed trigger is taken from its worker: the caller holds its object, so it is not being fired. */
const moving = (businessId: number, update: MovedUpdate[], now: Temporal.Instant) => sql`
  update pending_trigger w
  set anchor_time = r.anchor_time, scheduled_time = r.scheduled_time,
      next_attempt_time = case
        when r.approval_id is not null or w.next_attempt_time = ${HELD_UNTIL} and ${staysHeld}
        then ${HELD_UNTIL} else r.scheduled_time end,
      approval_id = case when ${staysHeld} then w.approval_id else r.approval_id end,
      defn_version = r.defn_version,
      fire_now = false, worker = null, attempts = 0, last_error = null, modified_date = ${now}, modified_user = 'SYSTEM'
  from ${rowTable(MOVED_COLUMNS, update)}
  where w.business_id = ${businessId} and w.event_trigger_id = r.event_trigger_id`

/** Moves triggers that end before they fire to the finished ones. */
const ending = (businessId: number, update: PlannedUpdate[], now: Temporal.Instant) => sql`
  with gone as (
    delete from pending_trigger w
    using ${rowTable(PLANNED_COLUMNS, update)}
    where w.business_id = ${businessId} and w.event_trigger_id = r.event_trigger_id
    returning w.*, r.status, r.status_reason, r.defn_version as planned_version,
              r.anchor_time as planned_anchor, r.scheduled_time as planned_time
  )
  ${recordEnded(sql`gone`, { user: 'SYSTEM', now })}`

const marking = (businessId: number, replan: Replanned[]) => sql`
  update event_trigger t
  set replan_since = r.since
  from ${rowTable(columnsFor<Replanned>({ eventTriggerId: 'bigint', since: 'timestamptz' }), replan)}
  where t.business_id = ${businessId} and t.event_trigger_id = r.event_trigger_id
    and t.status = 'RUNNING'`

/**
 * Makes pending triggers due at once because a user asked for it; returns those that were pending.
 * Their objects are locked first; see docs/engine.md, lock order.
 */
export async function fireTriggersNow(
  tx: Db,
  businessId: number,
  ids: number[],
  { user, now }: Who,
) {
  await lockObjectsOfTriggers(tx, businessId, ids)
  return tx.query<StoredTrigger>(sql`
    with asked as (
      update pending_trigger
      set fire_now = true, approval_id = null, scheduled_time = ${now}, next_attempt_time = ${now},
          modified_date = ${now}, modified_user = ${user}
      where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
        and worker is null
      returning *
    ), hint as (select pg_notify('bellwether_due', ''))
    select ${pendingColumns} from asked, hint order by event_trigger_id`)
}

/**
 * Cancels pending triggers because a user asked for it. Their objects are locked first: a trigger
 * that moves at the same time is cancelled at its new time.
 */
export async function cancelTriggers(tx: Db, businessId: number, ids: number[], who: Who) {
  await lockObjectsOfTriggers(tx, businessId, ids)
  const condition = sql`
    w.business_id = ${businessId} and w.event_trigger_id = any (${ids}::bigint[])
    and w.worker is null`
  return tx.query<StoredTrigger>(
    sql`${cancelling(condition, `cancelled by ${who.user}`, who)} returning ${finishedColumns}`,
  )
}

async function lockObjectsOfTriggers(tx: Db, businessId: number, ids: number[]) {
  const objects = await tx.query<ObjectKey & { objectType: ObjectType }>(sql`
    select distinct business_id as "businessId", object_type as "objectType",
           object_id as "objectId", object_uuid as "objectUUId"
    from pending_trigger where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])`)
  lockObjectsForShare(tx, objects)
}

type Who = { user: string; now: Temporal.Instant }
