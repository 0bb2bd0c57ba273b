import { sql } from '../../database/sql.ts'
import { appointmentCount } from './appointments.ts'
import { appointmentsIn, local, minutesOf } from './conditions.ts'
import { percent, type Report } from '../report.ts'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export const peakTimes: Report = {
  reportId: 105,
  category: 'APPOINTMENTS',
  reportName: 'Peak times',
  reportFileName: 'peak-times',
  description: 'The weekdays and hours at which appointments begin.',
  securityFunctions: ['PRINT_REPORTS'],
  columns: [
    { name: 'weekday', label: 'Weekday', type: 'text', width: 12 },
    { name: 'hour', label: 'Hour', type: 'time', width: 6 },
    { name: 'appointments', label: 'Appointments', type: 'integer', width: 8, total: 'sum' },
    { name: 'noShows', label: 'No-shows', type: 'integer', width: 8, total: 'sum' },
    {
      name: 'noShowShare',
      label: 'No-show share',
      type: 'percent',
      width: 8,
      total: { percentOf: ['noShows', 'appointments'] },
    },
    { name: 'minutes', label: 'Booked min', type: 'minutes', width: 8, total: 'sum' },
  ],
  rows: (scope) => sql`
    select trim(to_char(min(${local('c.start_time', scope)}), 'Day')) as weekday,
           to_char(date_trunc('hour', min(${local('c.start_time', scope)})), 'HH24:MI') as hour,
           count(*) as appointments,
           count(*) filter (where c.status = 'NO_SHOW') as "noShows",
           round(100.0 * count(*) filter (where c.status = 'NO_SHOW') / count(*), 1) as "noShowShare",
           sum(${minutesOf('c')}) as minutes
    from calendar c
    where ${appointmentsIn(scope)} and c.status <> 'CANCELLED'
    group by extract(isodow from ${local('c.start_time', scope)}),
             extract(hour from ${local('c.start_time', scope)})
    order by extract(isodow from min(${local('c.start_time', scope)})),
             extract(hour from min(${local('c.start_time', scope)}))`,
  figures: (scope) => sql`
    with hours as (
      select count(*) as n
      from calendar c
      where ${appointmentsIn(scope)} and c.status <> 'CANCELLED'
      group by extract(isodow from ${local('c.start_time', scope)}),
               extract(hour from ${local('c.start_time', scope)})
    )
    select coalesce(sum(n), 0)::bigint as appointments, coalesce(max(n), 0) as busiest, count(*) as hours
    from hours`,
  kpis: [
    {
      ...appointmentCount,
      definition: 'Appointments that begin in the period and were not cancelled.',
    },
    {
      name: 'busiestShare',
      label: 'In the busiest hour',
      unit: 'percent',
      definition: 'The share of these appointments that begins in the busiest hour of the week.',
      value: ({ busiest, appointments }) => percent(busiest, appointments),
    },
    {
      name: 'hoursUsed',
      label: 'Hours of the week in use',
      unit: 'count',
      definition: 'The number of hours of the week (of 168) with at least one appointment.',
      value: ({ hours }) => hours ?? 0,
    },
  ],
  charts: [
    {
      draw: (rows) => {
        const hours = rows.map((row) => Number(String(row.hour).slice(0, 2)))
        const first = Math.min(...hours, 8)
        const last = Math.max(...hours, 18)
        const columns = Array.from({ length: last - first + 1 }, (_, i) => first + i)
        const counts = new Map(
          rows.map((row) => [
            `${row.weekday} ${Number(String(row.hour).slice(0, 2))}`,
            row.appointments,
          ]),
        )
        return [
          {
            kind: 'heatmap',
            name: 'peakTimes',
            title: 'Appointments by weekday and hour',
            columns: columns.map((hour) => `${String(hour).padStart(2, '0')}:00`),
            rows: WEEKDAYS.map((day) => day.slice(0, 3)),
            values: WEEKDAYS.map((day) =>
              columns.map((hour) => Number(counts.get(`${day} ${hour}`) ?? 0)),
            ),
          },
        ]
      },
    },
  ],
}
