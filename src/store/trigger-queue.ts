import { REASONS, reasonText } from '../contract/reasons.ts'
import type { TriggerStatus } from '../contract/event-trigger.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { expiresAtRelease } from './installation.ts'
import {
  claimDue,
  lockRowsOfExpired,
  type Claim,
  type ExpiredLease,
  type Queue,
  type RowsToClaim,
} from './queue.ts'
import { columnsFor, rowTable, type By } from './rows.ts'

export type TriggerKey = { businessId: number; eventTriggerId: number }

/** What a trigger is about, and when it is due. */
export type PlannedTrigger = {
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
}

export type ClaimedTrigger = PlannedTrigger & {
  businessId: number
  eventTriggerId: number
  /** Its scheduled time, or later after an attempt that must be repeated. */
  nextAttemptTime: Temporal.Instant
  fireNow: boolean
  /** When the approval that it waited for was released. */
  releasedTime: Temporal.Instant | null
  /** How many attempts failed, together with other triggers or alone. */
  attempts: number
  /** It was due before the database was restored, and the release expires such triggers. */
  isExpired: boolean
}

const columns = sql`
  business_id as "businessId", event_trigger_id as "eventTriggerId",
  event_defn_id as "eventDefnId", defn_version as "defnVersion",
  object_type as "objectType", object_id as "objectId", object_uuid as "objectUUId",
  occurrence, old_status as "oldStatus", new_status as "newStatus",
  anchor_time as "anchorTime", scheduled_time as "scheduledTime",
  next_attempt_time as "nextAttemptTime", fire_now as "fireNow", released_time as "releasedTime",
  attempts, ${expiresAtRelease(sql`next_attempt_time`)} as "isExpired"`

/** A trigger is given up after this many failed attempts without another trigger in its batch. */
const MAX_ATTEMPTS_ALONE = 3

/** Pending triggers without a failed attempt, which are claimed in batches. */
export const TRIGGER_QUEUE: Queue = {
  table: sql`pending_trigger`,
  condition: sql`and q.attempts = 0`,
  ofBusiness: (now) => ({
    isDue: sql`q.scheduled_time <= ${now} and q.next_attempt_time <= ${now}`,
    order: sql`q.business_id, q.scheduled_time, q.event_trigger_id`,
  }),
  shareOrder: sql`q.business_id, q.scheduled_time, q.event_trigger_id`,
  onClaim: empty,
  isClaimDurable: false,
}

/** Pending triggers with failed attempts, which are claimed one at a time. */
export const FAILED_TRIGGER_QUEUE: Queue = { ...TRIGGER_QUEUE, condition: sql`and q.attempts > 0` }

/** The same, without those that one more failed attempt gives up. */
export const REPEATABLE_TRIGGER_QUEUE: Queue = {
  ...TRIGGER_QUEUE,
  condition: sql`and q.attempts > 0 and q.attempts < ${MAX_ATTEMPTS_ALONE}`,
}

/** Due triggers of events that begin within an hour. Reads all due ones of a business. */
export const URGENT_TRIGGER_QUEUE: Queue = {
  ...TRIGGER_QUEUE,
  ofBusiness: (now) => {
    const { isDue, order } = TRIGGER_QUEUE.ofBusiness(now)
    const isUrgent = sql`q.anchor_time > ${now} and q.anchor_time <= ${now.add({ hours: 1 })}`
    return { isDue: sql`${isDue} and ${isUrgent}`, order }
  },
  shareOrder: sql`q.anchor_time`,
}

export const claimDueTriggers = (db: Db, queue: Queue, claim: Claim, rows?: RowsToClaim) =>
  db.query<ClaimedTrigger>(sql`with ${claimDue(queue, claim, rows)} select ${columns} from claimed`)

/**
 * Locks the claimed triggers that this worker still holds; returns their ids. Without those that another
 * transaction has locked, such as a save that moves them.
 */
export async function lockClaimed(tx: Db, worker: string, claimed: ClaimedTrigger[]) {
  const rows = await tx.query<{ id: number }>(
    sql`
      select w.event_trigger_id as id
      from ${keysOf(claimed)}
      cross join lateral (
        select w.event_trigger_id from pending_trigger w
        where w.business_id = k.business_id and w.event_trigger_id = k.event_trigger_id
          and w.worker = ${worker}
        limit 1 for update skip locked) w`,
  )
  return new Set(rows.map((row) => row.id))
}

/** Sorted in the order in which every transaction locks them. */
function keysOf(triggers: TriggerKey[]) {
  const sorted = triggers.toSorted(
    (a, b) => a.businessId - b.businessId || a.eventTriggerId - b.eventTriggerId,
  )
  return sql`
    unnest(${sorted.map((trigger) => trigger.businessId)}::bigint[],
           ${sorted.map((trigger) => trigger.eventTriggerId)}::bigint[])
      as k (business_id, event_trigger_id)`
}

export type Ending = {
  businessId: number
  eventTriggerId: number
  /** SCHEDULED: it is pending again. RUNNING: its mails are made and queued. */
  status: TriggerStatus
  statusReason: string | null
  scheduledTime: Temporal.Instant
  /** The new plan, if the definition or quiet hours changed its time since. */
  plan: Pick<ClaimedTrigger, 'defnVersion' | 'anchorTime' | 'scheduledTime'> | null
  /** With SCHEDULED: the next attempt, if that is later than the scheduled time. */
  notBefore: Temporal.Instant | null
}

/**
 * Records how a batch ended; sent with the next statement or the commit. Skips triggers that this
 * worker no longer holds.
 */
export function endTriggers(tx: Db, worker: string, endings: Ending[], now: Temporal.Instant) {
  const postponed = endings.filter((ending) => ending.status === 'SCHEDULED')
  const ended = postponed.length > 0 ? endings.filter((one) => one.status !== 'SCHEDULED') : endings
  if (postponed.length > 0) tx.send(postpone(worker, postponed, now))
  if (ended.length === 0) return
  const gone = sql`
    delete from pending_trigger w using ${asEnded(ended)}
    where ${isEnded(worker)}
    returning w.*, r.status, r.status_reason, ${planned}`
  tx.send(sql`with gone as (${gone}) ${recordEnded(sql`gone`, { user: 'SYSTEM', now })}`)
}

const asEnded = (endings: Ending[]) =>
  rowTable(
    ENDING_COLUMNS,
    endings.map(({ plan, ...ending }) => ({ ...ending, ...(plan ?? NO_PLAN) })),
  )

const NO_PLAN = { defnVersion: null, anchorTime: null, scheduledTime: null }

const ENDING_COLUMNS = columnsFor<Omit<Ending, 'plan'> & NonNullable<Ending['plan']>>({
  businessId: 'bigint',
  eventTriggerId: 'bigint',
  status: 'text',
  statusReason: 'text',
  defnVersion: 'bigint',
  anchorTime: 'timestamptz',
  scheduledTime: 'timestamptz',
  notBefore: 'timestamptz',
})

const isEnded = (worker: string) => sql`
  w.business_id = r.business_id and w.event_trigger_id = r.event_trigger_id
  and w.worker = ${worker}`

const planned = sql`
  r.defn_version as planned_version, r.anchor_time as planned_anchor, r.scheduled_time as planned_time`

const postpone = (worker: string, endings: Ending[], now: Temporal.Instant) => sql`
  update pending_trigger w
  set defn_version = coalesce(r.defn_version, w.defn_version),
      anchor_time = coalesce(r.anchor_time, w.anchor_time),
      scheduled_time = coalesce(r.scheduled_time, w.scheduled_time),
      next_attempt_time = greatest(coalesce(r.scheduled_time, w.scheduled_time), r.not_before),
      worker = null, attempts = 0, last_error = null, modified_date = ${now}, modified_user = 'SYSTEM'
  from ${asEnded(endings)} where ${isEnded(worker)}`

/**
 * Inserts triggers that are no longer pending into the outcome table. `gone` contains the rows that
 * were deleted from `pending_trigger`, with a status and its reason.
 */
export const recordEnded = (gone: Sql, { user, now }: By) => sql`
  insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type,
    object_id, object_uuid, occurrence, old_status, new_status, anchor_time, scheduled_time, fire_now,
    fired_by, released_time, status, status_reason, completed_time, created_date, created_user, modified_date, modified_user)
  select business_id, event_trigger_id, event_defn_id, coalesce(planned_version, defn_version),
         object_type, object_id, object_uuid, occurrence, old_status, new_status,
         coalesce(planned_anchor, anchor_time), coalesce(planned_time, scheduled_time), fire_now,
         fired_by, released_time, status, status_reason, case status when 'COMPLETED' then ${now}::timestamptz end,
         created_date, created_user, ${now}, ${user}
  from ${gone} gone`

/** For `gone`: the trigger keeps its plan. */
export const asPlanned = sql`
  null::bigint as planned_version, null::timestamptz as planned_anchor, null::timestamptz as planned_time`

/** Restarts `idle_in_transaction_session_timeout`. */
export const keepTransactionAlive = (tx: Db) => tx.query(sql`select`)

/** The status reason of a trigger that was given up begins with this. */
export const GAVE_UP = `${reasonText('gaveUpFiring', { count: MAX_ATTEMPTS_ALONE })}: `

const WORKER_DIED = reasonText('workerDied')

/** An attempt that must be repeated. `isFault`: it counts as a failed attempt of each trigger. */
export type FailedAttempt = {
  worker: string
  isFault: boolean
  lastError: string
  /** The backoff; multiplied by the number of failed attempts alone. */
  retrySeconds: number
  now: Temporal.Instant
}

/**
 * Frees triggers whose attempt failed, to be attempted again later, or gives them up. Those that
 * failed had no other trigger in their transaction. Skips those that another transaction has locked, and
 * returns whether there are any: this worker still holds them.
 */
export async function retryTriggers(db: Db, triggers: TriggerKey[], failed: FailedAttempt) {
  const { worker, isFault, lastError, retrySeconds, now } = failed
  const attempts = isFault ? sql`greatest(w.attempts, 1) + 1` : sql`w.attempts`
  const own = sql`
    select w.business_id, w.event_trigger_id, w.attempts from pending_trigger w
    where w.business_id = k.business_id and w.event_trigger_id = k.event_trigger_id
      and w.worker = ${worker}`
  const rows = sql`
    select w.business_id, w.event_trigger_id, ${attempts} as attempts,
           ${isFault ? sql`greatest(w.attempts, 1)` : sql`1`} as waits
    from ${keysOf(triggers)} cross join lateral (${own} limit 1 for update skip locked) w`
  const freed = await retryOrGiveUp(db, rows, { lastError, retrySeconds, now })
  if (freed === triggers.length) return false
  const held = await db.query(
    sql`select from ${keysOf(triggers)} cross join lateral (${own} limit 1) w`,
  )
  return held.length > 0
}

/**
 * Frees all triggers of a worker, as if it had not claimed them. Skips those that another transaction has
 * locked, and returns whether there are any.
 */
export async function releaseTriggers(db: Db, worker: string) {
  const held = sql`
    select w.business_id, w.event_trigger_id from pending_trigger w
    join worker_lease lease on lease.worker = ${worker}
    where w.worker = lease.worker and w.next_attempt_time <= lease.lease_until`
  await db.query(sql`
    update pending_trigger q set worker = null
    where (q.business_id, q.event_trigger_id) in (${held} for update of w skip locked)`)
  return (await db.query(sql`${held} limit 1`)).length > 0
}

/** Frees the triggers of workers whose lease has expired, or gives them up. Returns how many. */
export function takeOverTriggers(
  tx: Db,
  expired: ExpiredLease[],
  { retrySeconds, now }: { retrySeconds: number; now: Temporal.Instant },
) {
  // The lease that expired was the first wait.
  const rows = sql`
    select lost.business_id, lost.event_trigger_id, lost.attempts + 1 as attempts,
           greatest(lost.attempts - 1, 0) as waits
    from (${lockRowsOfExpired(TRIGGER_QUEUE, expired)}) lost`
  return retryOrGiveUp(tx, rows, { lastError: WORKER_DIED, retrySeconds, now })
}

/** `rows`: the key of each trigger, its new number of failed attempts, and a factor for `retrySeconds`. */
async function retryOrGiveUp(
  db: Db,
  rows: Sql,
  { lastError, retrySeconds, now }: Pick<FailedAttempt, 'lastError' | 'retrySeconds' | 'now'>,
) {
  const isGivenUp = sql`failed.attempts > ${MAX_ATTEMPTS_ALONE}`
  // Not by ctid: a row that was updated after this statement began has another one.
  const isOne = sql`w.business_id = failed.business_id and w.event_trigger_id = failed.event_trigger_id`
  const row = await db.getRow<{ count: number }>(sql`
    with failed as materialized (${rows}), retried as (
      update pending_trigger w
      set worker = null, attempts = failed.attempts, last_error = ${lastError},
          next_attempt_time = greatest(w.scheduled_time,
            ${now}::timestamptz + make_interval(secs => ${retrySeconds}::float8 * failed.waits)),
          modified_date = ${now}, modified_user = 'SYSTEM'
      from failed where ${isOne} and not ${isGivenUp}
    ), given_up as (
      delete from pending_trigger w using failed where ${isOne} and ${isGivenUp}
      returning w.*, ${asPlanned}
    ), recorded as (
      ${recordGivenUp('FAILED', GAVE_UP + lastError, now)} on conflict do nothing
      returning event_trigger_id
    ), doubled as (
      ${recordGivenUp('CANCELLED', REASONS.alreadyReminded, now)}
      where event_trigger_id not in (select event_trigger_id from recorded) on conflict do nothing
    )
    select count(*) from failed`)
  return row.count
}

/**
 * A unique key refuses FAILED if the same reminder already has an outcome; it is then CANCELLED. If
 * that is refused too, it is an event trigger whose outcome is already recorded.
 */
const recordGivenUp = (status: TriggerStatus, reason: string, now: Temporal.Instant) => {
  const gone = sql`(select *, ${status}::text as status, ${reason}::text as status_reason from given_up)`
  return recordEnded(gone, { user: 'SYSTEM', now })
}
