import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** How a business's day and its automations stand. */
export type Overview = {
  appointmentsToday: number
  classesToday: number
  activeDefinitions: number
  triggersWaiting: number
  triggersDueToday: number
  nextTriggerTime: Temporal.Instant | null
  triggersOfLastDay: Record<string, number>
  emailsOfLastDay: Record<string, number>
}

type Span = { now: Temporal.Instant; dayStart: Temporal.Instant; dayEnd: Temporal.Instant }

export async function readOverview(db: Db, businessId: number, span: Span): Promise<Overview> {
  const { now, dayStart, dayEnd } = span
  const dayAgo = now.subtract({ hours: 24 })
  const [row] = await db.query<Overview>(sql`
    select
      (select count(*) from calendar where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd}) as "appointmentsToday",
      (select count(*) from class_schedule where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd}) as "classesToday",
      (select count(*) from event_definition
       where business_id = ${businessId} and active) as "activeDefinitions",
      (select count(*) from event_trigger
       where business_id = ${businessId} and status = 'SCHEDULED') as "triggersWaiting",
      (select count(*) from event_trigger where business_id = ${businessId}
         and status = 'SCHEDULED' and scheduled_time < ${dayEnd}) as "triggersDueToday",
      (select min(scheduled_time) from event_trigger
       where business_id = ${businessId} and status = 'SCHEDULED') as "nextTriggerTime",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select status, count(*) as n from event_trigger
         where business_id = ${businessId} and status not in ('SCHEDULED', 'RUNNING')
           and scheduled_time >= ${dayAgo} and scheduled_time <= ${now}
         group by status) t) as "triggersOfLastDay",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select status, count(*) as n from email
         where business_id = ${businessId} and created_date >= ${dayAgo}
         group by status) e) as "emailsOfLastDay"`)
  return row!
}
