import type { TriggerStatus } from '../contract/event-trigger.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

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
}

const columns = sql`
  t.business_id as "businessId", t.event_trigger_id as "eventTriggerId",
  t.event_defn_id as "eventDefnId", t.defn_version as "defnVersion",
  t.object_type as "objectType", t.object_id as "objectId", t.object_uuid as "objectUUId",
  t.occurrence, t.old_status as "oldStatus", t.new_status as "newStatus",
  t.anchor_time as "anchorTime", t.scheduled_time as "scheduledTime", t.fire_now as "fireNow"`

export type Claim = {
  worker: string
  now: Temporal.Instant
  leaseUntil: Temporal.Instant
  limit: number
}

/** Takes up to `limit` due triggers for this worker. A lease that is not renewed falls to another. */
export function claimDueTriggers(db: Db, { worker, now, leaseUntil, limit }: Claim) {
  return db.query<ClaimedTrigger>(sql`
    with due as (
      select business_id, event_trigger_id from event_trigger
      where status = 'SCHEDULED' and scheduled_time <= ${now}
      order by scheduled_time
      limit ${limit}
      for update skip locked
    )
    update event_trigger t
    set status = 'RUNNING', lease_worker = ${worker}, lease_until = ${leaseUntil},
        claims = claims + 1, modified_date = ${now}, modified_user = 'SYSTEM'
    from due
    where (t.business_id, t.event_trigger_id) = (due.business_id, due.event_trigger_id)
    returning ${columns}`)
}

/**
 * The same when more is due than one batch holds: a share for each business, beginning after
 * `afterBusiness`, so that the herd of one does not hold up the others.
 */
export function claimDueTriggersInTurn(
  db: Db,
  { worker, now, leaseUntil, limit }: Claim,
  afterBusiness: number,
  share: number,
) {
  return db.query<ClaimedTrigger>(sql`
    with recursive businesses as (
      (select business_id, 1 as place from event_trigger
       where status = 'SCHEDULED' and business_id > ${afterBusiness} order by business_id limit 1)
      union all
      select next.business_id, place + 1 from businesses b,
        lateral (select business_id from event_trigger
                 where status = 'SCHEDULED' and business_id > b.business_id
                 order by business_id limit 1) next
      where place < ${Math.ceil(limit / share)}
    ), due as (
      select d.business_id, d.event_trigger_id from businesses b, lateral (
        select t.business_id, t.event_trigger_id from event_trigger t
        where t.status = 'SCHEDULED' and t.business_id = b.business_id and t.scheduled_time <= ${now}
        order by t.scheduled_time limit ${share}
        for update skip locked) d
    )
    update event_trigger t
    set status = 'RUNNING', lease_worker = ${worker}, lease_until = ${leaseUntil},
        claims = claims + 1, modified_date = ${now}, modified_user = 'SYSTEM'
    from due
    where (t.business_id, t.event_trigger_id) = (due.business_id, due.event_trigger_id)
    returning ${columns}`)
}

/** Those of the claimed that still are this worker's, kept so until the transaction ends. */
export async function lockClaimed(tx: Db, worker: string, claimed: ClaimedTrigger[]) {
  const rows = await tx.query<{ id: number }>(sql`
    select t.event_trigger_id as id
    from event_trigger t
    join unnest(${claimed.map((trigger) => trigger.businessId)}::bigint[],
                ${claimed.map((trigger) => trigger.eventTriggerId)}::bigint[])
      as c (business_id, event_trigger_id) using (business_id, event_trigger_id)
    where t.status = 'RUNNING' and t.lease_worker = ${worker} and t.lease_until is not null
    for update of t`)
  return new Set(rows.map((row) => row.id))
}

/** What becomes of a trigger that a worker took. */
export type Ending = {
  businessId: number
  eventTriggerId: number
  /** SCHEDULED: its time moved meanwhile. RUNNING: its mails are made and wait to be sent. */
  status: Exclude<TriggerStatus, never>
  statusReason: string | null
  defnVersion: number
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
}

/** Records how a batch ended. A row whose lease went to another worker is left alone. */
export async function endTriggers(
  tx: Db,
  worker: string,
  endings: Ending[],
  now: Temporal.Instant,
) {
  if (endings.length === 0) return
  const of = <Key extends keyof Ending>(key: Key) => endings.map((ending) => ending[key])
  await tx.query(sql`
    update event_trigger t
    set status = e.status, status_reason = e.status_reason, defn_version = e.defn_version,
        anchor_time = e.anchor_time, scheduled_time = e.scheduled_time,
        lease_worker = null, lease_until = null,
        completed_time = case e.status when 'COMPLETED' then ${now}::timestamptz end,
        modified_date = ${now}, modified_user = 'SYSTEM'
    from unnest(${of('businessId')}::bigint[], ${of('eventTriggerId')}::bigint[],
                ${of('status')}::text[], ${of('statusReason')}::text[], ${of('defnVersion')}::bigint[],
                ${of('anchorTime')}::timestamptz[], ${of('scheduledTime')}::timestamptz[])
      as e (business_id, event_trigger_id, status, status_reason, defn_version, anchor_time, scheduled_time)
    where (t.business_id, t.event_trigger_id) = (e.business_id, e.event_trigger_id)
      and t.status = 'RUNNING' and t.lease_worker = ${worker}`)
}

/** How the reason begins of what was given up because it took its workers down. */
export const SET_ASIDE = 'set aside: '

/** After so many workers that did not come back a trigger is set aside, and shown. */
const MOST_CLAIMS = 3

/** Work whose worker is gone is free again; what took several workers down is not tried on. */
export async function takeBackTriggers(db: Db, now: Temporal.Instant) {
  const rows = await db.query<{ status: TriggerStatus }>(sql`
    update event_trigger
    set status = case when claims >= ${MOST_CLAIMS} then 'FAILED' else 'SCHEDULED' end,
        status_reason = case when claims >= ${MOST_CLAIMS}
          then ${SET_ASIDE} || claims || ' workers died over it' end,
        lease_worker = null, lease_until = null, modified_date = ${now}, modified_user = 'SYSTEM'
    where status = 'RUNNING' and lease_until < ${now}
    returning status`)
  return rows.length
}

/** Says that this worker lives; gives back how many leases it holds. */
export function renewTriggerLeases(db: Db, worker: string, leaseUntil: Temporal.Instant) {
  return db.query(sql`
    update event_trigger set lease_until = ${leaseUntil}
    where status = 'RUNNING' and lease_worker = ${worker} and lease_until is not null`)
}

/** Puts back what this worker took and did not begin: another node takes it at once. */
export function giveBackTriggers(db: Db, worker: string) {
  return db.query(sql`
    update event_trigger
    set status = 'SCHEDULED', lease_worker = null, lease_until = null, claims = claims - 1
    where status = 'RUNNING' and lease_worker = ${worker} and lease_until is not null`)
}

/** The next moment at which something is due. */
export async function nextDueTime(db: Db) {
  const [row] = await db.query<{ next: Temporal.Instant | null }>(sql`
    select min(scheduled_time) as next from event_trigger where status = 'SCHEDULED'`)
  return row!.next
}
