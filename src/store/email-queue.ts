import type { QuietHours } from '../contract/business.ts'
import type { EmailStatus } from '../contract/email.ts'
import type { ObjectType } from '../contract/event-type.ts'
import { REASONS, reasonText } from '../contract/reasons.ts'
import type { Suppression } from './suppressions.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { createdInMonthBefore, type Attempt } from './emails.ts'
import { columnsFor, rowTable } from './rows.ts'
import { expiresAtRelease } from './installation.ts'
import {
  claimDue,
  claimRows,
  lockRowsOfExpired,
  type Claim,
  type ExpiredLease,
  type Queue,
  type Shares,
} from './queue.ts'
import type { PageAfter } from './pages.ts'

export type ClaimedEmail = {
  businessId: number
  emailId: number
  /** Unique to each claim, so that an attempt that lost its claim cannot write. */
  worker: string
  eventTriggerId: number | null
  objectType: ObjectType | null
  objectId: number | null
  objectUUId: string | null
  toAddress: string
  /** Its content as it is stored. */
  message: Buffer
  messageId: string
  /** UNCERTAIN: the mail server may have it already. */
  status: 'QUEUED' | 'RETRYING' | 'UNCERTAIN'
  /** How many attempts were made before this one. */
  attempts: number
  /** How many of them ended because the worker died. */
  workerDeaths: number
  /** How many of them sent the end of the message and got no answer. */
  uncertainAttempts: number
  lastAnswer: string | null
  createdDate: Temporal.Instant
  businessActive: boolean
  /** Whether the mail of its business is paused. Mails about an account are never paused. */
  mailPaused: boolean
  mailResumedTime: Temporal.Instant | null
  /** How many mails its business may send per day in this time zone; null: no limit applies. */
  dailyMailLimit: number | null
  timeZone: string
  quietHours: QuietHours | null
  /** Why its address is suppressed for such mails; null: it is not. */
  suppressed: Suppression['reason'] | null
  /** The domain of its From header, if the business may send from it. */
  senderDomain: string | null
  /** From its trigger, if it has one; checked again before every attempt. */
  eventDefnId: number | null
  anchorTime: Temporal.Instant | null
  scheduledTime: Temporal.Instant | null
  fireNow: boolean | null
  /** It was queued before the database was restored, and the release expires such mails. */
  isExpired: boolean
}

/** Mails that are to be sent. The name of the worker is unique to each claim, see `ClaimedEmail`. */
export const EMAIL_QUEUE: Queue = {
  table: sql`email_queue`,
  condition: empty,
  ofBusiness: (now) => ({
    isDue: sql`q.next_attempt_time <= ${now}`,
    order: sql`q.business_id, q.next_attempt_time`,
  }),
  // More mails are due than can be sent: those that lose their use first come first.
  shareOrder: sql`q.business_id, q.useful_until`,
  onClaim: sql`, epoch = (select epoch from server_epoch)`,
  // A mail whose claim was lost would be sent again without being UNCERTAIN.
  isClaimDurable: true,
}

export const claimDueEmails = (db: Db, claim: Claim) =>
  claimEmails(db, claimDue(EMAIL_QUEUE, claim))

export const claimEmailShares = (db: Db, claim: Claim, shares: Shares) =>
  claimEmails(db, claimDue(EMAIL_QUEUE, claim, { shares }))

/** Claims mails that are no longer useful (see `usefulUntil`), so that they end with their reason. */
export const claimUselessEmails = (db: Db, claim: Claim) =>
  claimEmails(
    db,
    claimRows(
      EMAIL_QUEUE,
      claim,
      sql`
        select due.ctid from business b
        cross join lateral (
          select q.ctid from email_queue q
          where q.business_id = b.business_id and q.worker is null and q.useful_until <= ${claim.now}
            and q.next_attempt_time <= ${claim.now} and (not b.mail_paused or q.is_account)
          order by q.business_id, q.useful_until limit ${claim.limit}
          for update skip locked) due
        limit ${claim.limit}`,
    ),
  )

/** Claims the mails that lose their use first, one of each business that may begin another one. */
export const claimUrgentEmails = (db: Db, claim: Claim, excludedBusinessIds: number[]) =>
  claimEmails(
    db,
    claimRows(
      EMAIL_QUEUE,
      claim,
      sql`
        select q.ctid from business b
        cross join lateral (
          select q.business_id, q.email_id, q.useful_until from email_queue q
          where q.business_id = b.business_id and q.worker is null and q.useful_until > ${claim.now}
            and q.next_attempt_time <= ${claim.now} and (not b.mail_paused or q.is_account)
          order by q.business_id, q.useful_until limit 1) first
        join email_queue q on (q.business_id, q.email_id) = (first.business_id, first.email_id)
        where b.business_id <> all (${excludedBusinessIds}::bigint[]) and q.worker is null
        order by first.useful_until limit ${claim.limit}
        for update of q skip locked`,
    ),
  )

/** Recorded as the reply of an attempt whose worker died. */
const WORKER_DIED = 'the worker died'

/** The end of the message was sent, and no answer came. */
const isUnanswered = (attempt: Sql) =>
  sql`(${attempt} ->> 'phase' = 'end' and ${attempt} ->> 'reply' !~ '^[45]\\d\\d')`

const claimEmails = (db: Db, claim: Sql) =>
  db.query<ClaimedEmail>(
    sql`
      with ${claim}
      select e.business_id as "businessId", e.email_id as "emailId", k.worker,
             e.event_trigger_id as "eventTriggerId", e.object_type as "objectType",
             e.object_id as "objectId", e.object_uuid as "objectUUId", e.to_address as "toAddress",
             e.message, e.message_id as "messageId", k.status, k.attempts,
             k.created_date as "createdDate", e.status_reason as "lastAnswer",
             case when k.attempts = 0 then 0 else (
               select count(*) from jsonb_array_elements(e.attempts) one
               where one ->> 'reply' = ${WORKER_DIED}) end as "workerDeaths",
             case when k.status <> 'UNCERTAIN' then 0 else (
               select count(*) from jsonb_array_elements(e.attempts) one
               where ${isUnanswered(sql`one`)}) end as "uncertainAttempts",
             b.active as "businessActive", b.mail_paused and not k.is_account as "mailPaused",
             b.mail_resumed_time as "mailResumedTime",
             case when not k.is_account then b.daily_mail_limit end as "dailyMailLimit",
             b.time_zone as "timeZone", b.quiet_hours as "quietHours",
             (select d from unnest(b.sender_domains) d
              where d = lower(split_part(e.from_address, '@', 2)) limit 1) as "senderDomain",
             (select min(s.reason) from suppression s
              where not k.is_account
                and (s.business_id, s.email_address) = (e.business_id, lower(e.to_address))
                and (s.reason <> 'UNSUBSCRIBED' or not coalesce(g.transactional, true))
                and (s.email_category_id is null or s.email_category_id = e.email_category_id)) as suppressed,
             t.event_defn_id as "eventDefnId", t.anchor_time as "anchorTime",
             t.scheduled_time as "scheduledTime", t.fire_now as "fireNow",
             ${expiresAtRelease(sql`k.created_date`)} as "isExpired"
      from claimed k
      join email e on (e.business_id, e.email_id) = (k.business_id, k.email_id)
      join business b on b.business_id = e.business_id
      left join email_category g
        on (g.business_id, g.email_category_id) = (e.business_id, e.email_category_id)
      left join event_trigger t
        on (t.business_id, t.event_trigger_id) = (e.business_id, e.event_trigger_id)`,
  )

export async function listLongQueues(db: Db, now: Temporal.Instant, max: number) {
  const rows = await db.query<{ businessId: number }>(sql`
    select business_id as "businessId" from email_queue where next_attempt_time <= ${now}
    group by business_id having count(*) > ${max}`)
  return rows.map((row) => row.businessId)
}

export async function hasWaitingEmails(db: Db) {
  return (await db.query(sql`select from email_queue limit 1`)).length > 0
}

export type DeferredEmail = { usefulUntil: Temporal.Instant; emailId: number }

type Deferred = {
  since: Temporal.Instant
  until: Temporal.Instant
  /** Mails that are left alone. */
  except: number[]
  /** The last mail of the statement before. */
  after?: DeferredEmail | undefined
  now: Temporal.Instant
  limit: number
}

/**
 * Makes mails due that were deferred in this time, although their next attempt is later, and those whose
 * domain is paused: first those that lose their use first. One without an answer waits, because it may
 * arrive twice. Returns them in this order.
 */
export async function retryDeferredEmails(db: Db, deferred: Deferred): Promise<DeferredEmail[]> {
  const { since, until, except, after, now, limit } = deferred
  const retried = await db.query<DeferredEmail>(sql`
    update email_queue set next_attempt_time = ${now}, postponed_reason = null
    where (business_id, email_id) in (
      select q.business_id, q.email_id from email_queue q join email e using (business_id, email_id)
      where q.worker is null and q.next_attempt_time > ${now}
        and q.email_id <> all (${except}::bigint[])
        ${after ? sql`and (q.useful_until, q.email_id) > (${after.usefulUntil}::timestamptz, ${after.emailId}::bigint)` : empty}
        and case when q.postponed_reason is null then
              q.status <> 'QUEUED' and not ${isUnanswered(sql`e.attempts -> -1`)}
              and (e.attempts -> -1 ->> 'time')::bigint
                between ${since.epochMilliseconds} and ${until.epochMilliseconds}
            else q.postponed_reason = ${REASONS.domainPaused} end
      order by q.useful_until, q.email_id limit ${limit} for update of q skip locked)
    returning useful_until as "usefulUntil", email_id as "emailId"`)
  return retried.toSorted(
    (a, b) => Temporal.Instant.compare(a.usefulUntil, b.usefulUntil) || a.emailId - b.emailId,
  )
}

/**
 * Records that the end of these messages may be sent now. Returns false for a mail that its worker no
 * longer holds. The commit does not wait for the disk, because a connection to the mail server would
 * wait too; see `takeOverEmails`.
 */
export async function allowMessageEnds(db: Db, mails: ClaimedEmail[]) {
  const rows = await db.query<{ id: number; worker: string }>(sql`
    update email_queue s set message_ended = true
    from (select set_config('synchronous_commit', 'off', true) as waits) disk, ${keys(mails)}
    where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker
      and disk.waits = 'off'
    returning s.email_id as id, s.worker`)
  const marked = new Set(rows.map((row) => `${row.id} ${row.worker}`))
  return mails.map((mail) => marked.has(`${mail.emailId} ${mail.worker}`))
}

export type EmailEnding = EmailKey & {
  eventTriggerId: number | null
  objectType: ObjectType | null
  status: Exclude<EmailStatus, 'QUEUED' | 'SENDING'>
  statusReason: string | null
  nextAttemptTime: Temporal.Instant | null
  /** Null if the mail was not attempted. */
  attempt: Attempt | null
}

/** Skips mails that another worker has claimed since. */
export async function endEmails(tx: Db, endings: EmailEnding[], now: Temporal.Instant) {
  const isOwn = sql`
    (s.business_id, s.email_id) = (n.business_id, n.email_id) and s.worker = n.worker`
  // Mails that are tried again stay in the queue; most are not.
  const hasRetries = endings.some((ending) => ending.nextAttemptTime !== null)
  const again = sql`, again as (
    update email_queue s
    set status = n.status, next_attempt_time = n.next_attempt_time, attempts = s.attempts + 1,
        postponed_reason = null, ${FREE}
    from n
    where ${isOwn} and n.next_attempt_time is not null
    returning n.*
  )`
  await tx.query(sql`
    with n as (
      select * from ${rowTable(ENDING_COLUMNS, endings)}
    ), done as (
      delete from email_queue s using n where ${isOwn} and n.next_attempt_time is null
      returning n.*
    ) ${hasRetries ? again : empty}
    update email e
    set status = n.status, status_reason = n.status_reason,
        next_attempt_time = n.next_attempt_time,
        sent_time = case when n.status in ('SENT', 'CAPTURED') then ${now}::timestamptz end,
        attempts = case when n.attempt is null then e.attempts else e.attempts || n.attempt end
    from (select * from done ${hasRetries ? sql`union all select * from again` : empty}) n
    where (e.business_id, e.email_id) = (n.business_id, n.email_id)`)
}

const ENDING_COLUMNS = columnsFor<EmailEnding>({
  businessId: 'bigint',
  emailId: 'bigint',
  worker: 'text',
  status: 'text',
  statusReason: 'text',
  nextAttemptTime: 'timestamptz',
  attempt: 'jsonb',
})

/** Claimed by no worker. */
const FREE = sql`worker = null, message_ended = false, epoch = null`

/**
 * Two workers may end the last two mails of a trigger at the same time: one must see the other's. Returns
 * the triggers that no other transaction has locked.
 */
export async function lockFreeTriggersOf(tx: Db, mails: MailOfTrigger[]) {
  const rows = await tx.query<{ id: number }>(sql`
    select t.id from ${triggerKeys(mails)}
    cross join lateral (
      select t.event_trigger_id as id from event_trigger t
      where t.business_id = k.business_id and t.event_trigger_id = k.event_trigger_id
      limit 1 for update skip locked) t`)
  return new Set(rows.map((row) => row.id))
}

/** A reminder whose mails have ended and whose object moved meanwhile: it must be planned again. */
export type MovedTrigger = {
  businessId: number
  eventTriggerId: number
  eventDefnId: number
  objectType: ObjectType
  objectId: number | null
  objectUUId: string | null
}

const movedColumns = sql`
  t.business_id as "businessId", t.event_trigger_id as "eventTriggerId",
  t.event_defn_id as "eventDefnId", t.object_type as "objectType", t.object_id as "objectId",
  t.object_uuid as "objectUUId"`

/** Ends triggers whose last mail has ended. Returns those whose object moved: they stay RUNNING. */
export function endTriggersOf(tx: Db, endings: MailOfTrigger[], now: Temporal.Instant) {
  return tx.query<MovedTrigger>(sql`
    with ended as (
      select * from ${triggerKeys(endings)}
      -- Lateral, so that each trigger is read by its key: the planner could choose to read all
      -- RUNNING triggers, or all mails.
      cross join lateral (
        select t.status, t.replan_since, t.event_defn_id, t.object_type, t.object_id, t.object_uuid
        from event_trigger t
        where t.business_id = k.business_id and t.event_trigger_id = k.event_trigger_id limit 1) t
      cross join lateral (${mailsOfTrigger}) mails
      where t.status = 'RUNNING' and not waits
    ), done as (
      update event_trigger t set ${asItsMailsEnded(now)}
      from ended
      where (t.business_id, t.event_trigger_id) = (ended.business_id, ended.event_trigger_id)
        and ended.replan_since is null
    )
    select ${movedColumns} from ended t where t.replan_since is not null`)
}

/** The reasons of mails that were too late to be useful. */
const USELESS = [REASONS.uselessNow, REASONS.uselessWhilePaused]

/** The state of the mails of trigger `k`. */
const mailsOfTrigger = sql`
  select bool_or(e.next_attempt_time is not null) as waits,
         count(*) filter (where e.status = 'FAILED') as failed,
         count(*) filter (where e.status in ('SENT', 'CAPTURED')) as sent,
         count(*) filter (where e.status = 'CANCELLED') as cancelled,
         count(*) filter (where e.status_reason = any (${USELESS}::text[])) as useless,
         min(e.status_reason) filter (where e.status = 'FAILED') as failure,
         min(e.status_reason) filter (where e.status <> 'FAILED') as reason
  from email e
  where e.business_id = k.business_id and e.event_trigger_id = k.event_trigger_id`

const asItsMailsEnded = (now: Temporal.Instant) => sql`
  status = case when failed > 0 or t.status_reason is not null then 'FAILED'
                when sent > 0 then 'COMPLETED'
                when useless > 0 then 'EXPIRED'
                when cancelled > 0 then 'CANCELLED' else 'SKIPPED' end,
  status_reason = case when failed > 0 then failure
                       when t.status_reason is not null then t.status_reason
                       when sent = 0 then reason end,
  completed_time = case when failed = 0 and sent > 0 and t.status_reason is null
                        then ${now}::timestamptz end,
  modified_date = ${now}, modified_user = 'SYSTEM'`

/** Ends a moved trigger whose object the caller has locked; undefined if another worker ended it. */
export const endMovedTrigger = (
  tx: Db,
  { businessId, eventTriggerId }: MovedTrigger,
  now: Temporal.Instant,
) =>
  tx.findRow<{ replanSince: Temporal.Instant | null }>(sql`
    update event_trigger t set ${asItsMailsEnded(now)}
    from (select ${businessId}::bigint as business_id, ${eventTriggerId}::bigint as event_trigger_id) k
    cross join lateral (${mailsOfTrigger}) mails
    where (t.business_id, t.event_trigger_id) = (k.business_id, k.event_trigger_id)
      and t.status = 'RUNNING' and not waits
    returning t.replan_since as "replanSince"`)

export function listTriggersToReplan(db: Db, { after, limit }: PageAfter) {
  return db.query<MovedTrigger>(sql`
    select ${movedColumns} from event_trigger t
    where t.status = 'RUNNING' and t.replan_since is not null and t.event_trigger_id > ${after}
      and not exists (
        select from email e
        where e.business_id = t.business_id and e.event_trigger_id = t.event_trigger_id
          and e.next_attempt_time is not null)
    order by t.event_trigger_id limit ${limit}`)
}

/**
 * Frees the mails of workers whose lease has expired, and returns how many. A mail whose end was sent
 * is UNCERTAIN. After a database crash all claimed mails are, because `message_ended` may be lost.
 */
export async function takeOverEmails(tx: Db, expired: ExpiredLease[], now: Temporal.Instant) {
  const died = (phase: string) =>
    JSON.stringify({ time: now.epochMilliseconds, phase, reply: WORKER_DIED })
  const rows = await tx.query(sql`
    with lost as (
      select q.business_id, q.email_id,
             q.message_ended or q.epoch is distinct from (select epoch from server_epoch) as ended,
             q.status = 'UNCERTAIN' as was_uncertain
      from (${lockRowsOfExpired(EMAIL_QUEUE, expired)}) q
    ), freed as (
      update email_queue s
      set status = case when ended or was_uncertain then 'UNCERTAIN' else 'RETRYING' end,
          next_attempt_time = ${now}, attempts = s.attempts + 1, ${FREE}
      from lost
      where (s.business_id, s.email_id) = (lost.business_id, lost.email_id)
      returning s.business_id, s.email_id, s.status, ended
    )
    update email e
    set status = freed.status,
        status_reason = case when ended then ${reasonText('workerDiedBeforeAnswer')}::text
                             else ${reasonText('workerDiedBeforeEnd')}::text end,
        next_attempt_time = ${now},
        attempts = attempts || case when ended then ${died('end')}::jsonb
                                    else ${died('before the end')}::jsonb end
    from freed
    where (e.business_id, e.email_id) = (freed.business_id, freed.email_id)
      and e.next_attempt_time is not null
    returning e.email_id`)
  return rows.length
}

/** A crash of the database empties this unlogged table, so a new epoch begins. */
export const beginServerEpoch = (db: Db) =>
  db.query(sql`insert into server_epoch default values on conflict do nothing`)

/**
 * Postpones all due mails of businesses whose mail is paused, and those that this worker has claimed.
 * When the business resumes, they are due at once.
 */
export const postponePausedEmails = (
  tx: Db,
  paused: EmailKey[],
  { now, until }: { now: Temporal.Instant; until: Temporal.Instant },
) =>
  tx.query(sql`
    update email_queue set next_attempt_time = ${until}, ${FREE}
    where (business_id, email_id) in (
      select q.business_id, q.email_id from email_queue q
      where q.business_id = any (${[...new Set(paused.map((mail) => mail.businessId))]}::bigint[])
        and q.next_attempt_time <= ${now}
        and not q.is_account
        and (q.worker is null or q.worker = any (${paused.map((mail) => mail.worker)}::text[]))
      ${NOT_CLAIMED_MEANWHILE})`)

/** Two nodes that postpone mails of one business would otherwise wait for each other's claims. */
const NOT_CLAIMED_MEANWHILE = sql`for update of q skip locked`

const DAILY_LIMITS = 7_230_008

/**
 * The daily limit of a business, and how many of its mails were accepted after `since` or are being
 * sent by other workers. Undefined if another transaction claims its mails or changes its limit now;
 * otherwise none does until this one ends.
 */
export async function readDailyLimit(
  tx: Db,
  businessId: number,
  { since, worker }: { since: Temporal.Instant; worker: string },
) {
  const locking = tx.query<{ isLocked: boolean }>(sql`
    select pg_try_advisory_xact_lock(${DAILY_LIMITS}::int, hashint8(${businessId}::bigint)) as "isLocked"`)
  const reading = tx.query<{ limit: number | null; used: number }>(sql`
    select (select daily_mail_limit from business where business_id = ${businessId}) as limit,
           (select count(*) from email
            where business_id = ${businessId} and outcome = 'SENT' and sent_time >= ${since}
              and ${createdInMonthBefore(since)})
         + (select count(*) from email_queue
            where business_id = ${businessId} and worker is not null and worker <> ${worker}) as used`)
  const [[lock], [row]] = await Promise.all([locking, reading])
  return lock!.isLocked ? row! : undefined
}

type NextDay = { now: Temporal.Instant; start: Temporal.Instant; morning: Temporal.Instant }

/**
 * Postpones these mails, and all others of their business that are due and free, until the next
 * morning. Reminders that would be too late by then are due when the day begins.
 */
export const postponeEmailsOfBusiness = (
  tx: Db,
  businessId: number,
  mails: EmailKey[],
  { now, start, morning }: NextDay,
) =>
  tx.query(sql`
    update email_queue m set ${FREE}, (next_attempt_time, above_limit_until) = (
      select due.time, due.time from (
        select case when exists (
          select from email e join event_trigger t using (business_id, event_trigger_id)
          where (e.business_id, e.email_id) = (m.business_id, m.email_id) and not t.fire_now
            and t.anchor_time > t.scheduled_time and t.anchor_time <= ${morning}::timestamptz)
        then ${start}::timestamptz else ${morning}::timestamptz end as time) due)
    where (m.business_id, m.email_id) in (
      select q.business_id, q.email_id from email_queue q
      where q.business_id = ${businessId} and q.next_attempt_time <= ${now}
        and not q.is_account
        and (q.worker is null or q.email_id = any (${mails.map((mail) => mail.emailId)}::bigint[]))
      ${NOT_CLAIMED_MEANWHILE})`)

/** When the first mail above the daily limit will be sent, if there is one. */
export async function findAboveLimit(db: Db, businessId: number, now: Temporal.Instant) {
  const row = await db.findRow<{ until: Temporal.Instant }>(sql`
    select above_limit_until as until from email_queue
    where business_id = ${businessId} and above_limit_until > ${now}
    order by above_limit_until limit 1`)
  return row?.until
}

/** Which of these mails are due later, whether the daily limit is the reason, and any other reason. */
export const listPostponedEmails = (
  db: Db,
  businessId: number,
  { now, emailIds }: { now: Temporal.Instant; emailIds: number[] },
) =>
  db.query<{
    emailId: number
    until: Temporal.Instant
    isAboveLimit: boolean
    reason: string | null
  }>(sql`
    select email_id as "emailId", next_attempt_time as until,
           coalesce(above_limit_until > ${now}, false) as "isAboveLimit", postponed_reason as reason
    from email_queue
    where business_id = ${businessId} and email_id = any (${emailIds}::bigint[])
      and worker is null and next_attempt_time > ${now}`)

/** A mail that is claimed again at a time, and the reason for people. */
export type PostponedEmail = { mail: EmailKey; until: Temporal.Instant; reason: string | null }

/**
 * Frees mails that were not attempted. One that loses its use before is claimed then, and ends. One that
 * has lost it, and could not be ended because of a lock, waits like the others.
 */
export async function postponeEmails(db: Db, postponed: PostponedEmail[]) {
  const groups = Map.groupBy(postponed, ({ until, reason }) => `${until} ${reason}`)
  for (const group of groups.values()) {
    const { until, reason } = group[0]!
    await db.query(sql`
      update email_queue s
      set next_attempt_time = case when s.useful_until > s.next_attempt_time
                                   then least(${until}::timestamptz, s.useful_until)
                                   else ${until} end,
          postponed_reason = ${reason}, ${FREE}
      from ${keys(group.map(({ mail }) => mail))}
      where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker`)
  }
}

/** Frees these mails as if they had not been claimed: the end of their message was not sent. */
export const releaseEmails = (db: Db, mails: EmailKey[]) =>
  db.query(sql`
    update email_queue s set ${FREE} from ${keys(mails)}
    where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker`)

/**
 * Frees the mails of a node that stops. Its own attempts cannot end their messages any more, so no
 * mail is sent twice. Mails that were claimed before a crash of the database are left to takeover.
 */
export async function releaseUnendedEmails(db: Db, mails: EmailKey[]) {
  const rows = await db.query(sql`
    update email_queue s set ${FREE} from ${keys(mails)}
    where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker
      and not s.message_ended and s.epoch = (select epoch from server_epoch)
    returning s.email_id`)
  return rows.length
}

type EmailKey = Pick<ClaimedEmail, 'businessId' | 'emailId' | 'worker'>

const keys = (mails: EmailKey[]) => sql`
  unnest(${mails.map((mail) => mail.businessId)}::bigint[],
         ${mails.map((mail) => mail.emailId)}::bigint[],
         ${mails.map((mail) => mail.worker)}::text[]) as k (business_id, email_id, worker)`

/** Each trigger once, in lock order; see docs/engine.md. */
type MailOfTrigger = Pick<EmailEnding, 'businessId' | 'eventTriggerId' | 'objectType'>

function triggerKeys(mails: MailOfTrigger[]) {
  const ofTriggers = mails.filter((mail) => mail.eventTriggerId !== null)
  const distinct = new Map(ofTriggers.map((mail) => [mail.eventTriggerId!, mail]))
  // A save locks the triggers of one type of object after those of another.
  const keys = [...distinct.values()].toSorted(
    (a, b) =>
      a.businessId - b.businessId ||
      compareText(a.objectType!, b.objectType!) ||
      a.eventTriggerId! - b.eventTriggerId!,
  )
  return sql`
    unnest(${keys.map(({ businessId }) => businessId)}::bigint[],
           ${keys.map(({ eventTriggerId }) => eventTriggerId)}::bigint[])
      as k (business_id, event_trigger_id)`
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
