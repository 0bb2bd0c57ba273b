import { REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { OPERATOR_PROBLEMS } from './operator-problems.ts'
import { GAVE_UP } from './trigger-queue.ts'

/** The state of the queue, for metrics and the doctor. Counts stop at `MAX_COUNTED`. */
export type QueueHealth = {
  /** How many should have fired a second ago, and since when the oldest is due. */
  overdue: number
  oldestOverdue: Temporal.Instant | null
  /** Triggers claimed by a worker whose lease has expired or is missing, and that no node took over. */
  stuckLeases: number
  /** Saved definitions whose plan is not complete, and when the oldest was saved. */
  unplanned: number
  oldestUnplanned: Temporal.Instant | null
  /** In the last 7 days: triggers that were given up because their attempts failed. */
  gaveUp: number
  /**
   * In the last 24 hours: triggers that ended more than a minute late, and those that expired as
   * a result. After an approval or a pause, a trigger counts as due from then on.
   */
  late: number
  expired: number
  mostLateSeconds: number
  /**
   * Mails that are to be sent, without those that wait on purpose: above a daily limit, in quiet hours, or
   * of businesses whose mail is paused.
   */
  emailsWaiting: number
  oldestWaitingEmail: Temporal.Instant | null
  emailsAboveLimit: number
  pausedBusinesses: number
  /** Failures that only the operator can fix, see `OperatorProblem`. */
  operatorProblems: number
}

const MAX_COUNTED = 100_000

/** Pending triggers that should have been claimed a second ago. */
export const overdueAt = (now: Temporal.Instant) =>
  sql`worker is null and next_attempt_time < ${now.subtract({ seconds: 1 })}`

/** Queued mails that are not postponed on purpose. */
const waiting = (now: Temporal.Instant) => sql`
  from email_queue q join business b using (business_id)
  where (not b.mail_paused or q.is_account)
    and (q.above_limit_until is null or q.above_limit_until <= ${now})
    and (b.quiet_hours is null or q.attempts > 0 or q.next_attempt_time <= ${now})`

/** `leaseSeconds`: the workers' lease. They take over expired leases every quarter of it. */
export async function readQueueHealth(
  db: Db,
  now: Temporal.Instant,
  leaseSeconds: number,
  maxCounted = MAX_COUNTED,
) {
  const takenOverUntil = now.subtract({ milliseconds: leaseSeconds * 500 })
  return db.getRow<QueueHealth>(sql`
    select
      (select count(*) from (
         select from pending_trigger where ${overdueAt(now)} limit ${maxCounted}) due) as overdue,
      (select min(next_attempt_time) from pending_trigger where ${overdueAt(now)}) as "oldestOverdue",
      (select count(*) from (
         select from pending_trigger w left join worker_lease using (worker)
         where w.next_attempt_time <= ${now} and w.worker is not null
           and coalesce(worker_lease.lease_until, '-infinity') < ${takenOverUntil}
         limit ${maxCounted}) stuck) as "stuckLeases",
      (select count(*) from event_definition where planned_version < version) as unplanned,
      (select min(modified_date) from event_definition where planned_version < version) as "oldestUnplanned",
      (select count(*) from event_trigger
       where status = 'FAILED' and modified_date > ${now.subtract({ hours: 7 * 24 })}
         and status_reason like ${`${GAVE_UP}%`}) as "gaveUp",
      (select count(*) from business where mail_paused) as "pausedBusinesses",
      (select count(*) from ${OPERATOR_PROBLEMS}) as "operatorProblems",
      mails.*, late.*
    from (
      select (select count(*) from (select ${waiting(now)} limit ${maxCounted}) q) as "emailsWaiting",
             (select min(q.created_date) ${waiting(now)}) as "oldestWaitingEmail",
             (select count(*) from (
                select from email_queue q where q.above_limit_until > ${now} limit ${maxCounted}) q)
               as "emailsAboveLimit") mails, (
      select count(*) filter (where status <> 'EXPIRED') as late,
             count(*) filter (where status = 'EXPIRED' and ${CAME_LATE}) as expired,
             coalesce(extract(epoch from max(modified_date - due_time)
               filter (where status <> 'EXPIRED' or ${CAME_LATE})), 0)::float8
               as "mostLateSeconds"
      from (
        select t.status, t.status_reason, t.modified_date,
               greatest(t.scheduled_time, t.released_time,
                 case when b.mail_resumed_time <= t.modified_date then b.mail_resumed_time end) as due_time
        from event_trigger t join business b using (business_id)
        where t.status in ('COMPLETED', 'FAILED', 'SKIPPED', 'EXPIRED')
          and t.modified_date - t.scheduled_time > interval '1 minute'
          and t.modified_date > ${now.subtract({ hours: 24 })}) ended
      where modified_date - due_time > interval '1 minute') late`)
}

/** Like the reasons `lateMinutes` and `lateHours`, or because its mail waited too long. */
const CAME_LATE = sql`(status_reason like 'the service was %' or status_reason = ${REASONS.uselessNow})`

/** Of all businesses, at most MAX_COUNTED. */
export async function countPendingTriggers(db: Db) {
  const counted = await db.getRow<{ triggers: number }>(sql`
    select count(*) as triggers from (select from pending_trigger limit ${MAX_COUNTED}) pending`)
  return counted.triggers
}

/** The workers of all nodes that hold claimed work. */
export async function countActiveWorkers(db: Db, now: Temporal.Instant) {
  const counted = await db.getRow<{ workers: number }>(
    sql`select count(*) as workers from worker_lease where lease_until > ${now}`,
  )
  return counted.workers
}
