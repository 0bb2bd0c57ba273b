import { join, sql } from '../../database/sql.ts'
import { measureColumn, measureKpi, selectCells, selectMeasures } from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import { appointmentFigures, countedAppointments, OUTCOMES } from './appointments.ts'
import { barsOf } from './charts.ts'
import { anyOf, appointmentRows, classRows } from './conditions.ts'
import { appointmentAndClassObjects } from './objects.ts'
import { shifts } from './working-hours.ts'

/** The appointments and classes of each member of staff. */
export const bookings = (scope: Scope) => sql`
  select a.professional_id, tstzrange(a.start_time, a.end_time) as span
  from (${appointmentRows(scope)}) a where a.outcome <> 'CANCELLED'
  union all
  select k.professional_id, tstzrange(k.start_time, k.end_time)
  from (${classRows(scope)}) k where k.outcome <> 'CANCELLED'`

/** The length of spans of each member of staff, in minutes; overlaps count once. */
const lengthOf = (spans: ReturnType<typeof sql>) => sql`
  select u.professional_id,
         (select sum(extract(epoch from upper(one) - lower(one)) / 60)::float8 from unnest(u.spans) one) as minutes
  from (select s.professional_id, range_agg(s.span) as spans from (${spans}) s group by 1) u`

const SHOWN: MeasureName[] = [...OUTCOMES, 'revenue']

const perPerson = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope, sql`a.professional_id`)}),
  seen as (select key as professional_id, ${selectMeasures([...SHOWN, 'bookedMinutes'], scope)} from counted group by 1),
  taught as (
    select k.professional_id, ${selectMeasures(['classes'], scope)} from (${classRows(scope)}) k group by 1
  ),
  busy as (${lengthOf(bookings(scope))}),
  worked as (${lengthOf(shifts(scope))})
  select p.first_name || ' ' || p.last_name as staff,
         ${join(selectCells([...SHOWN, 'classes'], scope), ', ')},
         coalesce("bookedMinutes", 0) as "bookedMinutes",
         coalesce(busy.minutes, 0) as "busyMinutes",
         coalesce(worked.minutes, 0) as "workingMinutes",
         round((100 * coalesce(busy.minutes, 0) / nullif(worked.minutes, 0))::numeric, 1) as utilisation,
         p.professional_id as key_staff
  from professional p
  left join worked using (professional_id)
  left join seen using (professional_id)
  left join taught using (professional_id)
  left join busy using (professional_id)
  where p.business_id = ${scope.businessId}
    and (p.active or seen.professional_id is not null or taught.professional_id is not null)
    ${anyOf('p.professional_id', scope.professionalIds)}
    ${scope.locationIds ? sql`and (p.location_id_list && ${scope.locationIds}::bigint[] or seen.professional_id is not null or taught.professional_id is not null)` : sql``}
  order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id`

/** Working hours cover all services and clients, so they cannot be compared with a part of the bookings. */
export const OF_ALL_BOOKINGS = {
  meaninglessWith: ['reasonIdList', 'clientIdList', 'statusList', 'tags'],
} as const

const hours = (minutes: number) => Math.round(minutes / 6) / 10

export const staffUtilisation: Report = {
  reportId: 301,
  category: 'STAFF',
  reportName: 'Staff utilisation',
  reportFileName: 'staff-utilisation',
  description: 'The share of the working hours of each member of staff that was booked.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_STAFF_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'staff', label: 'Staff', type: 'text', width: 20 },
    measureColumn('appointments', { label: 'Appts' }),
    measureColumn('kept'),
    measureColumn('missed'),
    measureColumn('cancelled'),
    measureColumn('unclosed'),
    measureColumn('ahead'),
    measureColumn('classes'),
    measureColumn('bookedMinutes', { name: 'bookedMinutes' }),
    measureColumn('busyMinutes'),
    measureColumn('workingMinutes'),
    {
      name: 'utilisation',
      label: 'Utilisation',
      type: 'percent',
      width: 7,
      total: { percentOf: ['busyMinutes', 'workingMinutes'] },
      ...OF_ALL_BOOKINGS,
    },
    measureColumn('revenue'),
  ],
  rows: perPerson,
  figures: (scope) => sql`
    select f.*,
           (select coalesce(sum(minutes), 0) from (${lengthOf(bookings(scope))}) b) as "busyMinutes",
           (select coalesce(sum("workingMinutes"), 0) from (${perPerson(scope)}) people) as "workingMinutes"
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    {
      name: 'utilisation',
      label: 'Utilisation',
      unit: 'percent',
      definition: 'Busy time as a share of working time, all staff together.',
      value: ({ busyMinutes, workingMinutes }) => percent(busyMinutes, workingMinutes),
      better: 'more',
      ...OF_ALL_BOOKINGS,
    },
    measureKpi('busyMinutes', { name: 'booked', label: 'Busy time' }),
    measureKpi('workingMinutes', { name: 'working', label: 'Working time' }),
    measureKpi('revenue'),
  ],
  charts: [
    {
      draw: (rows) => [
        barsOf(rows, {
          name: 'hours',
          title: 'Hours',
          label: 'staff',
          series: [
            { name: 'Busy', column: 'busyMinutes', write: hours },
            { name: 'Working', column: 'workingMinutes', write: hours },
          ],
          titleOfSome: 'Hours of the twelve busiest',
          size: 'busyMinutes',
        }),
      ],
    },
  ],
  drillDown: { objects: appointmentAndClassObjects, keys: () => ['staff'] },
}
