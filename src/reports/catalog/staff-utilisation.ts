import { sql } from '../../database/sql.ts'
import { anyOf, appointmentsIn, classesIn, minutesOf } from './conditions.ts'
import { percent, type Report, type Scope } from '../report.ts'

/** Working hours are local times. A shift across a clock change counts with its elapsed time. */
const perPerson = (scope: Scope) => sql`
  with worked as (
    select p.professional_id,
           sum(extract(epoch from ((d + (h ->> 'to')::interval) at time zone ${scope.timeZone}::text)
                                - ((d + (h ->> 'from')::interval) at time zone ${scope.timeZone}::text)) / 60)::float8 as minutes
    from professional p
    cross join jsonb_array_elements(p.working_hours) h
    cross join generate_series(${scope.startDate}::timestamp, ${scope.endDate}::timestamp, '1 day') d
    where p.business_id = ${scope.businessId} and h ->> 'weekday' = trim(to_char(d, 'DAY'))
    group by 1
  ),
  seen as (
    select c.professional_id,
           count(*) as appointments,
           count(*) filter (where c.status = 'NO_SHOW') as no_shows,
           sum(${minutesOf('c')}) as minutes,
           sum(c.price) filter (where c.status = 'COMPLETED') as revenue
    from calendar c
    where ${appointmentsIn(scope)} and c.status <> 'CANCELLED'
    group by 1
  ),
  taught as (
    select k.professional_id, count(*) as classes, sum(${minutesOf('k')}) as minutes
    from class_schedule k
    where ${classesIn(scope)} and k.status <> 'CANCELLED'
    group by 1
  )
  select p.first_name || ' ' || p.last_name as staff,
         coalesce(appointments, 0) as appointments,
         coalesce(classes, 0) as classes,
         coalesce(no_shows, 0) as "noShows",
         coalesce(seen.minutes, 0) + coalesce(taught.minutes, 0) as "bookedMinutes",
         coalesce(worked.minutes, 0) as "workingMinutes",
         round((100 * (coalesce(seen.minutes, 0) + coalesce(taught.minutes, 0)) / nullif(worked.minutes, 0))::numeric, 1) as utilisation,
         coalesce(revenue, 0) as revenue
  from professional p
  left join worked using (professional_id)
  left join seen using (professional_id)
  left join taught using (professional_id)
  where p.business_id = ${scope.businessId}
    and (p.active or seen.professional_id is not null or taught.professional_id is not null)
    ${anyOf('p.professional_id', scope.professionalIds)}
    ${scope.locationIds ? sql`and (p.location_id_list && ${scope.locationIds}::bigint[] or seen.professional_id is not null or taught.professional_id is not null)` : sql``}
  order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id`

export const staffUtilisation: Report = {
  reportId: 301,
  category: 'STAFF',
  reportName: 'Staff utilisation',
  reportFileName: 'staff-utilisation',
  description: 'The share of the working hours of each member of staff that was booked.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_STAFF_REPORTS'],
  columns: [
    { name: 'staff', label: 'Staff', type: 'text', width: 20 },
    { name: 'appointments', label: 'Appts', type: 'integer', width: 6, total: 'sum' },
    { name: 'classes', label: 'Classes', type: 'integer', width: 6, total: 'sum' },
    { name: 'noShows', label: 'No-shows', type: 'integer', width: 6, total: 'sum' },
    { name: 'bookedMinutes', label: 'Booked min', type: 'minutes', width: 8, total: 'sum' },
    { name: 'workingMinutes', label: 'Working min', type: 'minutes', width: 8, total: 'sum' },
    {
      name: 'utilisation',
      label: 'Utilisation',
      type: 'percent',
      width: 7,
      total: { percentOf: ['bookedMinutes', 'workingMinutes'] },
    },
    {
      name: 'revenue',
      label: 'Revenue',
      type: 'money',
      width: 10,
      addsPrices: true,
      total: 'sum',
    },
  ],
  rows: perPerson,
  figures: (scope) => sql`
    select coalesce(sum("bookedMinutes"), 0) as booked,
           coalesce(sum("workingMinutes"), 0) as working,
           coalesce(sum(appointments), 0) as appointments,
           coalesce(sum(revenue), 0) as revenue
    from (${perPerson(scope)}) people`,
  kpis: [
    {
      name: 'utilisation',
      label: 'Utilisation',
      unit: 'percent',
      definition: 'Booked time as a share of working time, all staff together.',
      value: ({ booked, working }) => percent(booked, working),
      better: 'more',
    },
    {
      name: 'booked',
      label: 'Booked time',
      unit: 'minutes',
      definition: 'The length of all appointments and classes that were not cancelled.',
      value: ({ booked }) => booked ?? 0,
      better: 'more',
    },
    {
      name: 'working',
      label: 'Working time',
      unit: 'minutes',
      definition: 'The working hours of the staff on the days of the period.',
      value: ({ working }) => working ?? 0,
    },
    {
      name: 'revenue',
      label: 'Revenue',
      unit: 'money',
      definition: 'The prices of completed appointments at the time of booking.',
      value: ({ revenue }) => revenue ?? 0,
      better: 'more',
    },
  ],
  charts: [
    {
      draw: (rows) => {
        const busiest = rows
          .toSorted((a, b) => Number(b.bookedMinutes) - Number(a.bookedMinutes))
          .slice(0, 12)
        const hours = (minutes: unknown) => Math.round(Number(minutes) / 6) / 10
        return [
          {
            kind: 'bar',
            name: 'hours',
            title: busiest.length < rows.length ? 'Hours of the twelve busiest' : 'Hours',
            unit: 'count',
            labels: busiest.map((row) => String(row.staff)),
            series: [
              { name: 'Booked', values: busiest.map((row) => hours(row.bookedMinutes)) },
              { name: 'Working', values: busiest.map((row) => hours(row.workingMinutes)) },
            ],
          },
        ]
      },
    },
  ],
}
