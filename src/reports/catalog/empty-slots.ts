import type { ObjectType } from '../../contract/event-type.ts'
import { raw, sql } from '../../database/sql.ts'
import { measureKpi, selectMeasures } from '../measures.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { APPOINTMENT_MEASURES, drillToAppointments } from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, statusesOf } from './conditions.ts'
import { listAppointments, listColumns, priceColumns } from './listed-appointments.ts'
import { appointmentObjects } from './objects.ts'

/** Cancelled appointments, with whether another booking of the person overlaps the slot. */
const slots = (scope: Scope) => sql`
  with cancelled as (select a.* from (${appointmentRows(scope)}) a where a.outcome = 'CANCELLED'),
  busy as (
    select b.professional_id, range_agg(tstzrange(b.start_time, least(b.end_time, b.start_time + ${LONGEST}))) as spans
    from (${bookingsOf('calendar', 'CALENDAR', scope)} union all
          ${bookingsOf('class_schedule', 'CLASS_SCHEDULE', scope)}) b
    where b.professional_id in (select professional_id from cancelled)
      and b.start_time > (select min(start_time) - ${LONGEST} from cancelled)
      and b.start_time < (select max(end_time) from cancelled)
    group by 1
  )
  select a.*, coalesce(tstzrange(a.start_time, a.end_time) && busy.spans, false) as refilled
  from cancelled a left join busy using (professional_id)`

/** The part of a booking that fills slots. */
const LONGEST = raw(`interval '2 days'`)

const bookingsOf = (table: string, objectType: ObjectType, scope: Scope) => sql`
  select professional_id, start_time, end_time from ${raw(table)}
  where business_id = ${scope.businessId} and active
    and not status = any (${statusesOf(objectType, 'CANCELLED', scope)}::text[])`

const LISTED = ['date', 'time', 'minutes', 'client', 'service', 'staff', 'location'] as const

export const emptySlots: Report = {
  reportId: 205,
  category: 'NO_SHOWS',
  reportName: 'Cancelled slots that stayed empty',
  reportFileName: 'empty-slots',
  description: 'Cancelled appointments whose time was not booked again.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(LISTED),
    { name: 'state', label: 'Slot', type: 'text', width: 12, fixedWords: true },
    ...priceColumns(),
  ],
  rows: (scope) =>
    listAppointments(
      {
        names: LISTED,
        others: sql`case when a.start_time > ${scope.now} then 'Still free' else 'Stayed empty' end as state`,
        from: slots(scope),
        where: sql`not a.refilled`,
      },
      scope,
    ),
  figures: (scope) => sql`
    select ${selectMeasures(['cancelled'], scope)},
           count(*) filter (where not a.refilled and a.start_time <= ${scope.now}) as stayed,
           count(*) filter (where not a.refilled and a.start_time > ${scope.now}) as free,
           count(*) filter (where a.refilled) as refilled,
           coalesce(sum(a.minutes) filter (where not a.refilled and a.start_time <= ${scope.now}), 0) as lost
    from (${slots(scope)}) a`,
  kpis: [
    countKpi('stayedEmpty', 'Stayed empty', {
      definition:
        'Cancelled appointments that would have begun, and in whose time the member of staff had no other appointment and no class.',
      of: 'stayed',
      better: 'less',
      base: ({ cancelled }) => cancelled ?? undefined,
      tense: 'past',
    }),
    {
      name: 'emptyMinutes',
      label: 'Empty time',
      unit: 'minutes',
      definition: 'The length of these appointments.',
      value: ({ lost }) => lost ?? 0,
      better: 'less',
      tense: 'past',
    },
    rateKpi('refilled', 'Booked again', {
      definition: 'The share of cancelled appointments whose time was booked again.',
      of: ({ refilled, cancelled }) => [refilled, cancelled],
      better: 'more',
    }),
    countKpi('stillFree', 'Still free', {
      definition: 'Cancelled appointments of the future whose time is still free.',
      of: 'free',
      tense: 'future',
    }),
    measureKpi('cancelled'),
  ],
  charts: [
    countsOverTime({
      name: 'slots',
      title: 'Cancelled slots',
      rows: slots,
      series: [
        { name: 'Booked again', tone: 'kept', where: 'refilled' },
        { name: 'Empty', tone: 'cancelled', where: 'not refilled' },
      ],
    }),
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    objects: (scope) => sql`
      select o.*, o.start_time <= ${scope.now} as has_begun,
             o.object_id in (select s.calendar_id from (${slots(scope)}) s where not s.refilled) as is_empty
      from (${appointmentObjects(appointmentRows(scope))}) o`,
    listed: 'is_empty',
    figures: {
      minutes: { of: 'minutes', where: 'is_empty' },
      price: { of: 'price', where: 'is_empty', isMoney: true },
      stayedEmpty: { where: 'is_empty and has_begun' },
      emptyMinutes: { of: 'minutes', where: 'is_empty and has_begun' },
      stillFree: { where: 'is_empty and not has_begun' },
    },
  }),
}
