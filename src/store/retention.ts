import { sql } from '../database/sql.ts'
import type { Db } from '../database/database.ts'

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED', 'EXPIRED']
const ENDED_MAILS = ['SENT', 'CAPTURED', 'FAILED', 'SUPPRESSED', 'CANCELLED']

/**
 * Deletes at most `limit` triggers that ended before this time, with their mails. One whose
 * appointment lies ahead stays: it shows the planner that this reminder was already sent. Returns how
 * many triggers and mails.
 */
export async function deleteEndedTriggers(engine: Db, before: Temporal.Instant, limit: number) {
  const [deleted] = await engine.query<{ triggers: number; mails: number }>(sql`
    with old as (
      select t.business_id, t.event_trigger_id
      from business b cross join lateral (
        select t.business_id, t.event_trigger_id from event_trigger t
        where t.business_id = b.business_id and t.status = any (${ENDED}::text[])
          and t.scheduled_time < ${before} and t.anchor_time < ${before}
          and coalesce(t.modified_date, t.created_date) < ${before}
        limit ${limit} for update skip locked) t
      limit ${limit}),
    mails as (
      delete from email e using old
      where e.business_id = old.business_id and e.event_trigger_id = old.event_trigger_id
      returning e.email_id),
    triggers as (
      delete from event_trigger t using old
      where t.business_id = old.business_id and t.event_trigger_id = old.event_trigger_id
      returning t.event_trigger_id)
    select (select count(*) from triggers) as triggers, (select count(*) from mails) as mails`)
  return deleted!
}

/** Deletes at most `limit` mails without a trigger that ended before this time. Returns how many. */
export async function deleteEndedMails(engine: Db, before: Temporal.Instant, limit: number) {
  const rows = await engine.query(sql`
    delete from email e
    using (select m.business_id, m.email_id
           from business b cross join lateral (
             select business_id, email_id from email
             where business_id = b.business_id and outcome = any (${ENDED_MAILS}::text[])
               and created_date < ${before} and coalesce(sent_time, created_date) < ${before}
               and event_trigger_id is null and next_attempt_time is null
             limit ${limit} for update skip locked) m
           limit ${limit}) old
    where e.business_id = old.business_id and e.email_id = old.email_id
    returning e.email_id`)
  return rows.length
}
