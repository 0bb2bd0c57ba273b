import { sql } from '../database/sql.ts'
import { appointmentFigures, appointmentKpis } from './appointments.ts'
import { appointmentsIn, local } from './narrow.ts'
import type { Report } from './report.ts'
import { chartOverTime, stepOf } from './time-steps.ts'

export const appointmentsByDay: Report = {
  reportId: 102,
  category: 'APPOINTMENTS',
  reportName: 'Appointment summary',
  reportFileName: 'appointment-summary',
  description: 'One line for each day of the period: how many, how they ended, what they brought.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_REVENUE_REPORTS'],
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'weekday', label: 'Weekday', type: 'text', width: 7 },
    { name: 'appointments', label: 'Appointments', type: 'integer', width: 6, total: 'sum' },
    { name: 'completed', label: 'Completed', type: 'integer', width: 6, total: 'sum' },
    { name: 'noShows', label: 'No-shows', type: 'integer', width: 6, total: 'sum' },
    { name: 'cancelled', label: 'Cancelled', type: 'integer', width: 6, total: 'sum' },
    { name: 'minutes', label: 'Booked min', type: 'minutes', width: 6, total: 'sum' },
    { name: 'revenue', label: 'Revenue', type: 'money', width: 10, total: 'sum' },
  ],
  rows: (scope) => sql`
    with counted as (
      select ${local('c.start_time', scope)}::date as day, c.business_id, c.reason_id, c.status,
             count(*) as n, sum(c.end_time - c.start_time) as span
      from calendar c
      where ${appointmentsIn(scope)}
      group by 1, 2, 3, 4
    ),
    by_day as (
      select day,
             sum(n)::bigint as appointments,
             sum(n) filter (where status = 'COMPLETED')::bigint as completed,
             sum(n) filter (where status = 'NO_SHOW')::bigint as no_shows,
             sum(n) filter (where status = 'CANCELLED')::bigint as cancelled,
             (extract(epoch from sum(span) filter (where status <> 'CANCELLED')) / 60)::float8 as minutes,
             sum(n * price) filter (where status = 'COMPLETED') as revenue
      from counted join reason using (business_id, reason_id)
      group by 1
    )
    select to_char(d, 'YYYY-MM-DD') as date,
           to_char(d, 'Dy') as weekday,
           coalesce(appointments, 0) as appointments,
           coalesce(completed, 0) as completed,
           coalesce(no_shows, 0) as "noShows",
           coalesce(cancelled, 0) as cancelled,
           coalesce(minutes, 0) as minutes,
           coalesce(revenue, 0) as revenue,
           to_char(date_trunc(${stepOf(scope)}, d), 'YYYY-MM-DD') as step
    from generate_series(${scope.startDate}::timestamp, ${scope.endDate}::timestamp, '1 day') d
    left join by_day on day = d::date
    order by d`,
  figures: appointmentFigures,
  figuresOf: (days) => ({
    appointments: sum(days, 'appointments'),
    completed: sum(days, 'completed'),
    no_shows: sum(days, 'noShows'),
    cancelled: sum(days, 'cancelled'),
    revenue: sum(days, 'revenue'),
  }),
  kpis: appointmentKpis,
  charts: [
    {
      // From the rows themselves: reading them again would double the work.
      draw: (days, scope) => {
        const rows = sumByStep(days)
        return [
          chartOverTime(scope, rows, {
            kind: 'bar',
            name: 'appointments',
            title: 'Appointments',
            stacked: true,
            unit: 'count',
            series: [
              { name: 'Kept', column: 'kept' },
              { name: 'No-show', column: 'noShows' },
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
      },
    },
  ],
}

const sum = (days: Record<string, unknown>[], column: string) =>
  Math.round(days.reduce((sum, day) => sum + Number(day[column]), 0) * 100) / 100

function sumByStep(days: Record<string, unknown>[]) {
  const steps = new Map<string, Record<string, number | string>>()
  for (const day of days) {
    const [appointments, noShows, cancelled, revenue] = [
      Number(day.appointments),
      Number(day.noShows),
      Number(day.cancelled),
      Number(day.revenue),
    ]
    const step = String(day.step)
    const sums = steps.get(step) ?? { step, kept: 0, noShows: 0, cancelled: 0, revenue: 0 }
    steps.set(step, {
      step,
      kept: Number(sums.kept) + appointments - noShows - cancelled,
      noShows: Number(sums.noShows) + noShows,
      cancelled: Number(sums.cancelled) + cancelled,
      revenue: Math.round((Number(sums.revenue) + revenue) * 100) / 100,
    })
  }
  return [...steps.values()]
}
