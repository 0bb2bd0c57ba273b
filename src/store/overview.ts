import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { ofAnyOutcome, shownStatus } from './emails.ts'
import type { Sight } from './objects.ts'
import { aboutSeenObject, atSeenPlace } from './sight.ts'

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

type Look = {
  now: Temporal.Instant
  dayStart: Temporal.Instant
  dayEnd: Temporal.Instant
  sight: Sight
}

export async function readOverview(db: Db, businessId: number, look: Look): Promise<Overview> {
  const { now, dayStart, dayEnd, sight } = look
  const place = atSeenPlace(sight)
  const waits = aboutSeenObject('w', sight)
  const triggers = aboutSeenObject('event_trigger', sight)
  const dayAgo = now.subtract({ hours: 24 })
  const [row] = await db.query<Overview>(sql`
    select
      (select count(*) from calendar where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd} ${place}) as "appointmentsToday",
      (select count(*) from class_schedule where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd} ${place}) as "classesToday",
      (select count(*) from event_definition
       where business_id = ${businessId} and active) as "activeDefinitions",
      (select count(*) from waiting w
       where business_id = ${businessId} and worker is null ${waits}) as "triggersWaiting",
      (select count(*) from waiting w where business_id = ${businessId}
         and worker is null and scheduled_time < ${dayEnd} ${waits}) as "triggersDueToday",
      (select min(scheduled_time) from waiting w
       where business_id = ${businessId} and worker is null ${waits}) as "nextTriggerTime",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select status, count(*) as n from event_trigger
         where business_id = ${businessId} and status in ('COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED', 'EXPIRED')
           and scheduled_time >= ${dayAgo} and scheduled_time <= ${now} ${triggers}
         group by status) t) as "triggersOfLastDay",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select ${shownStatus} as status, count(*) as n from email
         where business_id = ${businessId} and ${ofAnyOutcome} and created_date >= ${dayAgo}
           ${aboutSeenObject('email', sight)}
         group by 1) e) as "emailsOfLastDay"`)
  return row!
}
