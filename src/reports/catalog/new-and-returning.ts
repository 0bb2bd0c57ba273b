import { sql, raw } from '../../database/sql.ts'
import { countKpi, rateKpi, type Report, type Scope } from '../report.ts'
import { linesOf, stepsOf } from '../time-steps.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  drillToAppointments,
  clientsWith,
  NOT_CANCELLED,
} from './appointments.ts'
import { appointmentRows } from './conditions.ts'
import { appointmentObjects } from './objects.ts'
import { firstVisits, isNewInPeriod } from './first-visits.ts'

/**
 * Appointments that were not cancelled. A client is new in the period of their first visit, and new in
 * the line of the day or month of that visit.
 */
const visits = (scope: Scope) => sql`
  select a.*, ${isNewInPeriod('e.first_start', scope)} as is_new,
         date_trunc(${linesOf(scope)}, e.first_start) = date_trunc(${linesOf(scope)}, a.local_start) as is_new_in_line
  from (${appointmentRows(scope)}) a
  join (${firstVisits(sql`select c.client_id from (${appointmentRows(scope)}) c`, scope)}) e using (client_id)
  where a.outcome <> 'CANCELLED'`

export const newAndReturning: Report = {
  reportId: 502,
  category: 'CLIENTS',
  reportName: 'New and returning clients',
  reportFileName: 'new-and-returning',
  description:
    'One line for each day, or for each month of a long period: how many clients were new, and how many had come before.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_CLIENT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'step', label: 'From', type: 'date', width: 10 },
    { name: 'clients', label: 'Clients', type: 'integer', width: 7 },
    { name: 'newClients', label: 'New', type: 'integer', width: 7 },
    { name: 'returningClients', label: 'Returning', type: 'integer', width: 7 },
    { name: 'newShare', label: 'New clients', type: 'percent', width: 7 },
    { name: 'visits', label: 'Appointments', type: 'integer', width: 7, total: 'sum' },
    { name: 'newVisits', label: 'Of new clients', type: 'integer', width: 7, total: 'sum' },
  ],
  rows: (scope) => sql`
    select s.step,
           count(distinct v.client_id) as clients,
           count(distinct v.client_id) filter (where v.is_new) as "newClients",
           count(distinct v.client_id) filter (where not v.is_new) as "returningClients",
           round(100.0 * count(distinct v.client_id) filter (where v.is_new)
                 / nullif(count(distinct v.client_id), 0), 1) as "newShare",
           count(v.client_id) as visits,
           count(*) filter (where v.is_new) as "newVisits",
           s.step as ${raw(`"key_${linesOf(scope)}"`)}
    from unnest(${stepsOf(scope, linesOf(scope)).map(String)}::text[]) s (step)
    left join (
      select o.client_id, to_char(date_trunc(${linesOf(scope)}, o.local_start), 'YYYY-MM-DD') as step,
             o.is_new_in_line as is_new
      from (${visits(scope)}) o
    ) v using (step)
    group by 1 order by 1`,
  figures: (scope) => sql`
    select f.*, v.clients, v.fresh
    from (${appointmentFigures(scope)}) f,
         (select count(distinct o.client_id) as clients,
                 count(distinct o.client_id) filter (where o.is_new) as fresh
          from (${visits(scope)}) o) v`,
  kpis: [
    countKpi('activeClients', 'Clients', {
      definition:
        'Clients with an appointment in the period that was not cancelled; in a line, those of its day or month.',
      of: 'clients',
      better: 'more',
    }),
    countKpi('firstTimeClients', 'New', {
      definition:
        'Clients whose first appointment ever that was not cancelled is in the period; in a line, in its day or month.',
      of: 'fresh',
      better: 'more',
    }),
    {
      name: 'returningClients',
      label: 'Returning',
      unit: 'count',
      definition: 'All other clients. A client who comes in several months is in several lines.',
      value: ({ clients, fresh }) => (clients ?? 0) - (fresh ?? 0),
      better: 'more',
    },
    rateKpi('newShare', 'New clients', {
      definition: 'New clients as a share of all clients of the period.',
      of: ({ clients, fresh }) => [fresh, clients],
    }),
  ],
  charts: [
    {
      draw: (rows, scope) => [
        {
          kind: 'bar',
          name: 'clients',
          title: 'Clients',
          unit: 'count',
          stacked: true,
          labels: rows.map(({ step }) => String(step).slice(rows.length > 31 ? 0 : 5)),
          steps: { step: linesOf(scope), dates: rows.map(({ step }) => String(step)) },
          series: [
            { name: 'Returning', values: rows.map((row) => Number(row.returningClients)) },
            { name: 'New', values: rows.map((row) => Number(row.newClients)) },
          ],
        },
      ],
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments([], {
    // A client who is not new in a line is returning in it.
    objects: (scope, keys) => sql`
      select o.*, v.is_new, v.is_new_in_line,
             not v.${raw(keys[linesOf(scope)] === undefined ? 'is_new' : 'is_new_in_line')} as is_returning
      from (${appointmentObjects(appointmentRows(scope))}) o
      left join (${visits(scope)}) v using (calendar_id)`,
    keys: (scope) => [linesOf(scope)],
    listed: NOT_CANCELLED,
    figures: {
      clients: clientsWith(NOT_CANCELLED),
      newClients: clientsWith('is_new_in_line'),
      returningClients: clientsWith('is_returning'),
      visits: { where: NOT_CANCELLED },
      newVisits: { where: 'is_new_in_line' },
      activeClients: clientsWith(NOT_CANCELLED),
      firstTimeClients: clientsWith('is_new'),
    },
  }),
}
