import { raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import type { Words } from '../words.ts'
import { compareReminded, MAX_NEEDED, MIN_GROUP, type Stratum } from '../difference.ts'
import { mailOutcome } from './automation-rows.ts'
import { appointmentRows } from './conditions.ts'
import { firstVisits } from './first-visits.ts'

/** The four lines, in the order in which they are printed. LATE is never compared. */
export const REMINDER_GROUPS = {
  REACHED: 'Reached by a reminder',
  TRIED: 'Tried, but not reached',
  NOT_ASKED: 'No reminder asked for',
  LATE: 'Booked too late for a reminder (not compared)',
}

/** Days from booking to appointment: the upper bounds of the strata. */
const LEAD_DAYS = [3, 8, 31]

const REMINDER_EVENT_TYPE = 3

/** For businesses without any reminder: the usual choice of others. */
const USUAL_LEAD_MINUTES = 24 * 60

/**
 * Each appointment of the scope, without those that tell nothing about no-shows, with its group and its stratum (0 to 7). A reminder has reached the
 * client if a mail server accepted it before the appointment and it did not bounce. `freed`: the
 * appointment is cancelled. That was after the reminder, as none is sent for a cancelled appointment.
 */
export const remindedRows = (scope: Scope) => sql`
  with a as (
    select a.calendar_id, a.client_id, a.outcome, a.start_time, a.booked_time from (${appointmentRows(scope)}) a
    where not a.is_unrated
  ),
  reminded as (
    select t.calendar_id, max(t.moment) as moment, bool_or(t.reached) as reached
    from (${remindersIn('event_trigger', raw(`t.status <> 'CANCELLED' and t.occurrence is null`), scope)} union all
          ${remindersIn('pending_trigger', raw('t.worker is not null'), scope)}) t
    group by 1
  )
  select a.calendar_id, a.outcome,
         case when a.booked_time > coalesce(r.moment, a.start_time - make_interval(mins => u.lead)) then 'LATE'
              when r.reached then 'REACHED'
              when r.moment is not null then 'TRIED'
              else 'NOT_ASKED' end as reminded,
         width_bucket(extract(epoch from a.start_time - a.booked_time) / 86400, ${LEAD_DAYS}::numeric[]) * 2
           + (case when e.first_time < a.start_time then 1 else 0 end) as stratum,
         coalesce(r.reached, false) and a.outcome = 'CANCELLED' as freed
  from a
  left join reminded r using (calendar_id)
  left join (${firstVisits(sql`select client_id from a`, scope)}) e using (client_id)
  cross join (
    select coalesce(-max(d.trigger_hours * 60 + d.trigger_minutes), ${USUAL_LEAD_MINUTES})::int as lead
    from event_definition d
    where d.business_id = ${scope.businessId} and d.event_type_id = ${REMINDER_EVENT_TYPE}
      and d.deleted_date is null and d.trigger_months = 0
      and d.trigger_hours * 60 + d.trigger_minutes < 0) u`

/** `a`: the reminders of the appointments that a worker has claimed or that have fired, one row for each mail. */
const remindersIn = (table: string, hasFired: Sql, scope: Scope) => sql`
  select a.calendar_id, t.scheduled_time as moment, e.email_id is not null as reached
  from a
  join ${raw(table)} t
    on t.business_id = ${scope.businessId} and t.object_type = 'CALENDAR' and t.object_id = a.calendar_id
      and t.scheduled_time < a.start_time and ${hasFired}
  join event_definition d
    on (d.business_id, d.event_defn_id, d.event_type_id) = (${scope.businessId}, t.event_defn_id, ${REMINDER_EVENT_TYPE})
  left join email e
    on e.business_id = ${scope.businessId} and e.event_trigger_id = t.event_trigger_id
      and e.recipient_key = 'client ' || a.client_id and not e.test
      and ${mailOutcome('e')} = 'ACCEPTED' and e.sent_time <= a.start_time`

/** The appointments of each group, one row for each stratum. */
export const reminderCounts = (scope: Scope) => sql`
  select g.reminded, g.stratum,
         count(*) filter (where g.outcome in ('KEPT', 'MISSED')) as total,
         count(*) filter (where g.outcome = 'MISSED') as missed,
         count(*) filter (where g.freed) as freed
  from (${remindedRows(scope)}) g
  group by 1, 2`

export type ReminderCount = {
  reminded: keyof typeof REMINDER_GROUPS
  stratum: number
  total: number
  missed: number
  freed: number
}

/** The strata of appointments that may be compared: all that were booked before the reminder's moment. */
export function strataOf(counts: ReminderCount[]): Stratum[] {
  const strata = new Map<number, Stratum>()
  for (const { reminded, stratum, total, missed } of counts) {
    if (reminded === 'LATE') continue
    const one = strata.get(stratum) ?? {
      reached: { total: 0, missed: 0 },
      others: { total: 0, missed: 0 },
    }
    const group = reminded === 'REACHED' ? one.reached : one.others
    group.total += total
    group.missed += missed
    strata.set(stratum, one)
  }
  return [...strata.values()]
}

/** One sentence about the effect of reminders on no-shows. */
export function writeDifference(strata: Stratum[], { say, locale }: Words): string {
  const write = (value: number) => value.toLocaleString(locale)
  const difference = compareReminded(strata)
  if (!difference) {
    return say(
      'Whether reminders make a difference cannot be told yet: about {needed} more appointments are needed, {group} with a reminder and {group} without, booked as early by new or by returning clients.',
      { needed: 2 * MIN_GROUP, group: MIN_GROUP },
    )
  }
  const { points, low, high, isSignificant, needed } = difference
  if (!isSignificant) {
    return needed >= MAX_NEEDED
      ? say(
          'Whether reminders make a difference cannot be told yet: more than {needed} more appointments are needed.',
          { needed: write(MAX_NEEDED) },
        )
      : say(
          'Whether reminders make a difference cannot be told yet: about {needed} more appointments are needed.',
          { needed: write(needed) },
        )
  }
  const ends = [low, high].map(Math.abs).toSorted((a, b) => a - b)
  const toTenth = (value: number) =>
    value.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const [least, most] = ends.map(toTenth)
  return say(points < 0 ? REACHED_LESS : REACHED_MORE, {
    points: toTenth(Math.abs(points)),
    least: least!,
    most: most!,
  })
}

const REACHED_LESS =
  'Clients who were reached by a reminder missed their appointment less often, by {points} percentage points (99 % interval {least} to {most}), compared with clients who booked as early and were new or returning alike. This is a difference, not proof of an effect.'
const REACHED_MORE =
  'Clients who were reached by a reminder missed their appointment more often, by {points} percentage points (99 % interval {least} to {most}), compared with clients who booked as early and were new or returning alike. This is a difference, not proof of an effect.'
