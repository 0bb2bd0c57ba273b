import { sql } from '../../database/sql.ts'
import { measureKpi } from '../measures.ts'
import { percent, type Report } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, drillToAppointments } from './appointments.ts'
import { appointmentRows, inOrder } from './conditions.ts'

const UNCLOSED = `outcome = 'UNCLOSED'`

export const unclosedAppointments: Report = {
  reportId: 206,
  category: 'APPOINTMENTS',
  reportName: 'Appointments never closed',
  reportFileName: 'unclosed-appointments',
  description: 'Appointments that have begun and whose status does not say how they ended.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 13, unlessOneLocation: true },
    { name: 'status', label: 'Status', type: 'text', width: 10 },
    { name: 'days', label: 'Days ago', type: 'integer', width: 5 },
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
           cl.first_name || ' ' || cl.last_name as client,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           coalesce(s.label, a.status) as status,
           floor(extract(epoch from ${scope.now} - a.start_time) / 86400)::int as days,
           a.price,
           a.currency,
           a.calendar_id as "key_objectId"
    from (${appointmentRows(scope)}) a
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, a.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, a.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, a.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, a.location_id)
    left join status s on (s.business_id, s.object_type, s.status) = (${scope.businessId}, 'CALENDAR', a.status)
    where a.outcome = 'UNCLOSED'
    order by ${inOrder('a', 'calendar_id', scope)}`,
  figures: (scope) => sql`
    select f.*, (select floor(extract(epoch from ${scope.now} - min(a.start_time)) / 86400)::int
                 from (${appointmentRows(scope)}) a where a.outcome = 'UNCLOSED') as oldest
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    measureKpi('unclosed'),
    {
      name: 'unclosedShare',
      label: 'Share not closed',
      unit: 'percent',
      definition:
        'Appointments that are not closed as a share of all that have begun and were not cancelled.',
      value: ({ unclosed, kept, missed }) =>
        percent(unclosed, (unclosed ?? 0) + (kept ?? 0) + (missed ?? 0)),
      better: 'less',
      tense: 'past',
      meaninglessWith: ['statusList'],
    },
    {
      name: 'oldestDays',
      label: 'Oldest, in days',
      unit: 'count',
      definition: 'Full days since the beginning of the oldest one of the period.',
      value: ({ oldest }) => oldest ?? null,
      better: 'less',
      tense: 'past',
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, a.local_start), 'YYYY-MM-DD') as step, count(*) as unclosed
        from (${appointmentRows(scope)}) a where a.outcome = 'UNCLOSED' group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'unclosed',
          title: 'Not closed',
          unit: 'count',
          series: [{ name: 'Not closed', column: 'unclosed', tone: 'unclosed' }],
        }),
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    listed: UNCLOSED,
    figures: { price: { of: 'price', where: UNCLOSED, isMoney: true } },
  }),
}
