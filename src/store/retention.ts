import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { OUTCOMES } from './emails.ts'

const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED', 'EXPIRED']

/**
 * Deletes triggers that ended before this time, and first their mails: at most `limit` of each, so that
 * a later call deletes a trigger with mails. Returns how many. It keeps:
 * - triggers whose anchor, appointment or class is not before this time. They show the planner that a
 *   reminder was sent, and clients still use the links in their mails;
 * - reminders of definitions that send late: without its trigger, a reminder could be planned again
 *   when its object is corrected years later.
 */
export const deleteEndedTriggers = (engine: Db, before: Temporal.Instant, limit: number) =>
  engine.getRow<{ triggers: number; mails: number }>(sql`
    with old as (
      select t.business_id, t.event_trigger_id
      from business b cross join lateral (
        select t.business_id, t.event_trigger_id from event_trigger t
        where t.business_id = b.business_id and t.status = any (${ENDED}::text[])
          and t.scheduled_time < ${before} and t.anchor_time < ${before}
          and coalesce(t.modified_date, t.created_date) < ${before}
          and not exists (select from event_definition d
                          where d.business_id = t.business_id and d.event_defn_id = t.event_defn_id
                            and d.active and d.late_policy = 'SEND' and t.occurrence is null)
          ${isOfPast(before)}
        limit ${limit} for update skip locked) t
      limit ${limit}),
    mails as (
      delete from email e
      using (select e.business_id, e.email_id from old join email e using (business_id, event_trigger_id)
             limit ${limit}) m
      where e.business_id = m.business_id and e.email_id = m.email_id
      returning e.email_id),
    triggers as (
      delete from event_trigger t using old
      where t.business_id = old.business_id and t.event_trigger_id = old.event_trigger_id
        and not exists (select from email e where e.business_id = t.business_id
                          and e.event_trigger_id = t.event_trigger_id)
      returning t.event_trigger_id)
    select (select count(*) from triggers) as triggers, (select count(*) from mails) as mails`)

/**
 * Deletes at most `limit` mails without a trigger that ended before this time. One that repeats a mail
 * stays as long as that mail. Returns how many.
 */
export async function deleteEndedMails(engine: Db, before: Temporal.Instant, limit: number) {
  // The outcome of a mail that is not sent yet is SENT too, so that it is in the index.
  const rows = await engine.query(sql`
    delete from email e
    using (select m.business_id, m.email_id
           from business b cross join lateral (
             select t.business_id, t.email_id from email t
             where t.business_id = b.business_id and t.outcome = any (${OUTCOMES}::text[])
               and t.next_attempt_time is null
               and t.created_date < ${before} and coalesce(t.sent_time, t.created_date) < ${before}
               and t.event_trigger_id is null and t.repeats_email_id is null
               ${isOfPast(before)}
             limit ${limit} for update skip locked) m
           limit ${limit}) old
    where e.business_id = old.business_id and e.email_id = old.email_id
    returning e.email_id`)
  return rows.length
}

/** Deletes at most `limit` entries of the audit of before this time. Returns how many. */
export async function deleteOldAudit(operator: Db, before: Temporal.Instant, limit: number) {
  const page = await operator.getRow<{ deleted: number }>(sql`
    select delete_old_audit(${before}, ${limit}::int) as deleted`)
  return page.deleted
}

/** True unless row `t` is about an appointment or class that starts at or after this time. */
const isOfPast = (before: Temporal.Instant): Sql => sql`
  and not exists (select from calendar c
                  where t.object_type = 'CALENDAR' and c.business_id = t.business_id
                    and c.calendar_id = t.object_id and c.start_time >= ${before})
  and not exists (select from class_schedule c
                  where t.object_type = 'CLASS_SCHEDULE' and c.business_id = t.business_id
                    and c.class_schedule_id = t.object_id and c.start_time >= ${before})`
