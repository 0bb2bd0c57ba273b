import type { ObjectType } from '../contract/event-type.ts'
import {
  TRIGGER_STATUSES,
  type EventTrigger,
  type TriggerStatus,
} from '../contract/event-trigger.ts'
import { reasonText } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { By } from './rows.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { OBJECT_TABLES } from './object-tables.ts'
import type { ObjectKey } from './subject.ts'
import { clientsNamed } from './client-words.ts'
import { aboutVisibleObject, type Visibility } from './visibility.ts'
import { lockObjectsForShare } from './subjects.ts'
import { asPlanned, recordEnded } from './trigger-queue.ts'

/** A trigger as the API returns it, with times as `Temporal.Instant`. */
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
/** A trigger that a worker has claimed is RUNNING. */
const pendingColumns = columnsOf(sql`
  case when worker is null then 'SCHEDULED' else 'RUNNING' end as status,
  pending_reason(last_error, approval_id) as "statusReason",
  null::timestamptz as "completedTime", approval_id as "approvalId"`)

/** Compares both id columns, because the indexes contain both. */
const isAbout = (id: number | string) =>
  typeof id === 'string'
    ? sql`object_id is null and object_uuid = ${id}`
    : sql`object_uuid is null and object_id = ${id}`

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

export function listTriggersOfCalendar(db: Db, businessId: number, calendarId: number) {
  return db.query<StoredTrigger>(sql`
    select ${columns} from any_trigger where ${ofObject(businessId, 'CALENDAR', calendarId)}
    union all
    select t.* from disclaimer d
    cross join lateral (
      select ${columns} from any_trigger
      where business_id = ${businessId} and object_type = 'DISCLAIMER' and object_uuid is null
        and object_id = d.disclaimer_id
        and event_defn_id = any (array(
          select event_defn_id from event_definition where business_id = ${businessId}))) t
    where d.business_id = ${businessId} and d.calendar_id = ${calendarId}
    order by "scheduledTime", "eventTriggerId"`)
}

/** The pending triggers about objects of a client, and those with these ids in any state. */
export function listTriggersOfClient(
  db: Db,
  businessId: number,
  clientId: number,
  eventTriggerIds: number[],
) {
  const pending = OBJECT_TABLES.filter(({ hasClient }) => hasClient).map(
    ({ objectType, table, id, key, otherKey }) => sql`
      select event_trigger_id from pending_trigger
      where business_id = ${businessId} and object_type = ${objectType} and ${otherKey} is null
        and ${key} in (
          select ${id} from ${table} where business_id = ${businessId} and client_id = ${clientId})
        and event_defn_id = any (array(
          select event_defn_id from event_definition where business_id = ${businessId}))`,
  )
  return db.query<StoredTrigger>(sql`
    select ${columns} from any_trigger
    where business_id = ${businessId} and event_trigger_id = any (array(
      ${join(pending, ' union all ')} union all select unnest(${eventTriggerIds}::bigint[])))
    order by scheduled_time, event_trigger_id`)
}

/** The pending triggers that would send this template. */
export async function countTriggersOfTemplate(
  db: Db,
  { businessId, emailTemplateId }: { businessId: number; emailTemplateId: number },
) {
  const row = await db.getRow<{ count: number }>(sql`
    select count(*) as count from pending_trigger
    where business_id = ${businessId} and event_defn_id = any (array(
      select event_defn_id from event_action
      where business_id = ${businessId} and email_template_id = ${emailTemplateId} and active))`)
  return row.count
}

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

/** The state of a trigger, for explaining what a definition does for an object. */
export type TriggerState = Pick<
  StoredTrigger,
  'eventTriggerId' | 'eventDefnId' | 'scheduledTime' | 'status' | 'statusReason'
> & {
  anchorTime: Temporal.Instant
  /** It has not fired yet, though a worker may have claimed it. */
  isPending: boolean
}

/** Newest first. The limit is far above what one object has. */
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

/** How a trigger was planned: the anchor of its offset, and whether a user fired it. */
export type TriggerPlan = {
  /** The event that caused it; null for reminders. */
  occurrence: string | null
  anchorTime: Temporal.Instant
  oldStatus: string | null
  fireNow: boolean
  /** The user who fired it by hand; null if it fired at its time, or before this was recorded. */
  firedBy: string | null
}

export async function findTriggerPlan(db: Db, businessId: number, eventTriggerId: number) {
  const planIn = (table: Sql) => sql`
    select occurrence, anchor_time as "anchorTime", old_status as "oldStatus",
           fire_now as "fireNow", fired_by as "firedBy"
    from ${table} where business_id = ${businessId} and event_trigger_id = ${eventTriggerId}`
  return db.findRow<TriggerPlan>(
    sql`${planIn(sql`pending_trigger`)} union all ${planIn(sql`event_trigger`)}`,
  )
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
  /** Only pending triggers wait for an approval. */
  approvalId?: number | undefined
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

/** Merges a page of pending triggers with one of each final status, each read by its index. */
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

/** Conditions for pending triggers (undefined if the statuses exclude them) and for finished ones. */
function sourcesOf(businessId: number, filters: TriggerFilters) {
  const {
    statuses = TRIGGER_STATUSES,
    from,
    to,
    eventDefnId,
    objectType,
    approvalId,
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
  const held = approvalId ? sql`and t.approval_id = ${approvalId}` : empty
  const [scheduled, running] = [statuses.includes('SCHEDULED'), statuses.includes('RUNNING')]
  const shown =
    scheduled && running
      ? empty
      : scheduled
        ? sql`and t.worker is null`
        : // A claimed trigger is due, so later ones need not be searched.
          sql`and t.worker is not null and t.scheduled_time <= ${now}`
  return {
    pending: scheduled || running ? sql`${common} ${held} ${shown}` : undefined,
    ended: {
      condition: common,
      statuses: approvalId ? [] : RECORDED.filter((one) => statuses.includes(one)),
    },
  }
}

/** Restricts triggers to objects of a client, at a location, or of clients that match these words. */
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

const cancelling = (condition: Sql, reason: string, who: By) => sql`
  with gone as (
    delete from pending_trigger w where ${condition}
    returning w.*, 'CANCELLED' as status, ${reason}::text as status_reason, ${asPlanned}
  )
  ${recordEnded(sql`gone`, who)}`

/**
 * Makes pending triggers due at once because a user asked for it; returns those that were pending.
 * Their objects are locked first; see docs/engine.md, lock order.
 */
export async function fireTriggersNow(
  tx: Db,
  businessId: number,
  ids: number[],
  { user, now }: By,
) {
  await lockObjectsOfTriggers(tx, businessId, ids)
  const fired = await tx.query<StoredTrigger>(sql`
    with asked as (
      update pending_trigger
      set fire_now = true, fired_by = ${user}, approval_id = null, scheduled_time = ${now}, next_attempt_time = ${now},
          modified_date = ${now}, modified_user = ${user}
      where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])
        and worker is null
      returning *
    )
    select ${pendingColumns} from asked order by event_trigger_id`)
  if (fired.length > 0) tx.hint('bellwether_due')
  return fired
}

/**
 * Cancels pending triggers because a user asked for it. Their objects are locked first: a trigger
 * that moves at the same time is cancelled at its new time.
 */
export async function cancelTriggers(tx: Db, businessId: number, ids: number[], who: By) {
  await lockObjectsOfTriggers(tx, businessId, ids)
  const condition = sql`
    w.business_id = ${businessId} and w.event_trigger_id = any (${ids}::bigint[])
    and w.worker is null`
  return tx.query<StoredTrigger>(
    sql`${cancelling(condition, reasonText('cancelledBy', { user: who.user }), who)} returning ${finishedColumns}`,
  )
}

async function lockObjectsOfTriggers(tx: Db, businessId: number, ids: number[]) {
  const objects = await tx.query<ObjectKey & { objectType: ObjectType }>(sql`
    select distinct business_id as "businessId", object_type as "objectType",
           object_id as "objectId", object_uuid as "objectUUId"
    from pending_trigger where business_id = ${businessId} and event_trigger_id = any (${ids}::bigint[])`)
  lockObjectsForShare(tx, objects)
}
