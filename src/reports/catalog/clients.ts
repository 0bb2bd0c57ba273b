import { join, sql } from '../../database/sql.ts'
import { measureColumn, selectCells, selectMeasures } from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  countedAppointments,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
} from './appointments.ts'
import { appointmentRows } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { firstVisitOf, isNewInPeriod } from './first-visits.ts'

const SHOWN: MeasureName[] = ['appointments', 'kept', 'missed', 'cancelled', 'revenue']

/** The clients with an appointment in the period; `first_here` is null if all were cancelled. */
const visits = (scope: Scope) => sql`
  select v.*, ${isNewInPeriod('v.first_of_all', scope)} as is_new
  from (select a.client_id, ${firstVisitOf('a.client_id', scope)} as first_of_all,
               min(a.local_start) filter (where a.outcome <> 'CANCELLED') as first_here,
               max(a.local_start) filter (where a.outcome <> 'CANCELLED') as last_here
        from (${appointmentRows(scope)}) a
        group by a.client_id) v`

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
           to_char(v.first_of_all, 'YYYY-MM-DD') as "firstVisit",
           to_char(v.last_here, 'YYYY-MM-DD') as "lastVisit",
           ${join(selectCells(SHOWN, scope), ', ')},
           measured.client_id as key_client
    from measured
    join (${visits(scope)}) v using (client_id)
    join client cl on cl.business_id = ${scope.businessId} and cl.client_id = measured.client_id
    order by cl.last_name collate name_order, cl.first_name collate name_order, cl.client_id`,
  figures: (scope) => sql`
    select f.*, c.clients, c.fresh, c.returning
    from (${appointmentFigures(scope)}) f,
         (select count(*) as clients,
                 count(*) filter (where first_here is not null and is_new) as fresh,
                 count(*) filter (where first_here is not null and not is_new) as returning
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
               count(*) filter (where not is_new) as returning,
               count(*) filter (where is_new) as fresh
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
  drillDown: drillToAppointments(['client'], {
    objects: (scope) => sql`
      select o.*, v.is_new from (${appointmentObjects(appointmentRows(scope))}) o
      join (${visits(scope)}) v using (client_id)`,
    figures: {
      clients: clientsWith(),
      newClients: clientsWith(`is_new and ${NOT_CANCELLED}`),
    },
  }),
}
