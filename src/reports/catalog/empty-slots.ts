import type { ObjectType } from '../../contract/event-type.ts'
import { raw, sql } from '../../database/sql.ts'
import { measureKpi, selectMeasures } from '../measures.ts'
import { shareOf, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, drillToAppointments } from './appointments.ts'
import { appointmentRows, currencyOfPrice, inOrder, statusesOf } from './conditions.ts'
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

export const emptySlots: Report = {
  reportId: 205,
  category: 'NO_SHOWS',
  reportName: 'Cancelled slots that stayed empty',
  reportFileName: 'empty-slots',
  description: 'Cancelled appointments whose time was not booked again.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    {
      name: 'minutes',
      label: 'Min',
      type: 'minutes',
      width: 6,
      total: 'sum',
    },
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 13, unlessOneLocation: true },
    { name: 'state', label: 'Slot', type: 'text', width: 12, fixedWords: true },
    {
      name: 'price',
      label: 'Price',
      type: 'money',
      width: 8,
      total: 'sum',
      currencyIn: 'currency',
    },
    { name: 'currency', label: 'Currency', type: 'text', width: 5, ifSeveralCurrencies: true },
  ],
  rows: (scope) => sql`
    select to_char(a.local_start, 'YYYY-MM-DD') as date,
           to_char(a.local_start, 'HH24:MI') as time,
           a.minutes,
           cl.first_name || ' ' || cl.last_name as client,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           case when a.start_time > ${scope.now} then 'Still free' else 'Stayed empty' end as state,
           a.price,
           ${currencyOfPrice},
           a.calendar_id as "key_objectId"
    from (${slots(scope)}) a
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, a.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, a.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, a.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, a.location_id)
    where not a.refilled
    order by ${inOrder('a', 'calendar_id', scope)}`,
  figures: (scope) => sql`
    select ${selectMeasures(['cancelled'], scope)},
           count(*) filter (where not a.refilled and a.start_time <= ${scope.now}) as stayed,
           count(*) filter (where not a.refilled and a.start_time > ${scope.now}) as free,
           count(*) filter (where a.refilled) as refilled,
           coalesce(sum(a.minutes) filter (where not a.refilled and a.start_time <= ${scope.now}), 0) as lost
    from (${slots(scope)}) a`,
  kpis: [
    {
      name: 'stayedEmpty',
      label: 'Stayed empty',
      unit: 'count',
      definition:
        'Cancelled appointments that would have begun, and in whose time the member of staff had no other appointment and no class.',
      value: ({ stayed }) => stayed ?? 0,
      better: 'less',
      base: ({ cancelled }) => cancelled ?? undefined,
      tense: 'past',
    },
    {
      name: 'emptyMinutes',
      label: 'Empty time',
      unit: 'minutes',
      definition: 'The length of these appointments.',
      value: ({ lost }) => lost ?? 0,
      better: 'less',
      tense: 'past',
    },
    {
      name: 'refilled',
      label: 'Booked again',
      unit: 'percent',
      definition: 'The share of cancelled appointments whose time was booked again.',
      ...shareOf(({ refilled, cancelled }) => [refilled, cancelled]),
      better: 'more',
    },
    {
      name: 'stillFree',
      label: 'Still free',
      unit: 'count',
      definition: 'Cancelled appointments of the future whose time is still free.',
      value: ({ free }) => free ?? 0,
      tense: 'future',
    },
    measureKpi('cancelled'),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, a.local_start), 'YYYY-MM-DD') as step,
               count(*) filter (where not a.refilled) as stayed,
               count(*) filter (where a.refilled) as refilled
        from (${slots(scope)}) a group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'slots',
          title: 'Cancelled slots',
          stacked: true,
          unit: 'count',
          series: [
            { name: 'Booked again', column: 'refilled', tone: 'kept' },
            { name: 'Empty', column: 'stayed', tone: 'cancelled' },
          ],
        }),
      ],
    },
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
