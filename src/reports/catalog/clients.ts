import { empty, join, raw, sql, type Sql } from '../../database/sql.ts'
import { measureColumn, selectCells, selectMeasures } from '../measures.ts'
import { countKpi, rateKpi, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
  OUTCOMES,
} from './appointments.ts'
import { countsOverTime } from './charts.ts'
import { appointmentRows, joinNames } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { firstVisits, isNewInPeriod } from './first-visits.ts'
import { cellsOf, listColumns } from './listed-appointments.ts'

const SHOWN: MeasureName[] = [...OUTCOMES, 'revenue']

/** Clients with a kept appointment that was not free, in each currency. */
const payingClients = ({ currencies }: Scope) =>
  join(
    (currencies.length > 1 ? currencies : [undefined]).map(
      (currency) => sql`
        count(distinct a.client_id) filter (
          where a.outcome = 'KEPT' and a.price > 0 ${currency ? sql`and a.currency = ${currency}` : empty}
        ) as ${raw(`"paying${currency ?? ''}"`)}`,
    ),
    ', ',
  )

/**
 * The clients with an appointment in the period; `first_here` is null if all were cancelled. `others`:
 * further aggregates of their appointments.
 */
const visits = (scope: Scope, others: Sql = empty) => sql`
  with visited as (
    select a.client_id,
           min(a.local_start) filter (where a.outcome <> 'CANCELLED') as first_here ${others}
    from (${appointmentRows(scope)}) a
    group by a.client_id
  )
  select visited.*, e.first_start, ${isNewInPeriod('e.first_start', scope)} as is_new
  from visited
  left join (${firstVisits(sql`select client_id from visited`, scope)}) e using (client_id)`

export const clients: Report = {
  reportId: 501,
  category: 'CLIENTS',
  reportName: 'Clients',
  reportFileName: 'clients',
  description: 'All clients with an appointment in the period, with its outcome.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    ...listColumns(['client', 'emailAddress', 'phone']),
    { name: 'firstVisit', label: 'First visit', type: 'date', width: 10 },
    { name: 'lastVisit', label: 'Last visit', type: 'date', width: 10 },
    ...SHOWN.map((measure) => measureColumn(measure)),
  ],
  rows: (scope) => sql`
    select ${cellsOf(['client', 'emailAddress', 'phone'])},
           to_char(v.first_start, 'YYYY-MM-DD') as "firstVisit",
           to_char(v.last_here, 'YYYY-MM-DD') as "lastVisit",
           ${join(selectCells(SHOWN, scope), ', ')},
           v.client_id as key_client
    from (${visits(scope, sql`, max(a.local_start) filter (where a.outcome <> 'CANCELLED') as last_here, ${selectMeasures(SHOWN, scope)}`)}) v
    ${joinNames('v', ['client'], scope)}
    order by cl.last_name collate name_order, cl.first_name collate name_order, cl.client_id`,
  figures: (scope) => sql`
    select f.*, c.clients, c.fresh, c.returning
    from (select ${selectMeasures(['revenue', 'unpriced'], scope)}, ${payingClients(scope)} from (${appointmentRows(scope)}) a) f,
         (select count(*) as clients,
                 count(*) filter (where first_here is not null and is_new) as fresh,
                 count(*) filter (where first_here is not null and not is_new) as returning
          from (${visits(scope)}) v) c`,
  kpis: [
    {
      name: 'activeClients',
      label: 'Clients',
      unit: 'count',
      definition: 'Clients with an appointment in the period that was not cancelled.',
      value: ({ fresh, returning }) => (fresh ?? 0) + (returning ?? 0),
      better: 'more',
    },
    countKpi('clients', 'Clients listed', {
      definition: 'Clients with an appointment in the period, in any status, also cancelled.',
    }),
    countKpi('newClients', 'New clients', {
      definition: 'Clients whose first appointment ever that was not cancelled is in the period.',
      of: 'fresh',
      better: 'more',
    }),
    rateKpi('returning', 'Returning', {
      definition:
        'Of the clients with an appointment that was not cancelled: the share who had one before the period.',
      of: ({ returning, fresh }) => [returning, (returning ?? 0) + (fresh ?? 0)],
      better: 'more',
    }),
    {
      name: 'revenuePerClient',
      label: 'Revenue per paying client',
      unit: 'money',
      definition:
        'The prices of kept appointments, divided by the number of clients with a kept appointment that was not free; each currency by itself.',
      value: ({ revenue, paying }) => (paying ? (revenue ?? 0) / paying : null),
      variance: ({ revenue, paying }) => (paying ? ((revenue ?? 0) / paying) ** 2 / paying : null),
      better: 'more',
      tense: 'past',
    },
  ],
  charts: [
    countsOverTime({
      name: 'clients',
      title: 'Clients seen for the first time in the period,',
      rows: visits,
      time: 'first_here',
      series: [
        { name: 'Returning', where: 'not is_new' },
        { name: 'New', where: 'is_new' },
      ],
    }),
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['client'], {
    objects: (scope) => sql`
      select o.*, v.is_new from (${appointmentObjects(appointmentRows(scope))}) o
      join (${visits(scope)}) v using (client_id)`,
    figures: {
      clients: clientsWith(),
      activeClients: clientsWith(NOT_CANCELLED),
      newClients: clientsWith(`is_new and ${NOT_CANCELLED}`),
    },
  }),
}
