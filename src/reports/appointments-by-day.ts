import { sql } from '../database/sql.ts'
import { appointmentFigures, appointmentKpis } from './appointments.ts'
import { appointmentsIn, local, minutesOf } from './narrow.ts'
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
    with by_day as (
      select ${local('c.start_time', scope)}::date as day,
             count(*) as appointments,
             count(*) filter (where c.status = 'COMPLETED') as completed,
             count(*) filter (where c.status = 'NO_SHOW') as no_shows,
             count(*) filter (where c.status = 'CANCELLED') as cancelled,
             sum(${minutesOf('c')}) filter (where c.status <> 'CANCELLED') as minutes,
             sum(r.price) filter (where c.status = 'COMPLETED') as revenue
      from calendar c
      join reason r on (r.business_id, r.reason_id) = (c.business_id, c.reason_id)
      where ${appointmentsIn(scope)}
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
