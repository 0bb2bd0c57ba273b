import { sql } from '../../database/sql.ts'
import { measureKpi } from '../measures.ts'
import { percent, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { appointmentRows, inOrder, localAtAnyTime, statusesOf } from './conditions.ts'
import { timeOfStatus } from './status-history.ts'

const cancelled = (scope: Scope) => ({
  object: 'calendar' as const,
  id: 'a.calendar_id',
  statuses: statusesOf('CALENDAR', 'CANCELLED', scope),
})

/** Cancelled appointments with the minutes from the cancellation to the start; 0 if it came later. */
const cancellations = (scope: Scope) => sql`
  select c.*,
         (extract(epoch from greatest(c.start_time, c.cancelled_time) - c.cancelled_time) / 60)::float8 as notice
  from (select a.*, ${timeOfStatus(cancelled(scope), scope)} as cancelled_time
        from (${appointmentRows(scope)}) a
        where a.outcome = 'CANCELLED') c`

const LATE_MINUTES = 24 * 60

/** The upper limits of the bars, in minutes. */
const NOTICES: [label: string, below: number][] = [
  ['under 2 h', 120],
  ['2–24 h', LATE_MINUTES],
  ['1–3 days', 3 * 1440],
  ['3–7 days', 7 * 1440],
  ['1–4 weeks', 28 * 1440],
  ['longer', Infinity],
]

export const cancelledAppointments: Report = {
  reportId: 202,
  category: 'NO_SHOWS',
  reportName: 'Cancellations',
  reportFileName: 'cancellations',
  description: 'All cancelled appointments of the period, with the notice that was given.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 17 },
    { name: 'phone', label: 'Phone', type: 'text', width: 14 },
    { name: 'service', label: 'Service', type: 'text', width: 15 },
    { name: 'staff', label: 'Staff', type: 'text', width: 15 },
    { name: 'location', label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    { name: 'status', label: 'Status', type: 'text', width: 10 },
    { name: 'cancelledOn', label: 'Cancelled on', type: 'text', width: 16 },
    { name: 'noticeHours', label: 'Notice (hours)', type: 'integer', width: 7 },
    {
      name: 'price',
      label: 'Price',
      type: 'money',
      width: 8,
      total: 'sum',
      currencyIn: 'currency',
      measure: 'cancelledValue',
    },
    { name: 'currency', label: 'Currency', type: 'text', width: 5, ifSeveralCurrencies: true },
  ],
  rows: (scope) => sql`
    select to_char(a.local_start, 'YYYY-MM-DD') as date,
           to_char(a.local_start, 'HH24:MI') as time,
           cl.first_name || ' ' || cl.last_name as client,
           cl.phone,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           coalesce(s.label, a.status) as status,
           to_char(${localAtAnyTime('a.cancelled_time', 'a.location_id', scope)}, 'YYYY-MM-DD HH24:MI') as "cancelledOn",
           floor(a.notice / 60) as "noticeHours",
           a.price,
           a.currency,
           a.calendar_id as "key_objectId"
    from (${cancellations(scope)}) a
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, a.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, a.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, a.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, a.location_id)
    left join status s on s.business_id = ${scope.businessId} and s.object_type = 'CALENDAR' and s.status = a.status
    order by ${inOrder('a', 'calendar_id', scope)}`,
  figures: (scope) => sql`
    select f.*, n.late, n.known, n.median
    from (${appointmentFigures(scope)}) f,
         (select count(*) filter (where a.notice < ${LATE_MINUTES}) as late,
                 count(a.notice) as known,
                 percentile_cont(0.5) within group (order by a.notice) as median
          from (${cancellations(scope)}) a) n`,
  kpis: [
    measureKpi('cancelled'),
    {
      name: 'cancellationRate',
      label: 'Cancellation rate',
      unit: 'percent',
      definition: 'Cancelled appointments as a share of all appointments of the period.',
      value: ({ cancelled, appointments }) => percent(cancelled, appointments),
      better: 'less',
      meaninglessWith: ['statusList'],
    },
    {
      name: 'lateShare',
      label: 'With less than 24 hours',
      unit: 'percent',
      definition:
        'The share of cancellations that came less than 24 hours before the start or later, of those whose time is known. An appointment that was saved as cancelled from the beginning has no notice.',
      value: ({ late, known }) => percent(late, known),
      better: 'less',
    },
    {
      name: 'medianNotice',
      label: 'Median notice',
      unit: 'minutes',
      definition: 'Half of the cancellations came with more notice than this, half with less.',
      value: ({ median }) => median ?? null,
      better: 'more',
    },
    measureKpi('cancelledValue'),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select width_bucket(a.notice, ${NOTICES.slice(0, -1).map(([, below]) => below)}::float8[]) as bucket,
               count(*) as cancelled
        from (${cancellations(scope)}) a where a.notice is not null group by 1`,
      draw: (rows) => {
        const counts = new Map(rows.map((row) => [Number(row.bucket), Number(row.cancelled)]))
        return [
          {
            kind: 'bar',
            name: 'notice',
            title: 'Cancellations by notice',
            unit: 'count',
            labels: NOTICES.map(([label]) => label),
            series: [
              {
                name: 'Cancelled',
                tone: 'cancelled',
                values: NOTICES.map((_, i) => counts.get(i) ?? 0),
              },
            ],
          },
        ]
      },
    },
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, a.local_start), 'YYYY-MM-DD') as step, count(*) as cancelled
        from (${appointmentRows(scope)}) a where a.outcome = 'CANCELLED' group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'cancellations',
          title: 'Cancelled appointments',
          unit: 'count',
          series: [{ name: 'Cancelled', column: 'cancelled', tone: 'cancelled' }],
        }),
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], { listed: `outcome = 'CANCELLED'` }),
}
