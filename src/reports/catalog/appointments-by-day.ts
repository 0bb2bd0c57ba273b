import { sql } from '../../database/sql.ts'
import { appointmentFigures, appointmentKpis, drawAppointmentsOverTime } from './appointments.ts'
import { appointmentsIn, local } from './conditions.ts'
import type { Report } from '../report.ts'
import { stepOf } from './time-steps.ts'

export const appointmentsByDay: Report = {
  reportId: 102,
  category: 'APPOINTMENTS',
  reportName: 'Appointment summary',
  reportFileName: 'appointment-summary',
  description:
    'One line for each day of the period: the number of appointments, their outcomes and the revenue.',
  securityFunctions: ['PRINT_REPORTS', 'VIEW_REVENUE_REPORTS'],
  columns: [
    { name: 'date', label: 'Date', type: 'date', width: 10 },
    { name: 'weekday', label: 'Weekday', type: 'text', width: 7 },
    { name: 'appointments', label: 'Appointments', type: 'integer', width: 6, total: 'sum' },
    { name: 'completed', label: 'Completed', type: 'integer', width: 6, total: 'sum' },
    { name: 'noShows', label: 'No-shows', type: 'integer', width: 6, total: 'sum' },
    { name: 'cancelled', label: 'Cancelled', type: 'integer', width: 6, total: 'sum' },
    { name: 'minutes', label: 'Booked min', type: 'minutes', width: 6, total: 'sum' },
    {
      name: 'revenue',
      label: 'Revenue',
      type: 'money',
      width: 10,
      addsPrices: true,
      total: 'sum',
    },
  ],
  rows: (scope) => sql`
    with counted as (
      select ${local('c.start_time', scope)}::date as day, c.status, c.price,
             count(*) as n, sum(c.end_time - c.start_time) as span
      from calendar c
      where ${appointmentsIn(scope)}
      group by 1, 2, 3
    ),
    by_day as (
      select day,
             sum(n)::bigint as appointments,
             sum(n) filter (where status = 'COMPLETED')::bigint as completed,
             sum(n) filter (where status = 'NO_SHOW')::bigint as no_shows,
             sum(n) filter (where status = 'CANCELLED')::bigint as cancelled,
             (extract(epoch from sum(span) filter (where status <> 'CANCELLED')) / 60)::float8 as minutes,
             sum(n * price) filter (where status = 'COMPLETED') as revenue
      from counted
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
  figuresOf: (days) => figuresOf(days),
  kpis: appointmentKpis,
  // Drawn from the rows of the report: a second query would double the work.
  charts: [{ draw: (days, scope) => drawAppointmentsOverTime(byStep(days), scope) }],
}

type Day = Record<string, unknown>

const sum = (days: Day[], column: string) =>
  Math.round(days.reduce((sum, day) => sum + Number(day[column]), 0) * 100) / 100

const byStep = (days: Day[]) =>
  [...Map.groupBy(days, (day) => day.step)].map(([step, some]) => {
    const { appointments, no_shows, cancelled, revenue } = figuresOf(some)
    return { step, kept: appointments - no_shows - cancelled, no_shows, cancelled, revenue }
  })

const figuresOf = (days: Day[]) => ({
  appointments: sum(days, 'appointments'),
  completed: sum(days, 'completed'),
  no_shows: sum(days, 'noShows'),
  cancelled: sum(days, 'cancelled'),
  revenue: sum(days, 'revenue'),
})
