import { REASONS } from '../contract/reasons.ts'
import type { EmailStatus } from '../contract/email.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { endTriggersOf } from './email-queue.ts'
import type { NewerState } from './installation.ts'
import { columnsFor, rowTable } from './rows.ts'
import { asPlanned, recordEnded, type TriggerKey } from './trigger-queue.ts'

/* Mails of a restored database that were sent before it was restored: they are not sent again. */

export type EndedMail = {
  businessId: number
  emailId: number
  eventTriggerId: number | null
  objectType: ObjectType | null
  status: EmailStatus
  statusReason: string | null
}

const ENDED = columnsFor<Omit<EndedMail, 'eventTriggerId' | 'objectType'>>({
  businessId: 'bigint',
  emailId: 'bigint',
  status: 'text',
  statusReason: 'text',
})

/** Takes mails out of the queue, and ends triggers whose last mail this was. Returns how many ended. */
export async function endMailsBefore(tx: Db, mails: EndedMail[], now: Temporal.Instant) {
  const ended = await tx.query(sql`
    with n as (
      select * from ${rowTable(ENDED, mails)}
    ), gone as (
      delete from email_queue q using n
      where (q.business_id, q.email_id) = (n.business_id, n.email_id)
      returning n.*
    )
    update email e
    set status = gone.status, status_reason = gone.status_reason, next_attempt_time = null,
        sent_time = case when gone.status in ('SENT', 'CAPTURED') then ${now}::timestamptz end
    from gone where (e.business_id, e.email_id) = (gone.business_id, gone.email_id)
    returning e.email_id`)
  await endTriggersOf(tx, mails, now)
  return ended.length
}

/** Ends pending triggers as EXPIRED, because they may have been sent. Counts them by definition. */
export const expireSentBefore = (tx: Db, triggers: TriggerKey[], now: Temporal.Instant) =>
  tx.query<NewerState['sentBefore'][number]>(sql`
    with gone as (
      delete from pending_trigger p
      using unnest(${triggers.map((one) => one.businessId)}::bigint[],
                   ${triggers.map((one) => one.eventTriggerId)}::bigint[]) as k (business_id, event_trigger_id)
      where (p.business_id, p.event_trigger_id) = (k.business_id, k.event_trigger_id)
      returning p.*, 'EXPIRED' as status, ${REASONS.beforeRestore}::text as status_reason, ${asPlanned}
    ), ended as (
      ${recordEnded(sql`gone`, { user: 'SYSTEM', now })}
      returning business_id, event_defn_id
    )
    select business_id as "businessId", event_defn_id as "eventDefnId", count(*) as triggers
    from ended group by 1, 2 order by 1, 2`)

/** A mail of ours that the log of a mail server names. */
export type LoggedMail = {
  businessId: number
  emailId: number
  messageId: string
  toAddress: string
}

const LOGGED = columnsFor<LoggedMail>({
  businessId: 'bigint',
  emailId: 'bigint',
  messageId: 'text',
  toAddress: 'text',
})

export const listLoggedInQueue = (tx: Db, logged: LoggedMail[]) =>
  tx.query<EndedMail>(sql`
    select distinct e.business_id as "businessId", e.email_id as "emailId",
           e.event_trigger_id as "eventTriggerId", e.object_type as "objectType", 'SENT' as status,
           null as "statusReason"
    from ${rowTable(LOGGED, logged)}
    join email e using (business_id, email_id, message_id)
    join email_queue q using (business_id, email_id)`)

/**
 * Pending triggers that were due before the hold, for clients to whom a mail went that the database does
 * not know. The log does not name the trigger, so all of such a client may have been sent.
 */
export const listTriggersLogged = (tx: Db, logged: LoggedMail[], heldSince: Temporal.Instant) =>
  tx.query<TriggerKey>(sql`
    with lost as (
      select distinct r.business_id, r.to_address from ${rowTable(LOGGED, logged)}
      where r.email_id > coalesce((
        select max(email_id) from email where created_date <= ${heldSince}), 0)
        and not exists (
          select from email e where (e.business_id, e.email_id) = (r.business_id, r.email_id))
    ), written as (
      select c.business_id, c.client_id from client c join lost l
        on l.business_id = c.business_id and l.to_address = lower(c.email_address)
    ), due as (
      select * from pending_trigger where next_attempt_time <= ${heldSince}
    )
    select p.business_id as "businessId", p.event_trigger_id as "eventTriggerId"
    from due p
    where p.object_type = 'CALENDAR' and exists (
        select from calendar o join written using (business_id, client_id)
        where (o.business_id, o.calendar_id) = (p.business_id, p.object_id))
      or p.object_type = 'RECALL' and exists (
        select from recall o join written using (business_id, client_id)
        where (o.business_id, o.recall_id) = (p.business_id, p.object_id))
      or p.object_type = 'DISCLAIMER' and exists (
        select from disclaimer o join written using (business_id, client_id)
        where (o.business_id, o.disclaimer_id) = (p.business_id, p.object_id))
      or p.object_type = 'INVITATION' and exists (
        select from invitation o join written using (business_id, client_id)
        where (o.business_id, o.invitation_uuid::text) = (p.business_id, p.object_uuid))
      or p.object_type = 'CLASS_SCHEDULE' and exists (
        select from class_schedule o join written w on w.business_id = o.business_id
          and o.client_id_list @> array[w.client_id]
        where (o.business_id, o.class_schedule_id) = (p.business_id, p.object_id))`)
