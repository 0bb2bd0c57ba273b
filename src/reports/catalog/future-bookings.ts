import { join, sql } from '../../database/sql.ts'
import { measureColumn, measureKpi, selectCells, selectMeasures } from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import { appointmentFigures, countedAppointments, drillToAppointments } from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { anyOf, appointmentRows } from './conditions.ts'
import { bookings, OF_ALL_BOOKINGS } from './staff-utilisation.ts'
import { shifts } from './working-hours.ts'

const SHOWN: MeasureName[] = ['ahead', 'aheadValue']

/** The working time of each member of staff that is still to come, and the part without a booking. */
const capacity = (scope: Scope) => sql`
  select c.professional_id,
         (select sum(extract(epoch from upper(one) - lower(one)) / 60)::float8 from unnest(c.open) one) as open,
         (select sum(extract(epoch from upper(one) - lower(one)) / 60)::float8 from unnest(c.open - c.busy) one) as free
  from (select w.professional_id,
               w.spans * tstzmultirange(tstzrange(${scope.now}, null)) as open,
               coalesce(b.spans, '{}'::tstzmultirange) as busy
        from (select s.professional_id, range_agg(s.span) as spans from (${shifts(scope)}) s group by 1) w
        left join (select s.professional_id, range_agg(s.span) as spans
                   from (${bookings(atAnyLocation(scope))}) s group by 1) b using (professional_id)) c`

/** A person who is booked at one location is not free at another. */
function atAnyLocation(scope: Scope): Scope {
  const { timeZone, from, until } = scope
  return { ...scope, locationIds: null, zones: [{ timeZone, from, until, locationIds: null }] }
}

const perPerson = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope, sql`a.professional_id`)}),
  seen as (select key as professional_id, ${selectMeasures(SHOWN, scope)} from counted group by 1),
  capacity as (${capacity(scope)})
  select p.first_name || ' ' || p.last_name as staff,
         ${join(selectCells(SHOWN, scope), ', ')},
         coalesce(capacity.open, 0) as "openMinutes",
         coalesce(capacity.free, 0) as "freeMinutes",
         coalesce(capacity.open, 0) - coalesce(capacity.free, 0) as "takenMinutes",
         round((100 * (capacity.open - coalesce(capacity.free, 0)) / nullif(capacity.open, 0))::numeric, 1) as filled,
         p.professional_id as key_staff
  from professional p
  left join seen using (professional_id)
  left join capacity using (professional_id)
  where p.business_id = ${scope.businessId} and (p.active or "ahead" > 0)
    ${anyOf('p.professional_id', scope.professionalIds)}
    ${scope.locationIds ? sql`and (p.location_id_list && ${scope.locationIds}::bigint[] or "ahead" > 0)` : sql``}
  order by p.first_name collate name_order, p.last_name collate name_order, p.professional_id`

/** Known only for the future, and only for all bookings together. */
const OF_CAPACITY = { tense: 'future', ...OF_ALL_BOOKINGS } as const

export const futureBookings: Report = {
  reportId: 106,
  category: 'APPOINTMENTS',
  reportName: 'Future bookings and free capacity',
  reportFileName: 'future-bookings',
  description:
    'What is booked from now to the end of the period, and how much working time is free.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  looksAhead: true,
  columns: [
    { name: 'staff', label: 'Staff', type: 'text', width: 20 },
    ...SHOWN.map((measure) => measureColumn(measure)),
    {
      name: 'openMinutes',
      label: 'Working min ahead',
      labelInHours: 'Working time ahead',
      type: 'minutes',
      width: 9,
      total: 'sum',
      ...OF_CAPACITY,
    },
    {
      name: 'takenMinutes',
      label: 'Taken min',
      labelInHours: 'Taken time',
      type: 'minutes',
      width: 9,
      total: 'sum',
      ...OF_CAPACITY,
    },
    {
      name: 'freeMinutes',
      label: 'Free min',
      labelInHours: 'Free time',
      type: 'minutes',
      width: 9,
      total: 'sum',
      ...OF_CAPACITY,
    },
    {
      name: 'filled',
      label: 'Filled',
      type: 'percent',
      width: 7,
      total: { percentOf: ['takenMinutes', 'openMinutes'] },
      ...OF_CAPACITY,
    },
  ],
  rows: perPerson,
  figures: (scope) => sql`
    select f.*, c.open, c.free
    from (${appointmentFigures(scope)}) f,
         (select coalesce(sum("openMinutes"), 0) as open, coalesce(sum("freeMinutes"), 0) as free
          from (${perPerson(scope)}) p) c`,
  kpis: [
    measureKpi('ahead'),
    measureKpi('aheadValue'),
    {
      name: 'freeMinutes',
      label: 'Free time',
      unit: 'minutes',
      definition:
        'Working time from now to the end of the period in which a member of staff has no appointment and no class.',
      value: ({ free }) => free ?? 0,
      ...OF_CAPACITY,
    },
    {
      name: 'filled',
      label: 'Filled',
      unit: 'percent',
      definition: 'The share of that working time that is taken.',
      value: ({ open, free }) => percent((open ?? 0) - (free ?? 0), open),
      better: 'more',
      ...OF_CAPACITY,
    },
  ],
  charts: [
    countsOverTime({
      name: 'ahead',
      title: 'Booked ahead',
      rows: appointmentRows,
      series: [{ name: 'Booked ahead', tone: 'ahead', where: `outcome = 'AHEAD'` }],
    }),
  ],
  measures: SHOWN,
  drillDown: drillToAppointments(['staff']),
}
