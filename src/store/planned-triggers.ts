import type { ObjectType } from '../contract/event-type.ts'
import type { TriggerStatus } from '../contract/event-trigger.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { HELD_UNTIL } from './approvals.ts'
import type { StoredTrigger } from './event-triggers.ts'
import { columnsFor, insertRows, rowTable } from './rows.ts'
import { aboutVisibleObject, type Visibility } from './visibility.ts'
import { recordEnded, type PlannedTrigger } from './trigger-queue.ts'
import type { PageAfter } from './pages.ts'

export type ReminderRow = {
  eventTriggerId: number
  eventDefnId: number
  defnVersion: number
  objectId: number | null
  objectUUId: string | null
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  status: TriggerStatus
  /** If the object moved while the reminder's mails were being sent: since when the new time applies. */
  replanSince: Temporal.Instant | null
}

/**
 * The reminders of these objects, pending and finished. The caller has locked the objects, so none of
 * them fires meanwhile. The locks wait for workers that give up a trigger or end one after its mails.
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
  // The subquery hides the id: the planner takes a business that its statistics do not know for empty, and
  // would read all its triggers for each object.
  const reminder = (table: Sql, state: Sql) => sql`
    select event_trigger_id as "eventTriggerId", event_defn_id as "eventDefnId",
           defn_version as "defnVersion", object_id as "objectId", object_uuid as "objectUUId",
           anchor_time as "anchorTime", scheduled_time as "scheduledTime", ${state}
    from ${table}
    where business_id = (select ${businessId}::bigint) and object_type = ${objectType}
      and occurrence is null and event_defn_id = any (${eventDefnIds}::bigint[])`
  const recorded = reminder(sql`event_trigger`, sql`status, replan_since as "replanSince"`)
  return {
    recorded,
    pending: sql`
      ${reminder(sql`pending_trigger`, sql`'SCHEDULED' as status, null::timestamptz as "replanSince"`)}
        and ${id} = any (${list})`,
    // Reads object by object: otherwise the planner may read all triggers of the business.
    standing: sql`
      select r.* from unnest(${list}) as o (id)
      cross join lateral (${recorded} and ${id} = o.id and status <> 'CANCELLED' offset 0) r`,
    cancelledByUser: sql`
      ${recorded} and ${id} = any (${list}) and status = 'CANCELLED' and modified_user <> 'SYSTEM'`,
  }
}

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
  page: PageAfter,
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

type DefinitionKey = { businessId: number; eventDefnId: number }
type Kind = { objectType: ObjectType; isReminder: boolean }

/** A page of a definition's pending triggers that have another kind than the definition now. */
export function listOtherKinds(db: Db, definition: DefinitionKey, kind: Kind, page: PageAfter) {
  return db.query<OtherKind>(sql`
    select event_trigger_id as "eventTriggerId", object_type as "objectType",
           object_id as "objectId", object_uuid as "objectUUId", anchor_time as "anchorTime",
           scheduled_time as "scheduledTime"
    from pending_trigger w
    where ${ofOtherKinds(definition, kind)} and event_trigger_id > ${page.after}
    order by event_trigger_id limit ${page.limit}`)
}

type OtherKindObject = Pick<
  StoredTrigger,
  'objectType' | 'objectId' | 'objectUUId' | 'scheduledTime'
>
export type OtherKind = OtherKindObject & Pick<PlannedUpdate, 'eventTriggerId' | 'anchorTime'>

/** Counts these triggers, and lists the first ones that the caller may see. */
export async function countOtherKinds(
  db: Db,
  definition: DefinitionKey,
  kind: Kind,
  { visibility, limit }: { visibility: Visibility; limit: number },
) {
  const [[counted], first] = await Promise.all([
    db.query<{ count: number }>(sql`
      select count(*) as count from pending_trigger w where ${ofOtherKinds(definition, kind)}`),
    db.query<OtherKindObject>(sql`
      select object_type as "objectType", object_id as "objectId", object_uuid as "objectUUId",
             scheduled_time as "scheduledTime"
      from pending_trigger w
      where ${ofOtherKinds(definition, kind)} ${aboutVisibleObject('w', visibility)}
      order by event_trigger_id limit ${limit}`),
  ])
  return { count: counted!.count, first }
}

const ofOtherKinds = (
  { businessId, eventDefnId }: DefinitionKey,
  { objectType, isReminder }: Kind,
) => sql`
  w.business_id = ${businessId} and w.event_defn_id = ${eventDefnId} and w.worker is null
  and (w.object_type <> ${objectType} or (w.occurrence is null) <> ${isReminder})`

export type Plan = {
  insert: NewTrigger[]
  /** Pending rows that get another time, or end before they fire. */
  update: PlannedUpdate[]
  /** Running rows whose object moved meanwhile: they are planned again when they end. */
  replan: Replanned[]
}

type Replanned = {
  eventTriggerId: number
  /** Since when the new time applies. */
  since: Temporal.Instant
}

export type NewTrigger = PlannedTrigger & {
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
  /** A reminder whose time has passed; `latePolicy` sends it anyway. */
  isLate?: boolean
  approvalId?: number
}

/** Triggers that are due within this time wake the engines; the engines find later ones by polling. */
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

export const TRIGGER_TYPES = {
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
} as const

const TRIGGER_COLUMNS = columnsFor<WrittenTrigger>(TRIGGER_TYPES)

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

/** A trigger keeps waiting for its approval, unless it is a reminder that gets another time. */
const staysHeld = sql`
  w.approval_id is not null and (w.occurrence is not null or w.scheduled_time = r.scheduled_time)`

/** A claimed trigger is taken from its worker: the caller has locked its object, so it is not firing. */
const moving = (businessId: number, update: MovedUpdate[], now: Temporal.Instant) => sql`
  update pending_trigger w
  set anchor_time = r.anchor_time, scheduled_time = r.scheduled_time,
      next_attempt_time = case
        when r.approval_id is not null or w.next_attempt_time = ${HELD_UNTIL} and ${staysHeld}
        then ${HELD_UNTIL} else r.scheduled_time end,
      approval_id = case when ${staysHeld} then w.approval_id else r.approval_id end,
      defn_version = r.defn_version,
      fire_now = false, fired_by = null, worker = null, attempts = 0, last_error = null, modified_date = ${now}, modified_user = 'SYSTEM'
  from ${rowTable(MOVED_COLUMNS, update)}
  where w.business_id = ${businessId} and w.event_trigger_id = r.event_trigger_id`

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
