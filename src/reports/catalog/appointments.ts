import { sql } from '../../database/sql.ts'
import { appointmentsIn, local } from './conditions.ts'
import { percent, type ChartSource, type Kpi, type Scope } from '../report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

/** Shared by several reports. Grouping by status and price first is cheaper than summing all prices. */
export const appointmentFigures = (scope: Scope) => sql`
  with counted as (
    select c.status, c.price, count(*) as n
    from calendar c
    where ${appointmentsIn(scope)}
    group by 1, 2
  )
  select coalesce(sum(n), 0)::bigint as appointments,
         coalesce(sum(n) filter (where status = 'COMPLETED'), 0)::bigint as completed,
         coalesce(sum(n) filter (where status = 'NO_SHOW'), 0)::bigint as no_shows,
         coalesce(sum(n) filter (where status = 'CANCELLED'), 0)::bigint as cancelled,
         coalesce(sum(n * price) filter (where status = 'COMPLETED'), 0) as revenue
  from counted`

export const appointmentCount: Kpi = {
  name: 'appointments',
  label: 'Appointments',
  unit: 'count',
  definition: 'All appointments that begin in the period, in any status.',
  value: ({ appointments }) => appointments ?? 0,
  better: 'more',
}

const completedShare: Kpi = {
  name: 'completed',
  label: 'Completed',
  unit: 'percent',
  definition: 'Appointments with the status COMPLETED, as a share of all.',
  value: ({ completed, appointments }) => percent(completed, appointments),
  better: 'more',
}

export const noShowRate: Kpi = {
  name: 'noShowRate',
  label: 'No-show rate',
  unit: 'percent',
  definition:
    'Appointments with the status NO_SHOW, as a share of those that were completed or missed.',
  value: ({ no_shows, completed }) => percent(no_shows, (no_shows ?? 0) + (completed ?? 0)),
  better: 'less',
}

export const revenue: Kpi = {
  name: 'revenue',
  label: 'Revenue',
  unit: 'money',
  definition: 'The prices of completed appointments at the time of booking.',
  value: ({ revenue }) => revenue ?? 0,
  better: 'more',
}

export const appointmentKpis = [appointmentCount, completedShare, noShowRate, revenue]

const overTime = (scope: Scope) => sql`
  with counted as (
    select date_trunc(${stepOf(scope)}, ${local('c.start_time', scope)}) as step,
           c.status, c.price, count(*) as n
    from calendar c
    where ${appointmentsIn(scope)}
    group by 1, 2, 3
  )
  select to_char(step, 'YYYY-MM-DD') as step,
         coalesce(sum(n) filter (where status not in ('NO_SHOW', 'CANCELLED')), 0)::bigint as kept,
         coalesce(sum(n) filter (where status = 'NO_SHOW'), 0)::bigint as no_shows,
         coalesce(sum(n) filter (where status = 'CANCELLED'), 0)::bigint as cancelled,
         coalesce(sum(n * price) filter (where status = 'COMPLETED'), 0) as revenue
  from counted
  group by 1`

/** Each row holds the counts and the revenue of one step. */
export const drawAppointmentsOverTime: ChartSource['draw'] = (rows, scope) => [
  chartOverTime(scope, rows, {
    kind: 'bar',
    name: 'appointments',
    title: 'Appointments',
    stacked: true,
    unit: 'count',
    series: [
      { name: 'Kept', column: 'kept' },
      { name: 'No-show', column: 'no_shows' },
      { name: 'Cancelled', column: 'cancelled' },
    ],
  }),
  chartOverTime(scope, rows, {
    kind: 'line',
    name: 'revenue',
    title: 'Revenue',
    unit: 'money',
    series: [{ name: 'Revenue', column: 'revenue' }],
  }),
]

export const appointmentsOverTime: ChartSource[] = [
  { rows: overTime, draw: drawAppointmentsOverTime },
]
