import { join, sql } from '../../database/sql.ts'
import { measureColumn, selectCells, selectMeasures } from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { APPOINTMENT_MEASURES, appointmentFigures, countedAppointments } from './appointments.ts'
import { appointmentRows, localAtAnyTime, statusesOf } from './conditions.ts'

const SHOWN: MeasureName[] = ['appointments', 'kept', 'missed', 'cancelled', 'revenue']

/** A client is new in the period of their first appointment ever that was not cancelled. */
const visits = (scope: Scope) => sql`
  select v.*, f.start_time as first_of_all, f.location_id as first_location
  from (select a.client_id,
               min(a.local_start) filter (where a.outcome <> 'CANCELLED') as first_here,
               max(a.local_start) filter (where a.outcome <> 'CANCELLED') as last_here
        from (${appointmentRows(scope)}) a
        group by a.client_id) v
  left join lateral (
    select e.start_time, e.location_id from calendar e
    where e.business_id = ${scope.businessId} and e.client_id = v.client_id and e.active
      and not e.status = any (${statusesOf('CALENDAR', 'CANCELLED', scope)}::text[])
    order by e.start_time limit 1) f on true`

export const clients: Report = {
  reportId: 501,
  category: 'CLIENTS',
  reportName: 'Clients',
  reportFileName: 'clients',
  description: 'All clients with an appointment in the period, with its outcome.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'client', label: 'Client', type: 'text', width: 18 },
    { name: 'emailAddress', label: 'Email', type: 'text', width: 22 },
    { name: 'phone', label: 'Phone', type: 'text', width: 14 },
    { name: 'firstVisit', label: 'First visit', type: 'date', width: 10 },
    { name: 'lastVisit', label: 'Last visit', type: 'date', width: 10 },
    ...SHOWN.map((measure) => measureColumn(measure)),
  ],
  rows: (scope) => sql`
    with counted as (${countedAppointments(scope, sql`a.client_id`)}),
    measured as (select key as client_id, ${selectMeasures(SHOWN, scope)} from counted group by 1)
    select cl.first_name || ' ' || cl.last_name as client,
           cl.email_address as "emailAddress",
           cl.phone,
           to_char(${localAtAnyTime('v.first_of_all', 'v.first_location', scope)}, 'YYYY-MM-DD') as "firstVisit",
           to_char(v.last_here, 'YYYY-MM-DD') as "lastVisit",
           ${join(selectCells(SHOWN, scope), ', ')}
    from measured
    join (${visits(scope)}) v using (client_id)
    join client cl on cl.business_id = ${scope.businessId} and cl.client_id = measured.client_id
    order by cl.last_name collate name_order, cl.first_name collate name_order, cl.client_id`,
  figures: (scope) => sql`
    select f.*, c.clients, c.fresh, c.returning
    from (${appointmentFigures(scope)}) f,
         (select count(*) as clients,
                 count(*) filter (where first_here is not null and first_of_all >= ${scope.from}) as fresh,
                 count(*) filter (where first_here is not null and first_of_all < ${scope.from}) as returning
          from (${visits(scope)}) v) c`,
  kpis: [
    {
      name: 'clients',
      label: 'Clients',
      unit: 'count',
      definition: 'Clients with an appointment in the period, in any status.',
      value: ({ clients }) => clients ?? 0,
      better: 'more',
    },
    {
      name: 'newClients',
      label: 'New clients',
      unit: 'count',
      definition: 'Clients whose first appointment ever that was not cancelled is in the period.',
      value: ({ fresh }) => fresh ?? 0,
      better: 'more',
    },
    {
      name: 'returning',
      label: 'Returning',
      unit: 'percent',
      definition:
        'Of the clients with an appointment that was not cancelled: the share who had one before the period.',
      value: ({ returning, fresh }) => percent(returning, (returning ?? 0) + (fresh ?? 0)),
      better: 'more',
    },
    {
      name: 'revenuePerClient',
      label: 'Revenue per client',
      unit: 'money',
      definition: 'The prices of kept appointments, divided by the number of clients.',
      value: ({ revenue, clients }) =>
        clients ? Math.round((100 * (revenue ?? 0)) / clients) / 100 : null,
      better: 'more',
      tense: 'past',
    },
  ],
  charts: [
    {
      rows: (scope) => sql`
        select to_char(date_trunc(${stepOf(scope)}, first_here), 'YYYY-MM-DD') as step,
               count(*) filter (where first_of_all < ${scope.from}) as returning,
               count(*) filter (where first_of_all >= ${scope.from}) as fresh
        from (${visits(scope)}) v
        where first_here is not null
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
  measures: APPOINTMENT_MEASURES,
}
