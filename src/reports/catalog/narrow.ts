import { empty, raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'

/** `c`: the appointments of the scope that begin in its range. Deleted ones never happened. */
export const appointmentsIn = (scope: Scope) => sql`
  c.business_id = ${scope.businessId} and c.active
  and c.start_time >= ${scope.from} and c.start_time < ${scope.until}
  ${ofScope('c', scope)} ${anyOf('c.status', scope.statuses, 'text')}`

/** `k`: the classes of the scope that begin in its range. */
export const classesIn = (scope: Scope) => sql`
  k.business_id = ${scope.businessId} and k.active
  and k.start_time >= ${scope.from} and k.start_time < ${scope.until}
  ${ofScope('k', scope)} ${anyOf('k.status', scope.statuses, 'text')}`

export const ofScope = (table: string, { locationIds, professionalIds, reasonIds }: Scope) => sql`
  ${anyOf(`${table}.location_id`, locationIds)}
  ${anyOf(`${table}.professional_id`, professionalIds)}
  ${anyOf(`${table}.reason_id`, reasonIds)}`

/**
 * `t`: a trigger or mail whose object is one that the scope sees. An object without a place
 * belongs to the whole business, so it shows only where nothing is narrowed.
 */
export function objectsOf(scope: Scope): Sql {
  if (!scope.locationIds && !scope.professionalIds && !scope.reasonIds) return empty
  const one = (objectType: string, table: string, id: string) => sql`
    t.object_type = ${objectType} and exists (
      select from ${raw(table)} o
      where o.business_id = t.business_id and o.${raw(id)} = t.object_id ${ofScope('o', scope)})`
  return sql`and (
    ${one('CALENDAR', 'calendar', 'calendar_id')}
    or ${one('CLASS_SCHEDULE', 'class_schedule', 'class_schedule_id')}
    or ${one('RECALL', 'recall', 'recall_id')})`
}

/** `null` narrows nothing, and leaves nothing in the statement that the planner must think about. */
export const anyOf = (column: string, values: unknown[] | null, type = 'bigint'): Sql =>
  values ? sql`and ${raw(column)} = any (${values}::${raw(type)}[])` : empty

/**
 * The wall clock of the report's zone, of a moment in its range. By the rules that triggers and
 * mails follow: the database has rules of its own, which may be of another year.
 */
export function local(moment: string, { from, until, timeZone }: Scope) {
  let at: Temporal.ZonedDateTime | null = from.toZonedDateTimeISO(timeZone)
  let offset = offsetOf(at)
  let whens = empty
  for (;;) {
    at = at.getTimeZoneTransition('next')
    if (!at || at.epochMilliseconds >= until.epochMilliseconds) break
    whens = sql`${whens} when ${raw(moment)} < ${at.toInstant()} then ${offset}`
    offset = offsetOf(at)
  }
  const shift = whens === empty ? offset : sql`case ${whens} else ${offset} end`
  return sql`(${raw(moment)} at time zone ${shift})`
}

const offsetOf = ({ offsetNanoseconds }: Temporal.ZonedDateTime) =>
  sql`make_interval(secs => ${offsetNanoseconds / 1e9})`

/** The same of any moment, by the database's rules. */
export const localAtAnyTime = (moment: string, { timeZone }: Scope) =>
  sql`(${raw(moment)} at time zone ${timeZone}::text)`

export const dateOf = (moment: string, scope: Scope) =>
  sql`to_char(${local(moment, scope)}, 'YYYY-MM-DD')`

export const timeOf = (moment: string, scope: Scope) =>
  sql`to_char(${local(moment, scope)}, 'HH24:MI')`

/** Real minutes: an appointment over a clock change is as long as it was. */
export const minutesOf = (table: string) =>
  raw(`(extract(epoch from ${table}.end_time - ${table}.start_time) / 60)::float8`)
