import type { TriggerStatus } from '../contract/event-trigger.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { columnsFor, rowTable } from './rows.ts'

/** A trigger that a worker has taken. */
export type ClaimedTrigger = {
  businessId: number
  eventTriggerId: number
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
  fireNow: boolean
  /** How many attempts failed before this claim, with it among others or alone. */
  attempts: number
}

const columns = sql`
  w.business_id as "businessId", w.event_trigger_id as "eventTriggerId",
  w.event_defn_id as "eventDefnId", w.defn_version as "defnVersion",
  w.object_type as "objectType", w.object_id as "objectId", w.object_uuid as "objectUUId",
  w.occurrence, w.old_status as "oldStatus", w.new_status as "newStatus",
  w.anchor_time as "anchorTime", w.scheduled_time as "scheduledTime", w.fire_now as "fireNow",
  due.attempts`

export type Claim = {
  worker: string
  now: Temporal.Instant
  leaseUntil: Temporal.Instant
  limit: number
  /** What more workers than this have begun with is passed over. */
  maxAttempts: number
}

/** No matter how many. */
export const ANY_ATTEMPTS = 2_147_483_647

/**
 * Takes up to `limit` due triggers for this worker. A lease that is not renewed falls to another.
 * `from` passes over what was done long ago: while somebody reads an old state of the database, its
 * traces cannot be cleared away, and a queue that began at its beginning would walk over all of them.
 */
export function claimDueTriggers(db: Db, claim: Claim, from: Temporal.Instant | undefined) {
  return take(
    db,
    claim,
    sql`
      select w.ctid, w.attempts, w.scheduled_time from pending_trigger w
      where ${isFree} and w.scheduled_time <= ${claim.now}
        and w.scheduled_time >= ${from ?? LONG_AGO} and w.attempts <= ${claim.maxAttempts}
      order by w.scheduled_time
      limit ${claim.limit}
      for update skip locked`,
  )
}

/** In nobody's hands. */
const isFree = sql`w.worker is null`

const LONG_AGO = Temporal.Instant.fromEpochMilliseconds(0)

/** The next businesses after one of them, and whether any of their triggers is due; each by its key. */
export function listBusinessesInTurn(
  db: Db,
  now: Temporal.Instant,
  { after, limit }: { after: number; limit: number },
) {
  return db.query<{ businessId: number; isDue: boolean }>(sql`
    select b.business_id as "businessId", first.scheduled_time is not null as "isDue"
    from (select business_id from business
          where business_id > ${after} order by business_id limit ${limit}) b
    left join lateral (
      select w.scheduled_time from pending_trigger w
      where w.business_id = b.business_id and ${isFree} and w.scheduled_time <= ${now}
      ${inTurn} limit 1) first on true
    order by b.business_id`)
}

/**
 * Said so that only the index that begins with the business will do: in that of all that is due, the
 * planner would walk over the burst of one for each of the others.
 */
const inTurn = sql`order by w.business_id, w.scheduled_time, w.event_trigger_id`

/** A share for each of these businesses, so that the burst of one does not hold up the others. */
export function claimSharesOf(db: Db, claim: Claim, businessIds: number[], share: number) {
  return take(
    db,
    claim,
    sql`
      select d.* from unnest(${businessIds}::bigint[]) as b (business_id)
      cross join lateral (
        select w.ctid, w.attempts, w.scheduled_time from pending_trigger w
        where w.business_id = b.business_id and ${isFree} and w.scheduled_time <= ${claim.now}
          and w.attempts <= ${claim.maxAttempts}
        ${inTurn} limit ${share}
        for update skip locked) d`,
  )
}

/**
 * The first worker to take a trigger counts at once; later ones when they begin with it. Changes
 * nothing that an index knows. Does not wait for the disk: a claim that a crash of the database loses
 * was never made, and what its worker writes is refused.
 */
function take(db: Db, { worker, leaseUntil }: Claim, due: Sql) {
  return db.query<ClaimedTrigger>(
    sql`
      with due as materialized (${due}), held as (
        insert into worker_lease (worker, lease_until, latest)
        select ${worker}, ${leaseUntil}, max(scheduled_time) from due having count(*) > 0
        on conflict (worker) do update
        set lease_until = excluded.lease_until, latest = greatest(worker_lease.latest, excluded.latest)
      )
      update pending_trigger w
      set worker = ${worker}, attempts = greatest(due.attempts, 1)
      from (select set_config('synchronous_commit', 'off', true) as waits) disk, due
      where w.ctid = due.ctid and disk.waits = 'off'
      returning ${columns}`,
  )
}

/** Says that this worker begins with a trigger over which others died: is it still its own? */
export async function beginAlone(db: Db, worker: string, trigger: ClaimedTrigger) {
  const rows = await db.query(sql`
    update pending_trigger w set attempts = attempts + 1
    where ${isOf(trigger)} and w.worker = ${worker}
    returning w.event_trigger_id`)
  return rows.length > 0
}

const isOf = ({
  businessId,
  eventTriggerId,
}: Pick<ClaimedTrigger, 'businessId' | 'eventTriggerId'>) => sql`
  w.event_trigger_id = ${eventTriggerId} and w.business_id = ${businessId}`

/**
 * Triggers that failed are retried when their lease has run out. They leave their worker's lane for
 * one of their own that is not renewed: a busy worker would hold them for ever.
 */
export function leaveToLease(
  db: Db,
  worker: string,
  triggers: ClaimedTrigger[],
  { leaseUntil, attempts, lastError }: Failure,
) {
  const apart = `${worker} with ${triggers[0]!.eventTriggerId}`
  return db.query(sql`
    with parted as (
      update pending_trigger w set worker = ${apart}, attempts = k.attempts, last_error = ${lastError}
      from unnest(${triggers.map((trigger) => trigger.businessId)}::bigint[],
                  ${triggers.map((trigger) => trigger.eventTriggerId)}::bigint[],
                  ${attempts}::int[]) as k (business_id, event_trigger_id, attempts)
      where w.event_trigger_id = k.event_trigger_id and w.business_id = k.business_id
        and w.worker = ${worker}
      returning w.scheduled_time
    )
    insert into worker_lease (worker, lease_until, latest)
    select ${apart}, ${leaseUntil}, max(scheduled_time) from parted having count(*) > 0
    on conflict (worker) do update
    set lease_until = excluded.lease_until, latest = greatest(worker_lease.latest, excluded.latest)`)
}

/** `attempts`: how many attempts of each trigger have failed now. */
type Failure = { leaseUntil: Temporal.Instant; attempts: number[]; lastError: string }

/**
 * Those of the claimed that still are this worker's, kept so until the transaction ends. Whose object
 * moved since was taken out of its hands.
 */
export async function lockClaimed(tx: Db, worker: string, claimed: ClaimedTrigger[]) {
  const rows = await tx.query<{ id: number }>(
    sql`
      select w.event_trigger_id as id
      from unnest(${claimed.map((trigger) => trigger.businessId)}::bigint[],
                  ${claimed.map((trigger) => trigger.eventTriggerId)}::bigint[])
        as k (business_id, event_trigger_id)
      cross join lateral (
        select w.event_trigger_id from pending_trigger w
        where w.event_trigger_id = k.event_trigger_id and w.business_id = k.business_id
        and w.worker = ${worker}
        limit 1 for update) w`,
  )
  return new Set(rows.map((row) => row.id))
}

/** What becomes of a trigger that a worker took. */
export type Ending = {
  businessId: number
  eventTriggerId: number
  /** SCHEDULED: it waits again. RUNNING: its mails are made and wait to be sent. */
  status: TriggerStatus
  statusReason: string | null
  /** When it was due. */
  scheduledTime: Temporal.Instant
  /** Where a definition that was saved since asks for another time: that. */
  plan: Pick<ClaimedTrigger, 'defnVersion' | 'anchorTime' | 'scheduledTime'> | null
}

/**
 * Records how a batch ended; leaves with the next statement or the commit. What is no longer this
 * worker's is left alone.
 */
export function endTriggers(tx: Db, worker: string, endings: Ending[], now: Temporal.Instant) {
  const again = endings.filter((ending) => ending.status === 'SCHEDULED')
  const ended = again.length > 0 ? endings.filter((one) => one.status !== 'SCHEDULED') : endings
  if (again.length > 0) tx.send(waitingAgain(worker, again, now))
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
})

const isEnded = (worker: string) => sql`
  w.event_trigger_id = r.event_trigger_id and w.business_id = r.business_id
  and w.worker = ${worker}`

const planned = sql`
  r.defn_version as planned_version, r.anchor_time as planned_anchor, r.scheduled_time as planned_time`

const waitingAgain = (worker: string, endings: Ending[], now: Temporal.Instant) => sql`
  update pending_trigger w
  set defn_version = coalesce(r.defn_version, w.defn_version),
      anchor_time = coalesce(r.anchor_time, w.anchor_time),
      scheduled_time = coalesce(r.scheduled_time, w.scheduled_time),
      worker = null, attempts = 0, last_error = null, modified_date = ${now}, modified_user = 'SYSTEM'
  from ${asEnded(endings)} where ${isEnded(worker)}`

/**
 * What waits no longer is recorded with what became of it. `gone` is what was deleted from `waiting`,
 * with a status and its reason.
 */
export const recordEnded = (
  gone: Sql,
  { user, now }: { user: string; now: Temporal.Instant },
) => sql`
  insert into event_trigger (business_id, event_trigger_id, event_defn_id, defn_version, object_type,
    object_id, object_uuid, occurrence, old_status, new_status, anchor_time, scheduled_time, fire_now,
    status, status_reason, completed_time, created_date, created_user, modified_date, modified_user)
  select business_id, event_trigger_id, event_defn_id, coalesce(planned_version, defn_version),
         object_type, object_id, object_uuid, occurrence, old_status, new_status,
         coalesce(planned_anchor, anchor_time), coalesce(planned_time, scheduled_time), fire_now,
         status, status_reason, case status when 'COMPLETED' then ${now}::timestamptz end,
         created_date, created_user, ${now}, ${user}
  from ${gone} gone`

/** For `gone`: it ends as it was planned. */
export const asPlanned = sql`
  null::bigint as planned_version, null::timestamptz as planned_anchor, null::timestamptz as planned_time`

/** Who is long silent in a transaction is taken for frozen, and loses it. */
export const keepTransactionAlive = (tx: Db) => tx.query(sql`select`)

/** After so many failed attempts with no other trigger a trigger is given up, and shown. */
const MOST_ALONE = 3

/** How the reason of a trigger begins that was given up because its attempts failed. */
export const GAVE_UP = `gave up after ${MOST_ALONE} failed attempts: `

const WORKER_DIED = 'the worker died or lost its lease'

const MOST_TAKEN_BACK = 5_000

/**
 * Work whose worker is gone is free again; what took several workers down is not tried on. Passes
 * over rows that a frozen worker still holds: its lane is there until all of them are free.
 */
export async function takeOverTriggers(db: Db, now: Temporal.Instant) {
  const [row] = await db.query<{ count: number }>(sql`
    with lanes as (
      select ctid, worker, latest from worker_lease where lease_until < ${now} for update skip locked
    ), lost as (
      select w.* from lanes cross join lateral (
        select w.ctid, w.attempts > ${MOST_ALONE} as deadly from pending_trigger w
        where ${isInHandOf(sql`lanes`)}
        limit ${MOST_TAKEN_BACK}
        for update skip locked) w
    ), forgotten as (
      -- Only as it was when this statement began: what a lane took since is not seen here.
      delete from worker_lease using lanes
      where worker_lease.ctid = lanes.ctid
        and (select true from pending_trigger w where ${isInHandOf(sql`lanes`)} limit 1) is null
    ), freed as (
      update pending_trigger w set worker = null, modified_date = ${now}, modified_user = 'SYSTEM'
      from lost where w.ctid = lost.ctid and not lost.deadly
    ), aside as (
      delete from pending_trigger w using lost where w.ctid = lost.ctid and lost.deadly
      returning w.*, 'FAILED' as status,
                ${GAVE_UP} || coalesce(w.last_error, ${WORKER_DIED}) as status_reason, ${asPlanned}
    ), recorded as (${recordEnded(sql`aside`, { user: 'SYSTEM', now })} on conflict do nothing)
    select count(*) from lost`)
  return row!.count
}

/** There is no index for what a lane has in its hands: it is looked for among what is due, seldom. */
const isInHandOf = (lane: Sql) => sql`
  w.scheduled_time <= ${lane}.latest and w.worker = ${lane}.worker`

/** Says that this worker lives. */
export const renewTriggerLeases = (db: Db, workers: string[], leaseUntil: Temporal.Instant) =>
  db.query(sql`
    update worker_lease set lease_until = ${leaseUntil} where worker = any (${workers}::text[])`)

/**
 * Puts back what this worker took and did not end, with the failed attempts it had before: another
 * node takes it at once. If the answer to a claim was lost, `claimed` lacks what it took.
 */
export const releaseTriggers = (db: Db, worker: string, claimed: ClaimedTrigger[]) =>
  db.query(sql`
    update pending_trigger w
    set worker = null,
        attempts = coalesce(
          (select k.attempts
           from unnest(${claimed.map((trigger) => trigger.eventTriggerId)}::bigint[],
                       ${claimed.map((trigger) => trigger.attempts)}::int[]) as k (id, attempts)
           where k.id = w.event_trigger_id),
          case w.attempts when 1 then 0 else w.attempts end)
    from worker_lease
    where worker_lease.worker = ${worker} and ${isInHandOf(sql`worker_lease`)}`)

/** The next moment at which something is due that may be claimed, of those not before `from`. */
export async function nextDueTime(db: Db, maxAttempts: number, from?: Temporal.Instant) {
  const [row] = await db.query<{ next: Temporal.Instant | null }>(
    sql`
      select min(w.scheduled_time) as next from pending_trigger w
      where ${isFree} and w.scheduled_time >= ${from ?? LONG_AGO} and w.attempts <= ${maxAttempts}`,
  )
  return row!.next
}
