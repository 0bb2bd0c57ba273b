import type { ObjectType } from '../../contract/event-type.ts'
import type { StatusOutcome } from '../../contract/status.ts'
import { empty, join, raw, sql, type Sql } from '../../database/sql.ts'
import type { Scope, Zone } from '../report.ts'

/**
 * The appointments of the scope that begin in its range, one row each, for `from (…) a`. Deleted ones
 * are excluded. `outcome` is KEPT, MISSED, CANCELLED, UNCLOSED or AHEAD; see docs/reports.md. `others`:
 * further columns of `source`, which has all rows and columns of `calendar`.
 */
export const appointmentRows = (scope: Scope, source = raw('calendar'), others = empty) => sql`
  select c.calendar_id, c.client_id, c.professional_id, c.reason_id, c.location_id, c.status,
         c.start_time, c.end_time, c.booked_time, c.note, c.price, coalesce(c.currency, ${NO_CURRENCY}) as currency,
         ${minutesOf('c')} as minutes,
         ${local('c.start_time', 'c.location_id', scope)} as local_start,
         ${outcomeOf('c', 'CALENDAR', scope)} as outcome, ${isUnrated('c', scope)} as is_unrated, 1 as n ${others}
  from ${source} c
  where ${appointmentsIn(scope)}`

/** The code of ISO 4217 for a price without a currency. */
export const NO_CURRENCY = 'XXX'

/** `a`: the currency of a price in a list; an appointment without a price has none. */
export const currencyOfPrice = raw('case when a.price is not null then a.currency end as currency')

const NAMED = { client: 'cl', reason: 'r', professional: 'p', location: 'l' }

/** Joins the clients `cl`, services `r`, staff `p` and locations `l` that the rows of `table` name. */
export const joinNames = (
  table: string,
  named: readonly (keyof typeof NAMED)[],
  { businessId }: Scope,
) =>
  join(
    named.map((name) => {
      const [as, id] = [NAMED[name], `${name}_id`]
      return sql`join ${raw(`${name} ${as} on (${as}.business_id, ${as}.${id})`)} = (${businessId}, ${raw(`${table}.${id}`)})`
    }),
    ' ',
  )

/** `c`: the appointments of the scope that begin in its range. Prefer `appointmentRows`. */
export const appointmentsIn = (scope: Scope) => sql`
  c.business_id = ${scope.businessId} and c.active
  and ${inRange('c.start_time', 'c.location_id', scope)} ${filtered('c', scope)}`

/** `c`, `r`: all filters except the range, of an appointment or a recall. */
export const filtered = (table: 'c' | 'r', scope: Scope) => sql`
  ${ofScope(table, scope)} ${anyOf(`${table}.client_id`, scope.clientIds)}
  ${anyOf(`${table}.status`, scope.statuses, 'text')} ${tagged(table, scope)}`

/**
 * The appointments of the scope that were booked in its range, one row each, for `from (…) f`. Their
 * `local_start` is the time of booking. `lead_days` is null if they were entered afterwards.
 */
export const bookingRows = (scope: Scope) => sql`
  select b.*, case when b.booked_time <= b.start_time
                   then ${localAtAnyTime('b.start_time', 'b.location_id', scope)}::date - b.local_start::date
              end as lead_days
  from (select c.calendar_id, c.client_id, c.professional_id, c.reason_id, c.location_id, c.start_time,
               c.booked_time, c.status, c.price, coalesce(c.currency, ${NO_CURRENCY}) as currency, 1 as n,
               ${local('c.booked_time', 'c.location_id', scope)} as local_start,
               ${outcomeOf('c', 'CALENDAR', scope)} as outcome
        from calendar c
        where c.business_id = ${scope.businessId} and c.active
          and c.booked_time <= ${scope.now} and ${inRange('c.booked_time', 'c.location_id', scope)}
          ${filtered('c', scope)}) b`

/** The classes of the scope that begin in its range, one row each, for `from (…) k`. */
export const classRows = (scope: Scope) => sql`
  select k.class_schedule_id, k.name, k.professional_id, k.reason_id, k.location_id, k.status,
         k.start_time, k.end_time, k.client_id_list, k.capacity, k.attendance, 1 as n,
         cardinality(k.client_id_list) as enrolled,
         ${minutesOf('k')} as minutes,
         ${local('k.start_time', 'k.location_id', scope)} as local_start,
         ${outcomeOf('k', 'CLASS_SCHEDULE', scope)} as outcome
  from class_schedule k
  where ${classesIn(scope)}`

const classesIn = (scope: Scope) => sql`
  k.business_id = ${scope.businessId} and k.active
  and ${inRange('k.start_time', 'k.location_id', scope)}
  ${ofScope('k', scope)} ${anyOf('k.status', scope.statuses, 'text')} ${tagged('k', scope)}
  ${scope.clientIds ? sql`and k.client_id_list && ${scope.clientIds}::bigint[]` : empty}`

/** The text in the client column for a class: `1 student`, `12 students`. */
export const studentsInWords = (count: string) =>
  raw(`${count} || case when ${count} = 1 then ' student' else ' students' end`)

export const STUDENT_WORDS = ['student', 'students']

/** `a`: rows in the order of their days; the days of several zones overlap. */
export const inOrder = (table: string, id: string, { zones }: Scope) =>
  inOrderOf([`${table}.local_start`, `${table}.start_time`, `${table}.${id}`], zones)

/** Orders by these columns. The first is the local time, needed only with several zones. */
export const inOrderOf = (columns: [local: string, ...others: string[]], zones: Scope['zones']) =>
  raw((zones.length > 1 ? columns : columns.slice(1)).join(', '))

/** The outcome of an object of this type. An appointment that has not begun cannot have been kept. */
export function outcomeOf(table: string, objectType: ObjectType, scope: Scope): Sql {
  const { now } = scope
  const statuses = (outcome: StatusOutcome) => statusesOf(objectType, outcome, scope)
  return sql`case when ${raw(table)}.status = any (${statuses('CANCELLED')}::text[]) then 'CANCELLED'
       when ${raw(table)}.start_time > ${now} then 'AHEAD'
       when ${raw(table)}.status = any (${statuses('KEPT')}::text[]) then 'KEPT'
       when ${raw(table)}.status = any (${statuses('MISSED')}::text[]) then 'MISSED'
       else 'UNCLOSED' end`
}

/** A kept appointment of a feed whose source cannot tell no-shows: it was closed, whether the client came or not. */
export function isUnrated(table: string, scope: Scope): Sql {
  const { unratedFeeds, now } = scope
  if (unratedFeeds.length === 0) return sql`false`
  const ofFeeds = unratedFeeds.map(
    ({ feedId, until }) => sql`
      ${raw(table)}.feed_id = ${feedId} and ${raw(table)}.start_time < ${until ?? now}`,
  )
  return sql`coalesce(${raw(table)}.status = any (${statusesOf('CALENDAR', 'KEPT', scope)}::text[])
    and ${raw(table)}.start_time <= ${now} and (${join(ofFeeds, ' or ')}), false)`
}

/** The statuses of this type of object that count as the outcome. What was cancelled late was cancelled. */
export const statusesOf = (objectType: ObjectType, outcome: StatusOutcome, { outcomes }: Scope) =>
  outcomes
    .filter((one) => one.objectType === objectType)
    .filter((one) => one.outcome === outcome || (outcome === 'CANCELLED' && one.outcome === LATE))
    .flatMap((one) => one.statuses)

const LATE: StatusOutcome = 'LATE_CANCELLED'

export const ofScope = (table: string, { locationIds, professionalIds, reasonIds }: Scope) => sql`
  ${anyOf(`${table}.location_id`, locationIds)}
  ${anyOf(`${table}.professional_id`, professionalIds)}
  ${anyOf(`${table}.reason_id`, reasonIds)}`

/** The same rule as in definitions: the object or its client has one of the values of each tag. */
export function tagged(table: 'c' | 'd' | 'i' | 'k' | 'r', { tags }: Scope): Sql {
  if (!tags) return empty
  const clients =
    table === 'k'
      ? sql`t.client_id = any (k.client_id_list)`
      : sql`t.client_id = ${raw(table)}.client_id`
  const conditions = tags.map(
    ([name, values]) => sql`
      and (${raw(table)}.tags -> ${name} ?| ${values}::text[]
           or exists (select from client t
                      where t.business_id = ${raw(table)}.business_id and ${clients}
                        and t.tags -> ${name} ?| ${values}::text[]))`,
  )
  return join(conditions, '')
}

/** Has a filter by location, staff or service. */
export const isNarrowed = ({ locationIds, professionalIds, reasonIds }: Scope) =>
  locationIds !== null || professionalIds !== null || reasonIds !== null

/**
 * `t`: the triggers or emails whose object is in the scope. An object without a location belongs to the
 * whole business, so it is included only if there is no filter by location, staff or service.
 */
export function objectsOf(scope: Scope): Sql {
  const { clientIds } = scope
  const isOfPart = isNarrowed(scope)
  if (!isOfPart && !clientIds) return empty
  const one = (objectType: ObjectType, table: string, key: string) => sql`
    t.object_type = ${objectType} and exists (
      select from ${raw(table)} o
      where o.business_id = t.business_id and ${raw(key)}
        ${isOfPart ? ofScope('o', scope) : empty} ${ofClients(objectType, clientIds)})`
  const objects = [
    one('CALENDAR', 'calendar', 'o.calendar_id = t.object_id'),
    one('CLASS_SCHEDULE', 'class_schedule', 'o.class_schedule_id = t.object_id'),
    one('RECALL', 'recall', 'o.recall_id = t.object_id'),
    ...(isOfPart
      ? []
      : [
          one('INVITATION', 'invitation', 'o.invitation_uuid = t.object_uuid'),
          one('DISCLAIMER', 'disclaimer', 'o.disclaimer_id = t.object_id'),
        ]),
  ]
  return sql`and (${join(objects, ' or ')})`
}

function ofClients(objectType: ObjectType, clientIds: number[] | null) {
  if (objectType !== 'CLASS_SCHEDULE') return anyOf('o.client_id', clientIds)
  return clientIds ? sql`and o.client_id_list && ${clientIds}::bigint[]` : empty
}

/** `null` adds no condition to the statement. */
export const anyOf = (column: string, values: unknown[] | null, type = 'bigint'): Sql =>
  values ? sql`and ${raw(column)} = any (${values}::${raw(type)}[])` : empty

/** The moment is in the range, on the calendar of the row's location. */
export function inRange(moment: string, location: string, scope: Scope): Sql {
  const within = ({ from, until }: Pick<Zone, 'from' | 'until'>) =>
    sql`${raw(moment)} >= ${from} and ${raw(moment)} < ${until}`
  if (scope.zones.length === 1) return within(scope.zones[0]!)
  // The outer bounds let PostgreSQL use the index by time.
  return sql`${within(scope)} and ${byZone(location, scope, within)}`
}

/**
 * The local time of an instant in the range, at the row's location. Uses the time zone data of Node,
 * as triggers and emails do: PostgreSQL may have another version.
 */
export const local = (moment: string, location: string, scope: Scope): Sql =>
  byZone(location, scope, (zone) => localIn(moment, zone))

function localIn(moment: string, { from, until, timeZone }: Zone): Sql {
  let at: Temporal.ZonedDateTime | null = from.toZonedDateTimeISO(timeZone)
  let offset = offsetOf(at)
  let cases = empty
  for (;;) {
    at = at.getTimeZoneTransition('next')
    if (!at || at.epochMilliseconds >= until.epochMilliseconds) break
    cases = sql`${cases} when ${raw(moment)} < ${at.toInstant()} then ${offset}`
    offset = offsetOf(at)
  }
  const shift = cases === empty ? offset : sql`case ${cases} else ${offset} end`
  return sql`(${raw(moment)} at time zone ${shift})`
}

const offsetOf = ({ offsetNanoseconds }: Temporal.ZonedDateTime) =>
  sql`make_interval(secs => ${offsetNanoseconds / 1e9})`

/** One expression for each zone, chosen by the row's location. */
export function byZone(location: string, { zones }: Scope, write: (zone: Zone) => Sql): Sql {
  if (zones.length === 1) return write(zones[0]!)
  const cases = zones
    .slice(0, -1)
    .map(
      (zone) =>
        sql`when ${raw(location)} = any (${zone.locationIds}::bigint[]) then ${write(zone)}`,
    )
  return sql`(case ${join(cases, ' ')} else ${write(zones.at(-1)!)} end)`
}

/** The local time of an instant outside the range, with the time zone data of PostgreSQL. */
export const localAtAnyTime = (moment: string, location: string, scope: Scope) =>
  sql`(${raw(moment)} at time zone ${byZone(location, scope, ({ timeZone }) => sql`${timeZone}::text`)})`

/** The current date at the row's location. */
export const todayAt = (location: string, scope: Scope) =>
  sql`(${scope.now}::timestamptz at time zone ${byZone(location, scope, ({ timeZone }) => sql`${timeZone}::text`)})::date`

/** Elapsed minutes, also across a clock change. */
export const minutesOf = (table: string) =>
  raw(`(date_part('epoch', ${table}.end_time - ${table}.start_time) / 60)`)
