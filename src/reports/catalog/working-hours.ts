import { raw, sql } from '../../database/sql.ts'
import type { Scope } from '../report.ts'
import { anyOf, appointmentRows, byZone, classRows } from './conditions.ts'

/**
 * The open days of the scope up to its end, one row each: somebody works by their working hours, or an
 * appointment or a class begins that was not cancelled. Comparisons of days and periods are per open day.
 */
export const openDays = (scope: Scope) => sql`
  select s.day from (${shifts(scope)}) s
  join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, s.professional_id) and p.active
  where not isempty(s.span)
  union
  select a.local_start::date from (${appointmentRows(scope)}) a where a.outcome <> 'CANCELLED'
  union
  select k.local_start::date from (${classRows(scope)}) k where k.outcome <> 'CANCELLED'`

/** How often something happened per open day; null without open days. */
export const perDay = (count: number | null | undefined, days: number | null | undefined) =>
  days ? Math.round((10 * (count ?? 0)) / days) / 10 : null

/**
 * The shifts of each member of staff, on the clock of their location. A shift across a clock change
 * counts with its elapsed time. Hours without a location count for each location of the person.
 */
export const shifts = (scope: Scope) => sql`
  select d.professional_id, d.day,
         tstzrange(d.starts, greatest(d.starts, d.ends))
           * ${byZone('d.location_id', scope, ({ from, until }) => sql`tstzrange(${from}, ${until})`)} as span
  from (
    select h.professional_id, h.day, h.location_id,
           (h.day + h.from_time::interval) at time zone ${zoneOf('h.location_id', scope)} as starts,
           (h.day + h.to_time::interval) at time zone ${zoneOf('h.location_id', scope)} as ends
    from (${scope.zones.length > 1 ? onClocks(scope) : workingHours(scope)}) h
  ) d`

/**
 * Hours without a location, with a location that has their clock: those of the person's at which they are
 * booked on that day; else any of the person's, if all have the same clock; else none (the business's).
 */
const onClocks = (scope: Scope) => sql`
  select h.professional_id, h.day, h.from_time, h.to_time, clock.location_id
  from (${workingHours(scope)}) h
  left join (
    select b.professional_id, b.local_start::date as day, array_agg(distinct b.location_id) as location_ids
    from (select a.professional_id, a.local_start, a.location_id
          from (${appointmentRows(scope)}) a where a.outcome <> 'CANCELLED'
          union all
          select k.professional_id, k.local_start, k.location_id
          from (${classRows(scope)}) k where k.outcome <> 'CANCELLED') b
    group by 1, 2
  ) booked on h.location_id is null and (booked.professional_id, booked.day) = (h.professional_id, h.day)
  cross join lateral (
    with here as (select l from unnest(booked.location_ids) l where l = any (h.location_id_list))
    select l as location_id from here
    union all
    select coalesce(h.location_id, case when count(distinct ${zoneOf('l', scope)}) = 1 then min(l) end)
    from unnest(h.location_id_list) l ${scope.locationIds ? sql`where l = any (${scope.locationIds}::bigint[])` : sql``}
    having not exists (select from here)
  ) clock`

/** The working hours of each member of staff on each day, without those at other locations. */
const workingHours = (scope: Scope) => sql`
  select h.* from (
    select p.professional_id, p.location_id_list, day::date as day, e ->> 'from' as from_time, e ->> 'to' as to_time,
           coalesce((e ->> 'locationId')::bigint,
                    case when cardinality(p.location_id_list) = 1 then p.location_id_list[1] end) as location_id
    from professional p
    cross join generate_series(${scope.startDate}::date::timestamp, ${scope.endDate}::date::timestamp, '1 day') day
    cross join lateral (
      select x from jsonb_array_elements(p.working_exceptions) x where ${isOn('x')} and x ->> 'from' is not null
      union all
      select w from jsonb_array_elements(p.working_hours) w
      where w ->> 'weekday' = trim(to_char(day, 'DAY'))
        and not exists (select from jsonb_array_elements(p.working_exceptions) x
                        where ${isOn('x')} and coalesce(x ->> 'locationId' = w ->> 'locationId', true))
    ) o (e)
    where p.business_id = ${scope.businessId} ${anyOf('p.professional_id', scope.professionalIds)}
  ) h
  where true ${scope.locationIds ? sql`and (h.location_id is null or h.location_id = any (${scope.locationIds}::bigint[]))` : sql``}`

/** Whether a day off or special hours apply to the `day`. An entry without hours is a day off. */
const isOn = (entry: string) =>
  raw(
    `(${entry} ->> 'startDate')::date <= day and day <= coalesce(${entry} ->> 'endDate', ${entry} ->> 'startDate')::date`,
  )

const zoneOf = (location: string, scope: Scope) =>
  byZone(location, scope, ({ timeZone }) => sql`${timeZone}::text`)
