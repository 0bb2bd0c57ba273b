import { join, sql } from '../../database/sql.ts'
import {
  measureColumn,
  measureKpi,
  noShowRateColumn,
  selectCells,
  selectMeasures,
} from '../measures.ts'
import { percent, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  countedAppointments,
  drillToAppointments,
} from './appointments.ts'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const SHOWN: MeasureName[] = ['appointments', 'kept', 'missed', 'cancelled', 'bookedMinutes']

/** The weekday and hour of each appointment, such as `3 14`, with its measures. */
const byHour = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope, sql`to_char(a.local_start, 'ID HH24')`)})
  select key, ${selectMeasures(SHOWN, scope)} from counted group by 1`

export const peakTimes: Report = {
  reportId: 105,
  category: 'APPOINTMENTS',
  reportName: 'Peak times',
  reportFileName: 'peak-times',
  description: 'The weekdays and hours at which appointments begin.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  columns: [
    { name: 'weekday', label: 'Weekday', type: 'text', width: 12, fixedWords: true },
    { name: 'hour', label: 'Hour', type: 'time', width: 6 },
    measureColumn('appointments'),
    measureColumn('kept'),
    measureColumn('missed'),
    noShowRateColumn({ name: 'noShowShare' }),
    measureColumn('cancelled'),
    measureColumn('bookedMinutes'),
  ],
  rows: (scope) => sql`
    select trim(to_char(date '2023-12-31' + left(key, 1)::int, 'Day')) as weekday,
           right(key, 2) || ':00' as hour,
           ${join(selectCells(SHOWN, scope), ', ')},
           round(100.0 * missed / nullif(kept + missed, 0), 1) as "noShowShare",
           left(key, 1) as key_weekday,
           right(key, 2)::int as key_hour
    from (${byHour(scope)}) h
    order by key`,
  figures: (scope) => sql`
    select f.*, h.busiest, h.hours, h."busiestHour"
    from (${appointmentFigures(scope)}) f,
         (select coalesce(max(appointments - cancelled), 0) as busiest,
                 count(*) filter (where appointments > cancelled) as hours,
                 (array_agg(key order by appointments - cancelled desc, key))[1] as "busiestHour"
          from (${byHour(scope)}) one) h`,
  kpis: [
    measureKpi('appointments'),
    {
      name: 'busiestHour',
      label: 'Busiest hour',
      unit: 'count',
      definition:
        'The hour of the week in which most appointments begin that were not cancelled, and how many.',
      value: ({ busiest }) => busiest ?? 0,
      describe: ({ busiestHour }, { say }) => {
        if (typeof busiestHour !== 'string') return undefined
        const [day, hour] = busiestHour.split(' ')
        return `${say(WEEKDAYS[Number(day) - 1]!)} ${hour!.slice(0, 2)}:00`
      },
    },
    {
      name: 'busiestShare',
      label: 'In the busiest hour',
      unit: 'percent',
      definition:
        'The share of appointments that were not cancelled that begins in the busiest hour of the week.',
      value: ({ busiest, appointments, cancelled }) =>
        percent(busiest, (appointments ?? 0) - (cancelled ?? 0)),
    },
    {
      name: 'hoursUsed',
      label: 'Hours of the week in use',
      unit: 'count',
      definition:
        'The number of hours of the week (of 168) with at least one appointment that was not cancelled.',
      value: ({ hours }) => hours ?? 0,
    },
  ],
  charts: [
    {
      rows: byHour,
      draw: (rows) => {
        const counts = new Map(
          rows.map(({ key, appointments, cancelled }) => {
            const [day, hour] = String(key).split(' ').map(Number)
            return [`${day} ${hour}`, Number(appointments) - Number(cancelled)]
          }),
        )
        const hours = rows.map(({ key }) => Number(String(key).slice(2)))
        const first = Math.min(...hours, 8)
        const last = Math.max(...hours, 18)
        const columns = Array.from({ length: last - first + 1 }, (_, i) => first + i)
        return [
          {
            kind: 'heatmap',
            name: 'peakTimes',
            title: 'Appointments that were not cancelled, by weekday and hour',
            columns: columns.map((hour) => `${String(hour).padStart(2, '0')}:00`),
            rows: WEEKDAYS.map((day) => day.slice(0, 3)),
            values: WEEKDAYS.map((_, day) =>
              columns.map((hour) => counts.get(`${day + 1} ${hour}`) ?? 0),
            ),
          },
        ]
      },
    },
  ],
  measures: APPOINTMENT_MEASURES,
  drillDown: drillToAppointments(['weekday', 'hour']),
}
