import { raw, sql } from '../database/sql.ts'
import { appointmentsIn, local } from './narrow.ts'
import { percent, type ChartSource, type Kpi, type Scope } from './report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

/** The figures that several reports about appointments share, each defined in one place. */
export const appointmentFigures = (scope: Scope) => sql`
  select count(*) as appointments,
         count(*) filter (where c.status = 'COMPLETED') as completed,
         count(*) filter (where c.status = 'NO_SHOW') as no_shows,
         count(*) filter (where c.status = 'CANCELLED') as cancelled,
         coalesce(sum(r.price) filter (where c.status = 'COMPLETED'), 0) as revenue
  from calendar c
  join reason r on (r.business_id, r.reason_id) = (c.business_id, c.reason_id)
  where ${appointmentsIn(scope)}`

export const appointmentCount: Kpi = {
  name: 'appointments',
  label: 'Appointments',
  unit: 'count',
  definition: 'All appointments that begin in the period, whatever became of them.',
  value: ({ appointments }) => appointments ?? 0,
  better: 'more',
}

export const completedShare: Kpi = {
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
  definition: 'The prices of the services of completed appointments.',
  value: ({ revenue }) => revenue ?? 0,
  better: 'more',
}

export const appointmentKpis = [appointmentCount, completedShare, noShowRate, revenue]

const overTime = (scope: Scope) => sql`
  select to_char(date_trunc(${stepOf(scope)}, ${local('c.start_time', scope)}), 'YYYY-MM-DD') as step,
         count(*) filter (where c.status not in ('NO_SHOW', 'CANCELLED')) as kept,
         count(*) filter (where c.status = 'NO_SHOW') as no_shows,
         count(*) filter (where c.status = 'CANCELLED') as cancelled,
         coalesce(sum(r.price) filter (where c.status = 'COMPLETED'), 0) as revenue
  from calendar c
  join reason r on (r.business_id, r.reason_id) = (c.business_id, c.reason_id)
  where ${appointmentsIn(scope)}
  group by ${raw('1')}`

export const appointmentsOverTime: ChartSource[] = [
  {
    rows: overTime,
    draw: (rows, scope) => [
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
    ],
  },
]
