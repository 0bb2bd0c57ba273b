import type { EmailStatus } from '../contract/email.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { columnsFor, rowTable } from './rows.ts'
import type { Attempt } from './emails.ts'

/** A mail that a worker has taken to send it. */
export type ClaimedEmail = {
  businessId: number
  emailId: number
  /** Who has it, by this claim. */
  worker: string
  eventTriggerId: number | null
  objectType: ObjectType | null
  objectId: number | null
  objectUUId: string | null
  toAddress: string
  message: string
  attemptCount: number
  businessActive: boolean
  /** Why its address gets no such mail (any more), where it does not. */
  suppressed: 'BOUNCED' | 'UNSUBSCRIBED' | null
  /** Of its trigger, where it has one: what is checked again before every attempt. */
  eventDefnId: number | null
  anchorTime: Temporal.Instant | null
  scheduledTime: Temporal.Instant | null
  fireNow: boolean | null
}

export type EmailClaim = {
  /** Another name each time: a worker may take again what it lost, and its first attempt lives on. */
  worker: string
  now: Temporal.Instant
  leaseUntil: Temporal.Instant
  limit: number
}

/** Takes mails whose next attempt is due, the longest waiting first. */
export function claimDueEmails(db: Db, claim: EmailClaim) {
  return take(
    db,
    claim,
    sql`
      select s.business_id, s.email_id from email_queue s
      where s.next_attempt_time <= ${claim.now} and ${isWaiting}
      order by s.next_attempt_time
      limit ${claim.limit}
      for update skip locked`,
  )
}

/** Nobody has it in hand. */
const isWaiting = sql`s.worker is null`

/** The next businesses that have mails waiting, after one of them; and whether any is due. */
export function listBusinessesWithMail(
  db: Db,
  now: Temporal.Instant,
  { after, limit }: { after: number; limit: number },
) {
  const next = (last: Sql) => sql`
    select s.business_id, s.next_attempt_time from email_queue s
    where s.business_id > ${last} and ${isWaiting}
    order by s.business_id, s.next_attempt_time limit 1`
  return db.query<{ businessId: number; isDue: boolean }>(
    sql`
      with recursive businesses as (
        (select *, 1 as place from (${next(sql`${after}`)}) first)
        union all
        select next.*, place + 1 from businesses b, lateral (${next(sql`b.business_id`)}) next
        where place < ${limit}
      )
      select business_id as "businessId", next_attempt_time <= ${now} as "isDue" from businesses`,
  )
}

/** The businesses of whose mails more than so many are due and wait. */
export async function listLongQueues(db: Db, now: Temporal.Instant, most: number) {
  const rows = await db.query<{ businessId: number }>(sql`
    select business_id as "businessId" from email_queue where next_attempt_time <= ${now}
    group by business_id having count(*) > ${most}`)
  return rows.map((row) => row.businessId)
}

/** A share for each of these businesses, so that the burst of one does not hold up the others. */
export function claimEmailsOf(db: Db, claim: EmailClaim, businessIds: number[], share: number) {
  return take(
    db,
    claim,
    sql`
      select d.* from unnest(${businessIds}::bigint[]) as b (business_id), lateral (
        select s.business_id, s.email_id from email_queue s
        where s.business_id = b.business_id and s.next_attempt_time <= ${claim.now}
          and ${isWaiting}
        order by s.next_attempt_time limit ${share}
        for update skip locked) d`,
  )
}

function take(db: Db, { worker, leaseUntil }: EmailClaim, due: Sql) {
  return db.query<ClaimedEmail>(
    sql`
      with due as (${due}), taken as (
        update email_queue s
        set worker = ${worker}, lease_until = ${leaseUntil}, epoch = (select epoch from server_epoch)
        from due
        where (s.business_id, s.email_id) = (due.business_id, due.email_id)
        returning s.business_id, s.email_id, s.worker
      )
      select e.business_id as "businessId", e.email_id as "emailId", k.worker,
             e.event_trigger_id as "eventTriggerId", e.object_type as "objectType",
             e.object_id as "objectId", e.object_uuid as "objectUUId", e.to_address as "toAddress",
             convert_from(e.message, 'UTF8') as message, e.attempt_count + 1 as "attemptCount",
             b.active as "businessActive",
             (select min(s.reason) from suppression s
              where (s.business_id, s.email_address) = (e.business_id, lower(e.to_address))
                and (s.reason = 'BOUNCED' or not coalesce(g.transactional, true))) as suppressed,
             t.event_defn_id as "eventDefnId", t.anchor_time as "anchorTime",
             t.scheduled_time as "scheduledTime", t.fire_now as "fireNow"
      from taken k
      join email e on (e.business_id, e.email_id) = (k.business_id, k.email_id)
      join business b on b.business_id = e.business_id
      left join email_category g
        on (g.business_id, g.email_category_id) = (e.business_id, e.email_category_id)
      left join event_trigger t
        on (t.business_id, t.event_trigger_id) = (e.business_id, e.event_trigger_id)`,
  )
}

/**
 * The end of these messages may leave now: from here on only the mail server knows. Does not wait
 * for the disk: every connection to the mail server waits for this. See `takeOverEmails`.
 */
export async function markMessagesEnded(db: Db, mails: ClaimedEmail[]) {
  const rows = await db.query<{ id: number; worker: string }>(sql`
    update email_queue s set message_ended = true
    from (select set_config('synchronous_commit', 'off', true) as waits) disk, ${keys(mails)}
    where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker
      and disk.waits = 'off'
    returning s.email_id as id, s.worker`)
  const marked = new Set(rows.map((row) => `${row.id} ${row.worker}`))
  return mails.map((mail) => marked.has(`${mail.emailId} ${mail.worker}`))
}

/** How an attempt ended, and so what becomes of the mail. */
export type EmailEnding = Held & {
  eventTriggerId: number | null
  status: Exclude<EmailStatus, 'QUEUED' | 'SENDING'>
  statusReason: string | null
  nextAttemptTime: Temporal.Instant | null
  /** None where it was not even tried. */
  attempt: Attempt | null
}

/** A mail whose lease went to another is left alone. */
export async function endEmails(tx: Db, endings: EmailEnding[], now: Temporal.Instant) {
  const isOwn = sql`
    (s.business_id, s.email_id) = (n.business_id, n.email_id) and s.worker = n.worker`
  // Most are done. What is tried again stays in the queue, in nobody's hands.
  const waitsAgain = endings.some((ending) => ending.nextAttemptTime !== null)
  const again = sql`, again as (
    update email_queue s
    set status = n.status, next_attempt_time = n.next_attempt_time, ${FREE} from n
    where ${isOwn} and n.next_attempt_time is not null
    returning n.*
  )`
  await tx.query(sql`
    with n as (
      select * from ${rowTable(ENDING_COLUMNS, endings)}
    ), done as (
      delete from email_queue s using n where ${isOwn} and n.next_attempt_time is null
      returning n.*
    ) ${waitsAgain ? again : empty}
    update email e
    set status = n.status, status_reason = n.status_reason,
        next_attempt_time = n.next_attempt_time, attempt_count = e.attempt_count + 1,
        sent_time = case when n.status in ('SENT', 'CAPTURED') then ${now}::timestamptz end,
        attempts = case when n.attempt is null then e.attempts else e.attempts || n.attempt end
    from (select * from done ${waitsAgain ? sql`union all select * from again` : empty}) n
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
const FREE = sql`worker = null, lease_until = null, message_ended = false, epoch = null`

/** Two workers may end the last two mails of one trigger at once: one after the other then. */
export async function lockTriggersOf(tx: Db, endings: EmailEnding[]) {
  await tx.query(sql`
    select from ${triggerKeys(endings)}
    cross join lateral (
      select from event_trigger t
      where t.business_id = k.business_id and t.event_trigger_id = k.event_trigger_id
      limit 1 for update) t`)
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

/** A trigger ends with its last mail, unless its object moved: gives back those, still RUNNING. */
export function endTriggersOf(tx: Db, endings: EmailEnding[], now: Temporal.Instant) {
  return tx.query<MovedTrigger>(sql`
    with ended as (
      select * from ${triggerKeys(endings)}
      -- Each by its key: left to choose, the planner may read all that runs, or all mails.
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

/** How the mails of `k` stand. */
const mailsOfTrigger = sql`
  select bool_or(e.next_attempt_time is not null) as waits,
         count(*) filter (where e.status = 'FAILED') as failed,
         count(*) filter (where e.status in ('SENT', 'CAPTURED')) as sent,
         count(*) filter (where e.status = 'CANCELLED') as cancelled,
         min(e.status_reason) filter (where e.status = 'FAILED') as failure,
         min(e.status_reason) filter (where e.status <> 'FAILED') as reason
  from email e
  where e.business_id = k.business_id and e.event_trigger_id = k.event_trigger_id`

const asItsMailsEnded = (now: Temporal.Instant) => sql`
  status = case when failed > 0 or t.status_reason is not null then 'FAILED'
                when sent > 0 then 'COMPLETED'
                when cancelled > 0 then 'CANCELLED' else 'SKIPPED' end,
  status_reason = case when failed > 0 then failure
                       when t.status_reason is not null then t.status_reason
                       when sent = 0 then reason end,
  completed_time = case when failed = 0 and sent > 0 and t.status_reason is null
                        then ${now}::timestamptz end,
  modified_date = ${now}, modified_user = 'SYSTEM'`

/** Ends a moved trigger, for one who holds its object; nothing if another worker has ended it. */
export async function endMovedTrigger(
  tx: Db,
  { businessId, eventTriggerId }: MovedTrigger,
  now: Temporal.Instant,
) {
  const [ended] = await tx.query<{ replanSince: Temporal.Instant | null }>(sql`
    update event_trigger t set ${asItsMailsEnded(now)}
    from (select ${businessId}::bigint as business_id, ${eventTriggerId}::bigint as event_trigger_id) k
    cross join lateral (${mailsOfTrigger}) mails
    where (t.business_id, t.event_trigger_id) = (k.business_id, k.event_trigger_id)
      and t.status = 'RUNNING' and not waits
    returning t.replan_since as "replanSince"`)
  return ended
}

/** A page of the moved triggers whose mails have ended. */
export function listTriggersToReplan(db: Db, { after, limit }: { after: number; limit: number }) {
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
 * Mails whose worker is gone. Where the end of the message had left, the server may have taken it:
 * the one window in which a mail may be sent twice. After a crash of the database what was under way
 * counts as ended: the mark may be lost with it.
 */
export async function takeOverEmails(db: Db, now: Temporal.Instant) {
  const died = (phase: string) =>
    JSON.stringify({ time: now.epochMilliseconds, phase, reply: 'the worker died' })
  await db.query(sql`insert into server_epoch default values on conflict do nothing`)
  const rows = await db.query(sql`
    with lost as (
      select business_id, email_id,
             message_ended or epoch is distinct from (select epoch from server_epoch) as ended
      from email_queue
      where lease_until < ${now}
      order by lease_until limit ${MOST_TAKEN_BACK}
      for update skip locked
    ), freed as (
      update email_queue s
      set status = case when ended then 'UNCERTAIN' else 'RETRYING' end,
          next_attempt_time = ${now}, ${FREE}
      from lost
      where (s.business_id, s.email_id) = (lost.business_id, lost.email_id)
      returning s.business_id, s.email_id, ended
    )
    update email e
    set status = case when ended then 'UNCERTAIN' else 'RETRYING' end,
        status_reason = case when ended then 'the worker died before the answer came'
                             else 'the worker died before the message ended' end,
        next_attempt_time = ${now}, attempt_count = e.attempt_count + 1,
        attempts = attempts || case when ended then ${died('end')}::jsonb
                                    else ${died('before the end')}::jsonb end
    from freed
    where (e.business_id, e.email_id) = (freed.business_id, freed.email_id)
      and e.next_attempt_time is not null
    returning e.email_id`)
  return rows.length
}

const MOST_TAKEN_BACK = 5_000

/** Only what is really under way: a mail whose record was lost must fall to another. */
export function renewEmailLeases(db: Db, mails: Held[], leaseUntil: Temporal.Instant) {
  return db.query(sql`
    with held as (
      select s.business_id, s.email_id
      from email_queue s
      join ${keys(mails)} on (s.business_id, s.email_id) = (k.business_id, k.email_id)
      where s.worker = k.worker
      -- What is locked is being ended this very moment.
      for update of s skip locked
    )
    update email_queue s set lease_until = ${leaseUntil}
    from held where (s.business_id, s.email_id) = (held.business_id, held.email_id)`)
}

/** Puts these back as if they had not been claimed: the end of their message never left. */
export const releaseEmails = (db: Db, mails: Held[]) =>
  db.query(sql`
    update email_queue s set ${FREE} from ${keys(mails)}
    where (s.business_id, s.email_id) = (k.business_id, k.email_id) and s.worker = k.worker`)

/**
 * Puts back what this worker has taken and not ended: another one sends it at once. Its own attempt
 * cannot end the message any more, so nothing is sent twice. What was taken before a crash of the
 * database is left: see `takeOverEmails`.
 */
export async function releaseEmailsOfWorker(db: Db, worker: string) {
  const rows = await db.query(sql`
    update email_queue set ${FREE}
    where split_part(worker, ' ', 1) = ${worker} and not message_ended
      and epoch = (select epoch from server_epoch)
    returning email_id`)
  return rows.length
}

export async function nextAttemptTime(db: Db) {
  const [row] = await db.query<{ next: Temporal.Instant }>(sql`
    select s.next_attempt_time as next from email_queue s
    where ${isWaiting} order by s.next_attempt_time limit 1`)
  return row?.next ?? null
}

type Held = Pick<ClaimedEmail, 'businessId' | 'emailId' | 'worker'>

const keys = (mails: Held[]) => sql`
  unnest(${mails.map((mail) => mail.businessId)}::bigint[],
         ${mails.map((mail) => mail.emailId)}::bigint[],
         ${mails.map((mail) => mail.worker)}::text[]) as k (business_id, email_id, worker)`

/** Each once, in the order in which everybody locks. */
function triggerKeys(endings: EmailEnding[]) {
  const ofTriggers = endings.filter((ending) => ending.eventTriggerId !== null)
  const distinct = new Map(ofTriggers.map((ending) => [ending.eventTriggerId!, ending.businessId]))
  const keys = [...distinct].toSorted(([a, ofA], [b, ofB]) => ofA - ofB || a - b)
  return sql`
    unnest(${keys.map(([, businessId]) => businessId)}::bigint[], ${keys.map(([id]) => id)}::bigint[])
      as k (business_id, event_trigger_id)`
}
