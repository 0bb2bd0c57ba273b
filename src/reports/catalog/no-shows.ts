import { sql } from '../../database/sql.ts'
import { noShowRate } from './appointments.ts'
import { appointmentsIn, dateOf, local, timeOf } from './conditions.ts'
import type { Report } from '../report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

export const noShows: Report = {
  reportId: 201,
  category: 'NO_SHOWS',
  reportName: 'No-shows',
  reportFileName: 'no-shows',
  description: 'Who did not come, what it cost and how often they missed appointments before.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'time', label: 'Time', type: 'time', width: 5 },
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'phone', label: 'Phone', type: 'text', width: 15 },
    { name: 'service', label: 'Service', type: 'text', width: 16 },
    { name: 'staff', label: 'Staff', type: 'text', width: 16 },
    { name: 'location', label: 'Location', type: 'text', width: 13, unlessOneLocation: true },
    { name: 'before', label: 'Before', type: 'integer', width: 4 },
    { name: 'price', label: 'Lost', type: 'money', width: 8, total: 'sum' },
  ],
  rows: (scope) => sql`
    select ${dateOf('c.start_time', scope)} as date,
           ${timeOf('c.start_time', scope)} as time,
           cl.first_name || ' ' || cl.last_name as client,
           cl.phone,
           r.name as service,
           p.first_name || ' ' || p.last_name as staff,
           l.name as location,
           (select count(*) from calendar b
            where b.business_id = c.business_id and b.client_id = c.client_id and b.active
              and b.status = 'NO_SHOW' and b.start_time < c.start_time) as before,
           c.price
    from calendar c
    join client cl on (cl.business_id, cl.client_id) = (c.business_id, c.client_id)
    join reason r on (r.business_id, r.reason_id) = (c.business_id, c.reason_id)
    join professional p on (p.business_id, p.professional_id) = (c.business_id, c.professional_id)
    join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
    where ${appointmentsIn(scope)} and c.status = 'NO_SHOW'
    order by c.start_time, c.calendar_id`,
  figures: (scope) => sql`
    select count(*) filter (where c.status = 'NO_SHOW') as no_shows,
           count(*) filter (where c.status = 'COMPLETED') as completed,
           count(distinct c.client_id) filter (where c.status = 'NO_SHOW') as clients,
           coalesce(sum(c.price) filter (where c.status = 'NO_SHOW'), 0) as lost
    from calendar c
    where ${appointmentsIn(scope)}`,
  kpis: [
    {
      name: 'noShows',
      label: 'No-shows',
      unit: 'count',
      definition: 'Appointments of the period with the status NO_SHOW.',
      value: ({ no_shows }) => no_shows ?? 0,
      better: 'less',
    },
    noShowRate,
    {
      name: 'clients',
      label: 'Clients',
      unit: 'count',
      definition: 'The number of clients who missed at least one appointment.',
      value: ({ clients }) => clients ?? 0,
      better: 'less',
    },
    {
      name: 'lost',
      label: 'Lost value',
      unit: 'money',
      definition: 'The prices of missed appointments at the time of booking.',
      value: ({ lost }) => lost ?? 0,
      better: 'less',
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, ${local('c.start_time', scope)}), 'YYYY-MM-DD') as step,
               count(*) as no_shows
        from calendar c
        where ${appointmentsIn(scope)} and c.status = 'NO_SHOW'
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'noShows',
          title: 'No-shows',
          unit: 'count',
          series: [{ name: 'No-shows', column: 'no_shows' }],
        }),
      ],
    },
    {
      rows: (scope) => sql`
        select extract(isodow from ${local('c.start_time', scope)})::int as weekday,
               round(100.0 * count(*) filter (where c.status = 'NO_SHOW') / count(*), 1) as share
        from calendar c
        where ${appointmentsIn(scope)} and c.status in ('NO_SHOW', 'COMPLETED')
        group by 1`,
      draw: (rows) => {
        const shares = new Map(rows.map((row) => [Number(row.weekday), Number(row.share)]))
        return [
          {
            kind: 'bar',
            name: 'byWeekday',
            title: 'No-show rate by weekday (%)',
            unit: 'count',
            labels: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
            series: [
              {
                name: 'No-show rate',
                values: [1, 2, 3, 4, 5, 6, 7].map((n) => shares.get(n) ?? 0),
              },
            ],
          },
        ]
      },
    },
  ],
}
