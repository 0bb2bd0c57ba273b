import type { TriggerStatus } from '../contract/event-trigger.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { kept, sql, type Sql } from '../database/sql.ts'

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
  /** How many workers did not come back with it. */
  strikes: number
}

const columns = sql`
  t.business_id as "businessId", t.event_trigger_id as "eventTriggerId",
  t.event_defn_id as "eventDefnId", t.defn_version as "defnVersion",
  t.object_type as "objectType", t.object_id as "objectId", t.object_uuid as "objectUUId",
  t.occurrence, t.old_status as "oldStatus", t.new_status as "newStatus",
  t.anchor_time as "anchorTime", t.scheduled_time as "scheduledTime", t.fire_now as "fireNow",
  due.claims as strikes`

export type Claim = {
  worker: string
  now: Temporal.Instant
  leaseUntil: Temporal.Instant
  limit: number
}

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
      select business_id, event_trigger_id, claims, scheduled_time from event_trigger
      where ${isFree} and scheduled_time <= ${claim.now}
        and scheduled_time >= ${from ?? LONG_AGO}
      order by scheduled_time
      limit ${claim.limit}
      for update skip locked`,
  )
}

/** Its index holds what is in a worker's hands too. */
const isFree = sql`filed_as = 'SCHEDULED' and status = 'SCHEDULED'`

/**
 * The same of one business, said so that only the index that begins with the business will do: in that
 * of all that is due, the planner would walk over the herd of one for each of the others.
 */
const isFreeOfBusiness = sql`
  t.business_id = b.business_id and t.filed_as = free.status and t.status = free.status`
const FREE = sql`unnest(array['SCHEDULED']) as free (status)`

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
    cross join ${FREE}
    left join lateral (
      select t.scheduled_time from event_trigger t
      where ${isFreeOfBusiness} and t.scheduled_time <= ${now}
      order by t.scheduled_time limit 1) first on true
    order by b.business_id`)
}

/** A share for each of these businesses, so that the herd of one does not hold up the others. */
export function claimSharesOf(db: Db, claim: Claim, businessIds: number[], share: number) {
  return take(
    db,
    claim,
    sql`
      select d.* from unnest(${businessIds}::bigint[]) as b (business_id) cross join ${FREE}
      cross join lateral (
        select t.business_id, t.event_trigger_id, t.claims, t.scheduled_time from event_trigger t
        where ${isFreeOfBusiness} and t.scheduled_time <= ${claim.now}
        order by t.scheduled_time limit ${share}
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
    kept(sql`
      with due as materialized (${due}), held as (
        insert into lane (worker, lease_until, latest)
        select ${worker}, ${leaseUntil}, max(scheduled_time) from due having count(*) > 0
        on conflict (worker) do update
        set lease_until = excluded.lease_until, latest = greatest(lane.latest, excluded.latest)
      )
      update event_trigger t
      set status = 'RUNNING', lease_worker = ${worker}, claims = greatest(due.claims, 1)
      from (select set_config('synchronous_commit', 'off', true) as waits) disk, due
      where (t.business_id, t.event_trigger_id) = (due.business_id, due.event_trigger_id)
        and disk.waits = 'off'
      returning ${columns}`),
  )
}

/** Says that this worker begins with a trigger over which others died: is it still its own? */
export async function beginAlone(db: Db, worker: string, trigger: ClaimedTrigger) {
  const rows = await db.query(sql`
    update event_trigger set claims = claims + 1
    where business_id = ${trigger.businessId} and event_trigger_id = ${trigger.eventTriggerId}
      and status = 'RUNNING' and lease_worker = ${worker}
    returning event_trigger_id`)
  return rows.length > 0
}

/**
 * One that fails by itself leaves its worker's lane for a lane of its own, which nobody renews: a busy
 * worker would keep it in hand for good.
 */
export function leaveToItsLease(
  db: Db,
  worker: string,
  { businessId, eventTriggerId }: ClaimedTrigger,
  leaseUntil: Temporal.Instant,
) {
  const alone = `${worker} with ${eventTriggerId}`
  return db.query(sql`
    with parted as (
      update event_trigger set lease_worker = ${alone}
      where business_id = ${businessId} and event_trigger_id = ${eventTriggerId}
        and status = 'RUNNING' and lease_worker = ${worker}
      returning scheduled_time
    )
    insert into lane (worker, lease_until, latest)
    select ${alone}, ${leaseUntil}, scheduled_time from parted
    on conflict (worker) do update
    set lease_until = excluded.lease_until, latest = greatest(lane.latest, excluded.latest)`)
}

/**
 * Those of the claimed that still are this worker's, kept so until the transaction ends; with each,
 * since when its object asks for another time, where it does. What a row must be stands in a case,
 * else the planner may read all that runs, for each.
 */
export async function lockClaimed(tx: Db, worker: string, claimed: ClaimedTrigger[]) {
  const rows = await tx.query<{ id: number; replanSince: Temporal.Instant | null }>(
    kept(sql`
      select t.event_trigger_id as id, t.replan_since as "replanSince"
      from unnest(${claimed.map((trigger) => trigger.businessId)}::bigint[],
                  ${claimed.map((trigger) => trigger.eventTriggerId)}::bigint[])
        as k (business_id, event_trigger_id)
      cross join lateral (
        select t.event_trigger_id, t.replan_since from event_trigger t
        where t.business_id = k.business_id and t.event_trigger_id = k.event_trigger_id
          and case when t.status = 'RUNNING' and t.lease_worker = ${worker} then true end
        limit 1 for update) t`),
  )
  return new Map(rows.map((row) => [row.id, { replanSince: row.replanSince }]))
}

/** What becomes of a trigger that a worker took. */
export type Ending = {
  businessId: number
  eventTriggerId: number
  /** SCHEDULED: its time moved meanwhile. RUNNING: its mails are made and wait to be sent. */
  status: TriggerStatus
  statusReason: string | null
  /** When it was due. */
  scheduledTime: Temporal.Instant
  /** Where a definition that was saved since asks for another time: that. */
  plan: Pick<ClaimedTrigger, 'defnVersion' | 'anchorTime' | 'scheduledTime'> | null
}

/**
 * Records how a batch ended; leaves with the next statement or the commit. A row whose lease went to
 * another worker is left alone.
 */
export function endTriggers(tx: Db, worker: string, endings: Ending[], now: Temporal.Instant) {
  if (endings.length === 0) return
  const of = <Key extends keyof Ending>(key: Key) => endings.map((ending) => ending[key])
  const planned = <Key extends keyof NonNullable<Ending['plan']>>(key: Key) =>
    endings.map(({ plan }) => (plan ? plan[key] : null))
  tx.send(
    kept(sql`
      update event_trigger t
      set status = e.status, status_reason = e.status_reason,
          defn_version = coalesce(e.defn_version, t.defn_version),
          anchor_time = coalesce(e.anchor_time, t.anchor_time),
          scheduled_time = coalesce(e.scheduled_time, t.scheduled_time),
          lease_worker = null,
          completed_time = case e.status when 'COMPLETED' then ${now}::timestamptz end,
          modified_date = ${now}, modified_user = 'SYSTEM'
      from unnest(${of('businessId')}::bigint[], ${of('eventTriggerId')}::bigint[],
                  ${of('status')}::text[], ${of('statusReason')}::text[],
                  ${planned('defnVersion')}::bigint[], ${planned('anchorTime')}::timestamptz[],
                  ${planned('scheduledTime')}::timestamptz[])
        as e (business_id, event_trigger_id, status, status_reason, defn_version, anchor_time, scheduled_time)
      where (t.business_id, t.event_trigger_id) = (e.business_id, e.event_trigger_id)
        -- In a case, so that each is found by its key and not all that runs is read for each.
        and case when t.status = 'RUNNING' and t.lease_worker = ${worker} then true end`),
  )
}

/** Who is long silent in a transaction is taken for frozen, and loses it. */
export const stayAwake = (tx: Db) => tx.query(sql`select`)

/** How the reason begins of what was given up because it took its workers down. */
export const SET_ASIDE = 'set aside: '

/** After so many workers that died with nothing else in hand a trigger is set aside, and shown. */
const MOST_ALONE = 3
const MOST_TAKEN_BACK = 5_000

/**
 * Work whose worker is gone is free again; what took several workers down is not tried on. Passes
 * over rows that a frozen worker still holds: its lane is there until all of them are free.
 */
export async function takeBackTriggers(db: Db, now: Temporal.Instant) {
  const rows = await db.query(sql`
    with gone as (
      select ctid, worker, latest from lane where lease_until < ${now} for update skip locked
    ), lost as (
      select t.* from gone cross join lateral (
        select business_id, event_trigger_id, claims > ${MOST_ALONE} as deadly from event_trigger t
        where ${isInHandOf(sql`gone`)}
        limit ${MOST_TAKEN_BACK}
        for update skip locked) t
    ), forgotten as (
      -- Only as it was when this statement began: what a lane took since is not seen here.
      delete from lane using gone
      where lane.ctid = gone.ctid
        and (select true from event_trigger t where ${isInHandOf(sql`gone`)} limit 1) is null
    )
    update event_trigger t
    set status = case when deadly then 'FAILED' else 'SCHEDULED' end,
        status_reason = case when deadly
          then ${SET_ASIDE} || claims - 1 || ' workers died over it' end,
        lease_worker = null, modified_date = ${now}, modified_user = 'SYSTEM'
    from lost
    where (t.business_id, t.event_trigger_id) = (lost.business_id, lost.event_trigger_id)
    returning t.event_trigger_id`)
  return rows.length
}

/** There is no index for what a lane has in its hands: it is looked for among what is due, seldom. */
const isInHandOf = (lane: Sql) => sql`
  t.filed_as = 'SCHEDULED' and t.scheduled_time <= ${lane}.latest and t.lease_worker = ${lane}.worker`

/** Says that this worker lives. */
export const renewTriggerLeases = (db: Db, workers: string[], leaseUntil: Temporal.Instant) =>
  db.query(sql`
    update lane set lease_until = ${leaseUntil} where worker = any (${workers}::text[])`)

/** Puts back what this worker took and did not begin: another node takes it at once. */
export const giveBackTriggers = (db: Db, worker: string) =>
  db.query(sql`
    update event_trigger t
    set status = 'SCHEDULED', lease_worker = null,
        claims = case t.claims when 1 then 0 else t.claims end
    from lane
    where lane.worker = ${worker} and ${isInHandOf(sql`lane`)}`)

/** The next moment at which something is due, of those not before `from`. */
export async function nextDueTime(db: Db, from?: Temporal.Instant) {
  const [row] = await db.query<{ next: Temporal.Instant | null }>(
    kept(sql`
      select min(scheduled_time) as next from event_trigger
      where ${isFree} and scheduled_time >= ${from ?? LONG_AGO}`),
  )
  return row!.next
}
