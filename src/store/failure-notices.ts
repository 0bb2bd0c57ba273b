import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { createdInMonthBefore } from './emails.ts'

export type FailureNotice = {
  /** Failures before this time were reported; null: none was reported yet. */
  dailyUntil: Temporal.Instant | null
  /** When people were notified that nothing can be sent. */
  outageNotifiedTime: Temporal.Instant | null
}

type Candidate = FailureNotice & { businessId: number; timeZone: string }

export const listBusinessesWithFailures = (engine: Db, since: Temporal.Instant) =>
  engine.query<Candidate>(sql`
    select b.business_id as "businessId", b.time_zone as "timeZone",
           n.daily_until as "dailyUntil", n.outage_told as "outageNotifiedTime"
    from business b left join failure_notice n using (business_id)
    where b.active and b.business_id in (
      select business_id from event_trigger where status = 'FAILED' and modified_date > ${since})
    order by b.business_id`)

/** A business with waiting mails, and how many recipients and recipient domains deferred some. */
type WaitingBusiness = {
  businessId: number
  outageNotifiedTime: Temporal.Instant | null
  deferringRecipients: number
  deferringDomains: number
}

/**
 * Active businesses with waiting mails that were made before `since`: attempts failed, or the mail
 * server accepts no mail. Mails without a trigger do not count: a notice that failed is not reported in
 * another notice.
 */
export const listBusinessesWithWaitingMails = (
  engine: Db,
  { since, isServerFailing }: { since: Temporal.Instant; isServerFailing: boolean },
) =>
  engine.query<WaitingBusiness>(sql`
    select b.business_id as "businessId", n.outage_told as "outageNotifiedTime",
           w.deferring_recipients as "deferringRecipients",
           w.deferring_domains as "deferringDomains"
    from business b left join failure_notice n using (business_id)
    cross join lateral (
      select count(*) as mails,
             count(distinct lower(e.to_address)) filter (where q.attempts > 0) as deferring_recipients,
             count(distinct lower(split_part(e.to_address, '@', 2))) filter (where q.attempts > 0)
               as deferring_domains
      from email_queue q join email e using (business_id, email_id)
      where q.business_id = b.business_id and q.created_date <= ${since}
        and e.event_trigger_id is not null and (q.attempts > 0 or ${isServerFailing})) w
    where b.active and not b.mail_paused and w.mails > 0
    order by b.business_id`)

export const listNotifiedBusinesses = (engine: Db) =>
  engine.query<{ businessId: number }>(sql`
    select business_id as "businessId" from failure_notice where outage_told is not null`)

export async function hasSentMail(db: Db, businessId: number, since: Temporal.Instant) {
  const rows = await db.query(sql`
    select from email
    where business_id = ${businessId} and outcome = 'SENT' and sent_time > ${since}
      and ${createdInMonthBefore(since)} and event_trigger_id is not null
    limit 1`)
  return rows.length > 0
}

/** The queued mails of triggers: how many, since when, and the newest answer of a mail server. */
export const readWaitingMails = (db: Db, businessId: number) =>
  db.getRow<{
    mails: number
    since: Temporal.Instant
    reply: string | null
  }>(sql`
    select count(*) as mails, min(q.created_date) as since,
           (array_agg(e.status_reason order by (e.attempts -> -1 ->> 'time')::bigint desc nulls last))[1]
             as reply
    from email_queue q join email e using (business_id, email_id)
    where q.business_id = ${businessId} and e.event_trigger_id is not null`)

/** Locks the notices of a business, so that no two nodes send the same one. */
export async function lockFailureNotice(tx: Db, businessId: number): Promise<FailureNotice> {
  await tx.query(sql`
    insert into failure_notice (business_id) values (${businessId}) on conflict do nothing`)
  return tx.getRow<FailureNotice>(sql`
    select daily_until as "dailyUntil", outage_told as "outageNotifiedTime"
    from failure_notice where business_id = ${businessId} for update`)
}

export const saveDailyUntil = (tx: Db, businessId: number, dailyUntil: Temporal.Instant) =>
  tx.query(sql`
    update failure_notice set daily_until = ${dailyUntil} where business_id = ${businessId}`)

export const saveOutageNotice = (
  tx: Db,
  businessId: number,
  notifiedTime: Temporal.Instant | null,
) =>
  tx.query(sql`
    update failure_notice set outage_told = ${notifiedTime} where business_id = ${businessId}`)

export type FailedMail = { eventDefnId: number; description: string | null; reason: string }

type Range = { from: Temporal.Instant; to: Temporal.Instant }

/** How many triggers failed in a time range, and the newest with the reason of a failed mail or their own. */
export async function listFailedMails(
  db: Db,
  businessId: number,
  { from, to }: Range,
  limit: number,
) {
  const rows = await db.query<FailedMail & { all: number }>(sql`
    select count(*) over () as all, t.event_defn_id as "eventDefnId", d.description,
           coalesce(m.status_reason, t.status_reason, '') as reason
    from event_trigger t
    join event_definition d using (business_id, event_defn_id)
    left join lateral (
      select status_reason from email
      where business_id = t.business_id and event_trigger_id = t.event_trigger_id
        and status = 'FAILED'
      order by email_id limit 1) m on true
    where t.business_id = ${businessId} and t.status = 'FAILED'
      and t.modified_date >= ${from} and t.modified_date < ${to}
    order by t.modified_date desc, t.event_trigger_id desc limit ${limit}`)
  return { count: rows[0]?.all ?? 0, newest: rows }
}
