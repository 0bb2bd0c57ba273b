import { empty, raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'

/** `c`: the appointments of the scope that begin in its range. Deleted ones are excluded. */
export const appointmentsIn = (scope: Scope) => sql`
  c.business_id = ${scope.businessId} and c.active
  and c.start_time >= ${scope.from} and c.start_time < ${scope.until}
  ${ofScope('c', scope)} ${anyOf('c.status', scope.statuses, 'text')}`

/** `k`: the classes of the scope that begin in its range. */
export const classesIn = (scope: Scope) => sql`
  k.business_id = ${scope.businessId} and k.active
  and k.start_time >= ${scope.from} and k.start_time < ${scope.until}
  ${ofScope('k', scope)} ${anyOf('k.status', scope.statuses, 'text')}`

const ofScope = (table: string, { locationIds, professionalIds, reasonIds }: Scope) => sql`
  ${anyOf(`${table}.location_id`, locationIds)}
  ${anyOf(`${table}.professional_id`, professionalIds)}
  ${anyOf(`${table}.reason_id`, reasonIds)}`

/**
 * `t`: the triggers or emails whose object is in the scope. An object without a location belongs to the
 * whole business, so it is included only if there is no filter.
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

/** `null` adds no condition to the statement. */
export const anyOf = (column: string, values: unknown[] | null, type = 'bigint'): Sql =>
  values ? sql`and ${raw(column)} = any (${values}::${raw(type)}[])` : empty

/**
 * The local time of an instant in the range. It uses the time zone data of Node, like triggers and emails:
 * those of PostgreSQL may be of another version.
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

/** The same for an instant outside the range, with the time zone data of PostgreSQL. */
export const localAtAnyTime = (moment: string, { timeZone }: Scope) =>
  sql`(${raw(moment)} at time zone ${timeZone}::text)`

export const dateOf = (moment: string, scope: Scope) =>
  sql`to_char(${local(moment, scope)}, 'YYYY-MM-DD')`

export const timeOf = (moment: string, scope: Scope) =>
  sql`to_char(${local(moment, scope)}, 'HH24:MI')`

/** Elapsed minutes, also across a clock change. */
export const minutesOf = (table: string) =>
  raw(`(extract(epoch from ${table}.end_time - ${table}.start_time) / 60)::float8`)
