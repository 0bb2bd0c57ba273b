import { sql } from '../../database/sql.ts'
import { appointmentsIn, dateOf, local, localAtAnyTime } from './conditions.ts'
import { percent, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

/** A client is new in the period of their first appointment ever. */
const firstVisits = (scope: Scope) => sql`
  select c.client_id, min(c.start_time) as first_here,
         (select min(f.start_time) from calendar f
          where f.business_id = ${scope.businessId} and f.client_id = c.client_id
            and f.active and f.status <> 'CANCELLED') as first_of_all
  from calendar c
  where ${appointmentsIn(scope)} and c.status <> 'CANCELLED'
  group by c.client_id`

export const clients: Report = {
  reportId: 501,
  category: 'CLIENTS',
  reportName: 'Clients',
  reportFileName: 'clients',
  description: 'All clients with an appointment in the period, with its outcome.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  columns: [
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'emailAddress', label: 'Email', type: 'text', width: 22 },
    { name: 'phone', label: 'Phone', type: 'text', width: 14 },
    { name: 'firstVisit', label: 'First visit', type: 'date', width: 10 },
    { name: 'lastVisit', label: 'Last visit', type: 'date', width: 10 },
    { name: 'appointments', label: 'Appts', type: 'integer', width: 5, total: 'sum' },
    { name: 'completed', label: 'Completed', type: 'integer', width: 5, total: 'sum' },
    { name: 'noShows', label: 'No-shows', type: 'integer', width: 5, total: 'sum' },
    {
      name: 'revenue',
      label: 'Revenue',
      type: 'money',
      width: 9,
      addsPrices: true,
      total: 'sum',
    },
  ],
  rows: (scope) => sql`
    with visits as (
      select c.client_id,
             count(*) as appointments,
             count(*) filter (where c.status = 'COMPLETED') as completed,
             count(*) filter (where c.status = 'NO_SHOW') as no_shows,
             max(c.start_time) as last_visit,
             coalesce(sum(c.price) filter (where c.status = 'COMPLETED'), 0) as revenue
      from calendar c
      where ${appointmentsIn(scope)} and c.status <> 'CANCELLED'
      group by c.client_id
    )
    select cl.first_name || ' ' || cl.last_name as client,
           cl.email_address as "emailAddress",
           cl.phone,
           v.appointments,
           v.completed,
           v.no_shows as "noShows",
           to_char(${localAtAnyTime('first_of_all', scope)}, 'YYYY-MM-DD') as "firstVisit",
           ${dateOf('v.last_visit', scope)} as "lastVisit",
           v.revenue
    from visits v
    join (${firstVisits(scope)}) f using (client_id)
    join client cl on cl.business_id = ${scope.businessId} and cl.client_id = v.client_id
    order by cl.last_name collate name_order, cl.first_name collate name_order, cl.client_id`,
  figures: (scope) => sql`
    select count(*) as clients,
           count(*) filter (where first_of_all >= ${scope.from}) as fresh,
           (select coalesce(sum(c.price), 0)
            from calendar c
            where ${appointmentsIn(scope)} and c.status = 'COMPLETED') as revenue
    from (${firstVisits(scope)}) f`,
  kpis: [
    {
      name: 'clients',
      label: 'Clients',
      unit: 'count',
      definition: 'Clients with an appointment in the period that was not cancelled.',
      value: ({ clients }) => clients ?? 0,
      better: 'more',
    },
    {
      name: 'newClients',
      label: 'New clients',
      unit: 'count',
      definition: 'Clients whose first appointment ever is in the period.',
      value: ({ fresh }) => fresh ?? 0,
      better: 'more',
    },
    {
      name: 'returning',
      label: 'Returning',
      unit: 'percent',
      definition: 'The share of clients who had an appointment before the period.',
      value: ({ clients, fresh }) => percent((clients ?? 0) - (fresh ?? 0), clients),
      better: 'more',
    },
    {
      name: 'revenuePerClient',
      label: 'Revenue per client',
      unit: 'money',
      definition: 'The prices of completed appointments, divided by the number of clients.',
      value: ({ revenue, clients }) =>
        clients ? Math.round((100 * (revenue ?? 0)) / clients) / 100 : null,
      better: 'more',
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, ${local('first_here', scope)}), 'YYYY-MM-DD') as step,
               count(*) filter (where first_of_all < ${scope.from}) as returning,
               count(*) filter (where first_of_all >= ${scope.from}) as fresh
        from (${firstVisits(scope)}) f
        group by 1`,
      draw: (rows, scope) => [
        chartOverTime(scope, rows, {
          kind: 'bar',
          name: 'clients',
          title: 'Clients seen for the first time in the period,',
          stacked: true,
          unit: 'count',
          series: [
            { name: 'Returning', column: 'returning' },
            { name: 'New', column: 'fresh' },
          ],
        }),
      ],
    },
  ],
}
