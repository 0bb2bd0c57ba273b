import { sql } from '../../database/sql.ts'
import { measureKpi, noShowRate } from '../measures.ts'
import type { Report } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  drillToAppointments,
  clientsWith,
} from './appointments.ts'
import { appointmentRows, inOrder, statusesOf } from './conditions.ts'

const MISSED = `outcome = 'MISSED'`

export const noShows: Report = {
  reportId: 201,
  category: 'NO_SHOWS',
  reportName: 'No-shows',
  reportFileName: 'no-shows',
  description: 'Who did not come, what it cost and how often they missed appointments before.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'phone', label: 'Phone', type: 'text', width: 15 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 13, unlessOneLocation: true },
    { name: 'before', label: 'Before', type: 'integer', width: 4 },
    {
      name: 'price',
      label: 'Lost',
      type: 'money',
      width: 8,
      total: 'sum',
      currencyIn: 'currency',
      measure: 'lostValue',
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
           (select count(*) from calendar b
            where b.business_id = ${scope.businessId} and b.client_id = a.client_id and b.active
              and b.status = any (${statusesOf('CALENDAR', 'MISSED', scope)}::text[])
              and b.start_time < a.start_time) as before,
           a.price,
           a.currency,
           a.calendar_id as "key_objectId"
    from (${appointmentRows(scope)}) a
    join client cl on (cl.business_id, cl.client_id) = (${scope.businessId}, a.client_id)
    join reason r on (r.business_id, r.reason_id) = (${scope.businessId}, a.reason_id)
    join professional p on (p.business_id, p.professional_id) = (${scope.businessId}, a.professional_id)
    join location l on (l.business_id, l.location_id) = (${scope.businessId}, a.location_id)
    where a.outcome = 'MISSED'
    order by ${inOrder('a', 'calendar_id', scope)}`,
  figures: (scope) => sql`
    select f.*, (select count(distinct a.client_id) from (${appointmentRows(scope)}) a
                 where a.outcome = 'MISSED') as clients
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    measureKpi('missed'),
    noShowRate,
    {
      name: 'noShowClients',
      label: 'Clients',
      unit: 'count',
      definition: 'The number of clients who missed at least one appointment.',
      value: ({ clients }) => clients ?? 0,
      better: 'less',
      tense: 'past',
    },
    measureKpi('lostValue'),
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, a.local_start), 'YYYY-MM-DD') as step,
               count(*) as missed
        from (${appointmentRows(scope)}) a
        where a.outcome = 'MISSED'
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'noShows',
          title: 'No-shows',
          unit: 'count',
          series: [{ name: 'No-shows', column: 'missed', tone: 'missed' }],
        }),
      ],
    },
    {
      meaninglessWith: ['statusList'],
      rows: (scope) => sql`
        select extract(isodow from a.local_start)::int as weekday,
               round(100.0 * count(*) filter (where a.outcome = 'MISSED') / count(*), 1) as share
        from (${appointmentRows(scope)}) a
        where a.outcome in ('MISSED', 'KEPT')
        group by 1`,
      draw: (rows) => {
        const shares = new Map(rows.map((row) => [Number(row.weekday), Number(row.share)]))
        return [
          {
            kind: 'bar',
            name: 'byWeekday',
            title: 'No-show rate by weekday (%)',
            unit: 'percent',
            labels: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
            series: [
              {
                name: 'No-show rate',
                tone: 'missed',
                values: [1, 2, 3, 4, 5, 6, 7].map((n) => shares.get(n) ?? null),
              },
            ],
          },
        ]
      },
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['objectId'], {
    listed: MISSED,
    figures: { noShowClients: clientsWith(MISSED) },
  }),
}
