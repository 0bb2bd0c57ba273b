import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'

/** The clock was set back by `stepMs`; it shows `now`. */
type SetBack = { stepMs: number; now: Temporal.Instant; leaseSeconds: number }

/**
 * Corrects times that were stored while the clock was ahead, so that no row waits for one of them. A row
 * that is due again is re-checked when it fires or is sent. Times that were stored since are kept, so this
 * can be called again: a transaction may commit such times later, or has locked its rows now.
 */
export async function correctStoredTimes(db: Db, setBack: SetBack) {
  await releasePrematureClaims(db, setBack)
  await moveEvents(db, setBack)
  await retryTriggersNow(db, setBack)
  await retryEmailsNow(db, setBack)
  await shortenLeases(db, setBack)
  await repeatRegularWork(db, setBack)
  await forgetFuture(db, setBack)
}

/** By key and not by ctid: a row that was updated after the statement began has another one. */
const unlockedTriggers = (condition: Sql) => sql`
  (business_id, event_trigger_id) in (
    select business_id, event_trigger_id from pending_trigger where ${condition}
    for update skip locked)`

const latest = ({ now, stepMs }: SetBack) => now.add({ milliseconds: stepMs })

/** Claims of triggers that are not due after all. Their workers skip triggers that they do not hold. */
const releasePrematureClaims = (db: Db, setBack: SetBack) =>
  db.query(sql`
    update pending_trigger set worker = null
    where ${unlockedTriggers(sql`
      worker is not null and next_attempt_time > ${setBack.now}
      and next_attempt_time <= ${latest(setBack)}`)}`)

/** No event has happened in the future. */
const moveEvents = (db: Db, { now, stepMs }: SetBack) =>
  db.query(sql`
    update pending_trigger
    set anchor_time = anchor_time - step, scheduled_time = scheduled_time - step,
        next_attempt_time = case when next_attempt_time = scheduled_time then scheduled_time - step
                                 else next_attempt_time end
    from (select make_interval(secs => ${stepMs}::float8 / 1000) as step) clock
    where ${unlockedTriggers(sql`
      next_attempt_time > ${now} and occurrence is not null and anchor_time > ${now}`)}`)

/** The longest wait of a trigger before it is tried again; see `retryTriggers`. */
const MAX_RETRY_WAIT = { minutes: 15 }

/** Waits that began after the clock was set back are not ended, or the attempts would follow at once. */
const endsTooLate = (now: Temporal.Instant, wait: Sql) =>
  sql`next_attempt_time > ${now.add({ seconds: 1 })}::timestamptz + ${wait}`

const retryTriggersNow = (db: Db, setBack: SetBack) =>
  db.query(sql`
    update pending_trigger
    set next_attempt_time = case when fire_now then ${setBack.now}
                                 else greatest(scheduled_time, ${setBack.now}) end
    where ${unlockedTriggers(sql`
      worker is null and (fire_now or next_attempt_time > scheduled_time)
      and ${endsTooLate(setBack.now, sql`attempts * make_interval(secs => ${Math.max(60, setBack.leaseSeconds)}::float8)`)}
      and next_attempt_time <= ${latest(setBack).add(MAX_RETRY_WAIT)}`)}`)

/** The longest wait of a mail before it is tried again; see `waitAfter`. */
const MAX_MAIL_WAIT_MINUTES = 30

/** Claimed mails too: takeover finds only rows that were due before the lease ended. */
const retryEmailsNow = (db: Db, { now }: SetBack) =>
  db.query(sql`
    update email_queue set next_attempt_time = ${now}
    where (business_id, email_id) in (
      select business_id, email_id from email_queue
      where next_attempt_time > ${now}
        and ${endsTooLate(now, sql`make_interval(mins => least(attempts * attempts, ${MAX_MAIL_WAIT_MINUTES}))`)}
      for update skip locked)`)

/** Workers that are alive renew their leases. */
async function shortenLeases(db: Db, { now, leaseSeconds }: SetBack) {
  const leaseUntil = now.add({ seconds: leaseSeconds })
  await db.query(sql`
    update worker_lease set lease_until = ${leaseUntil} where lease_until > ${leaseUntil}`)
  await db.query(sql`
    update work_lease set lease_until = ${leaseUntil} where lease_until > ${leaseUntil}`)
}

/**
 * Feeds, figures with targets, reports and domains of senders: what was done while the clock was ahead is
 * done again, and what was planned then waits no longer than usual.
 */
async function repeatRegularWork(db: Db, { now, stepMs }: SetBack) {
  const isFuture = (time: Sql, usual = sql`interval '0'`) =>
    sql`${time} > ${now.add({ seconds: 1 })}::timestamptz + ${usual}`
  const isPlannedAhead = sql`
    next_pull_time is not null
    and (${isFuture(sql`success_time`)} or ${isFuture(sql`next_pull_time`, LONGEST_PULL_WAIT)})`
  const ifPlannedAhead = (corrected: Sql, time: Sql) =>
    sql`case when ${isPlannedAhead} then ${corrected} else ${time} end`
  await correct(db, sql`feed_state`, {
    key: sql`business_id, feed_id`,
    set: sql`
      next_pull_time = ${ifPlannedAhead(sql`${now}::timestamptz`, sql`next_pull_time`)},
      reconcile_time = ${ifPlannedAhead(sql`null`, sql`reconcile_time`)},
      late_time = ${ifPlannedAhead(sql`late_time - make_interval(secs => ${stepMs}::float8 / 1000)`, sql`late_time`)},
      success_time = ${notAfter(now, sql`success_time`)},
      complete_time = ${notAfter(now, sql`complete_time`)},
      health_since = ${notAfter(now, sql`health_since`)},
      told_time = ${notAfter(now, sql`told_time`)},
      tidied_time = case when ${isFuture(sql`tidied_time`)} then null else tidied_time end`,
    when: sql`${isPlannedAhead}
              or ${isFuture(sql`greatest(success_time, health_since, told_time, tidied_time)`)}`,
  })
  await correct(db, sql`report_target`, {
    key: sql`business_id, report_target_id`,
    set: sql`next_check_time = ${now}`,
    when: isFuture(sql`next_check_time`, sql`interval '1 hour'`),
  })
  await correct(db, sql`report_schedule`, {
    key: sql`business_id, report_schedule_id`,
    set: sql`next_run_time = ${now}, done_until = least(done_until, ${now})`,
    when: sql`${isFuture(sql`done_until`)} or
              (attempts > 0 and ${isFuture(sql`next_run_time - make_interval(mins => attempts * attempts)`)})`,
  })
  await correct(db, sql`sender_domain`, {
    key: sql`business_id, domain`,
    set: sql`next_check_time = ${now}, checked_time = ${now}`,
    when: isFuture(sql`checked_time`),
  })
}

/** The interval of the feed and a tenth more at random, or the wait after a refused login. */
const LONGEST_PULL_WAIT = sql`
  greatest((select make_interval(mins => pull_minutes) * 1.1 from feed f
            where f.business_id = feed_state.business_id and f.feed_id = feed_state.feed_id),
           '6 hours')`

/** Null stays null; with least() it would not. */
const notAfter = (now: Temporal.Instant, time: Sql) =>
  sql`case when ${time} > ${now} then ${now}::timestamptz else ${time} end`

/** By key, and without rows that another transaction has locked: a later call corrects them. */
const correct = (db: Db, table: Sql, { key, set, when }: { key: Sql; set: Sql; when: Sql }) =>
  db.query(sql`
    update ${table} set ${set}
    where (${key}) in (select ${key} from ${table} where ${when} for update skip locked)`)

/** Nothing has happened in the future. */
async function forgetFuture(db: Db, { now }: SetBack) {
  await db.query(sql`
    update mail_server
    set last_accepted_time = ${notAfter(now, sql`last_accepted_time`)},
        failing_since = ${notAfter(now, sql`failing_since`)},
        retry_requested_time = ${notAfter(now, sql`retry_requested_time`)}
    where greatest(last_accepted_time, failing_since, retry_requested_time) > ${now}`)
  await db.query(sql`update reconciliation set ended_at = ${now} where ended_at > ${now}`)
}
