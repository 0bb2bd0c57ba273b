import type { Db } from '../database/database.ts'
import type { ObjectType } from '../contract/event-type.ts'
import { join, raw, sql, type Sql } from '../database/sql.ts'
import { ofAnyOutcome, shownStatus } from './emails.ts'
import { readObjectNames } from './object-names.ts'
import { overdueAt } from './queue-health.ts'
import type { TriggerStatus } from '../contract/event-trigger.ts'
import { aboutVisibleObject, atVisiblePlace, type Visibility } from './visibility.ts'

export type Overview = {
  appointmentsToday: number
  classesToday: number
  activeDefinitions: number
  triggersWaiting: number
  triggersDueToday: number
  approvalsWaiting: number
  nextTriggerTime: Temporal.Instant | null
  triggersOfLastDay: Record<string, number>
  emailsOfLastDay: Record<string, number>
}

type OverviewQuery = {
  now: Temporal.Instant
  dayStart: Temporal.Instant
  dayEnd: Temporal.Instant
  visibility: Visibility
}

export async function readOverview(
  db: Db,
  businessId: number,
  query: OverviewQuery,
): Promise<Overview> {
  const { now, dayStart, dayEnd, visibility } = query
  const place = atVisiblePlace(visibility)
  const pendingVisibility = aboutVisibleObject('w', visibility)
  const triggers = aboutVisibleObject('event_trigger', visibility)
  const dayAgo = now.subtract({ hours: 24 })
  return db.getRow<Overview>(sql`
    select
      (select count(*) from calendar where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd} ${place}) as "appointmentsToday",
      (select count(*) from class_schedule where business_id = ${businessId} and active
         and start_time >= ${dayStart} and start_time < ${dayEnd} ${place}) as "classesToday",
      (select count(*) from event_definition
       where business_id = ${businessId} and active) as "activeDefinitions",
      (select count(*) from pending_trigger w
       where business_id = ${businessId} and worker is null ${pendingVisibility}) as "triggersWaiting",
      (select count(*) from pending_trigger w where business_id = ${businessId}
         and worker is null and scheduled_time < ${dayEnd} ${pendingVisibility}) as "triggersDueToday",
      (select count(*) from approval where business_id = ${businessId}
         and not is_applied and status = 'WAITING') as "approvalsWaiting",
      (select min(scheduled_time) from pending_trigger w
       where business_id = ${businessId} and worker is null ${pendingVisibility}) as "nextTriggerTime",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select status, count(*) as n from event_trigger
         where business_id = ${businessId} and status in ('COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED', 'EXPIRED')
           and scheduled_time >= ${dayAgo} and scheduled_time <= ${now} ${triggers}
         group by status) t) as "triggersOfLastDay",
      (select coalesce(jsonb_object_agg(status, n), '{}') from (
         select ${shownStatus} as status, count(*) as n from email
         where business_id = ${businessId} and ${ofAnyOutcome} and created_date >= ${dayAgo}
           ${aboutVisibleObject('email', visibility)}
         group by 1) e) as "emailsOfLastDay"`)
}

const FINISHED = sql`status in ('COMPLETED', 'FAILED', 'CANCELLED', 'SKIPPED', 'EXPIRED', 'RUNNING')`

export type Span = { from: Temporal.Instant; to: Temporal.Instant; visibility: Visibility }

export function listQuarterHours(db: Db, businessId: number, { from, to, visibility }: Span) {
  return db.query<{ time: Temporal.Instant; status: TriggerStatus; count: number }>(sql`
    select date_bin('15 minutes', scheduled_time, ${from}) as time, status, count(*) as count
    from (
      select scheduled_time, case when worker is null then 'SCHEDULED' else 'RUNNING' end as status
      from pending_trigger w
      where business_id = ${businessId} and scheduled_time >= ${from} and scheduled_time < ${to}
        ${aboutVisibleObject('w', visibility)}
      union all
      select scheduled_time, status from event_trigger
      where business_id = ${businessId} and ${FINISHED}
        and scheduled_time >= ${from} and scheduled_time < ${to}
        ${aboutVisibleObject('event_trigger', visibility)}) t
    group by 1, 2 order by 1, 2`)
}

/** How many triggers of each status were scheduled for each day of this time zone. */
export function listDays(
  db: Db,
  businessId: number,
  timeZone: string,
  { from, to, visibility }: Span,
) {
  return db.query<{ day: string; counts: Record<string, number> }>(sql`
    select day::text, jsonb_object_agg(status, count) as counts
    from (
      select (scheduled_time at time zone ${timeZone})::date as day, status, count(*) as count
      from event_trigger
      where business_id = ${businessId} and ${FINISHED}
        and scheduled_time >= ${from} and scheduled_time < ${to}
        ${aboutVisibleObject('event_trigger', visibility)}
      group by 1, 2) t
    group by day order by day`)
}

type FailedTrigger = {
  count: number
  /** The failed mails of the group. */
  emailIds: number[]
  eventTriggerId: number
  eventDefnId: number
  objectType: ObjectType
  objectId: number | null
  objectUUId: string | null
  description: string | null
  templateName: string | null
  scheduledTime: Temporal.Instant
  statusReason: string | null
  emailId: number | null
  to: string | null
  /** Of all its mails that failed. */
  addresses: string[] | null
}

/** The newest ones; a mail server that refuses everything would make each overview slow. */
const MAX_FAILURES = 5_000
/** Failures of the same mail with the same reason, but for addresses in it. */
const MAX_GROUPS = 20
/** Those of a group whose clients are named. */
const MAX_NAMED = 3
/** As many as one request sends again. */
const MAX_SENT_AGAIN = 1_000

/** Whether a mail was sent again, and the repeated mail did not fail too. */
const isSentAgain = sql`exists (
  select from email again
  where again.business_id = e.business_id and again.repeats_email_id = e.email_id
    and again.status not in ('FAILED', 'SUPPRESSED', 'CANCELLED'))`

/**
 * The triggers that failed, with the mails of each that were refused and not sent again, in groups
 * that need the same step. A group is described by its newest trigger.
 */
export async function listFailures(db: Db, businessId: number, { from, to, visibility }: Span) {
  const rows = await db.query<FailedTrigger & { group: number }>(sql`
    with failed as (
      select t.event_trigger_id, t.event_defn_id, t.object_type, t.object_id, t.object_uuid,
             d.description, t.scheduled_time, t.status_reason, m.*
      from event_trigger t
      join event_definition d
        on d.business_id = t.business_id and d.event_defn_id = t.event_defn_id
      left join lateral (
        select array_agg(e.email_id order by e.email_id) as email_ids,
               array_agg(e.to_address order by e.email_id) as addresses,
               (array_agg(n.template_name order by e.email_id))[1] as template_name
        from email e
        left join email_template n
          on (n.business_id, n.email_template_id) = (e.business_id, e.email_template_id)
        where e.business_id = t.business_id and e.event_trigger_id = t.event_trigger_id
          and e.status = 'FAILED' and not ${isSentAgain}) m on true
      where t.business_id = ${businessId} and t.status = 'FAILED'
        and t.scheduled_time >= ${from} and t.scheduled_time < ${to}
        and (m.email_ids is not null or not exists (
          select from email e
          where e.business_id = t.business_id and e.event_trigger_id = t.event_trigger_id
            and ${isSentAgain}))
        ${aboutVisibleObject('t', visibility)}
      order by t.scheduled_time desc, t.event_trigger_id desc limit ${MAX_FAILURES}),
    grouped as (
      select count(*) filter (where ${isFirst}) as count,
             ${newest(sql`event_trigger_id`)} filter (where ${isFirst}) as ids,
             ${newest(sql`email_id`)} filter (where email_id is not null) as email_ids
      from failed left join unnest(email_ids) with ordinality as mail (email_id, place) on true
      group by coalesce(template_name, description),
               regexp_replace(status_reason, '\\S+@\\S+', '', 'g')
      order by max(scheduled_time) desc, 2 desc limit ${MAX_GROUPS})
    select g.ids[1] as "group", g.count,
           coalesce(g.email_ids[1:${MAX_SENT_AGAIN}], '{}') as "emailIds",
           f.event_trigger_id as "eventTriggerId", f.event_defn_id as "eventDefnId",
           f.object_type as "objectType", f.object_id as "objectId", f.object_uuid as "objectUUId",
           f.description, f.scheduled_time as "scheduledTime", f.status_reason as "statusReason",
           f.email_ids[1] as "emailId", f.addresses[1] as "to", f.addresses,
           f.template_name as "templateName"
    from grouped g join failed f on f.event_trigger_id = any (g.ids[1:${MAX_NAMED}])
    order by f.scheduled_time desc, f.event_trigger_id desc`)
  const namesOf = await readObjectNames(db, businessId, rows)
  return [...Map.groupBy(rows, ({ group }) => group).values()].map((named) => {
    const {
      group: _group,
      objectType,
      objectId,
      objectUUId,
      addresses: _addresses,
      ...first
    } = named[0]!
    const { clientId, clientName } = namesOf({ objectType, objectId, objectUUId })
    const names = named.flatMap((one) => namesOf(one).clientName ?? one.addresses ?? [])
    return { ...first, clientId, clientName, names: names.slice(0, MAX_NAMED) }
  })
}

/** One row of each trigger: it has one for each of its mails. */
const isFirst = sql`coalesce(place, 1) = 1`

const newest = (column: Sql) =>
  sql`array_agg(${column} order by scheduled_time desc, event_trigger_id desc, place)`

/** How many objects of each kind a business has; up to 1,000 are counted. */
export const countSettings = (db: Db, businessId: number) =>
  db.getRow<Record<(typeof SETUP)[number][0], number>>(sql`
    select ${join(
      SETUP.map(
        ([name, table]) => sql`
          (select count(*) from (
             select from ${raw(table)} where business_id = ${businessId} and active
             limit 1000) counted) as ${raw(name)}`,
      ),
      ', ',
    )}`)

const SETUP = [
  ['locations', 'location'],
  ['professionals', 'professional'],
  ['clients', 'client'],
  ['appointments', 'calendar'],
  ['automations', 'event_definition'],
] as const

/** A mail that waited can be sent after newer ones, so this many of the newest are searched. */
const LAST_SENT_AMONG = 1_000

export const readMailState = (db: Db, businessId: number, now: Temporal.Instant) =>
  db.getRow<{
    waiting: number
    lastSentTime: Temporal.Instant | null
    sentLastDay: number
  }>(sql`
    select (select count(*) from email_queue where business_id = ${businessId}) as waiting,
           (select max(sent_time) from (
              select sent_time from email
              where business_id = ${businessId} and outcome = 'SENT' and status = 'SENT'
              order by created_date desc limit ${LAST_SENT_AMONG}) e) as "lastSentTime",
           (select count(*) from email
            where business_id = ${businessId} and outcome = 'SENT' and status = 'SENT'
              and created_date >= ${now.subtract({ hours: 24 })}) as "sentLastDay"`)

export async function countOverdue(db: Db, businessId: number, now: Temporal.Instant) {
  const row = await db.getRow<{ overdue: number }>(sql`
    select count(*) as overdue from pending_trigger
    where business_id = ${businessId} and ${overdueAt(now)}`)
  return row.overdue
}
