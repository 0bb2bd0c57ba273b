import { join, sql } from '../../database/sql.ts'
import {
  measureColumn,
  measureKpi,
  noShowRateColumn,
  NO_SHOW_RATE,
  unratedColumn,
  selectCells,
  selectMeasures,
} from '../measures.ts'
import { countKpi, rateKpi, type MeasureName, type Report, type Scope } from '../report.ts'
import {
  APPOINTMENT_MEASURES,
  appointmentFigures,
  countedAppointments,
  drillToAppointments,
  OUTCOMES,
} from './appointments.ts'
import { openDays } from './working-hours.ts'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const SHOWN: MeasureName[] = [...OUTCOMES, 'unrated', 'bookedMinutes']

/**
 * The weekday and hour of each appointment, such as `3 14`, with its measures. A period can have more
 * Mondays than Tuesdays, so hours are compared per open day of their weekday.
 */
const byHour = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope, sql`to_char(a.local_start, 'ID HH24')`)}),
  measured as (select key, ${selectMeasures(SHOWN, scope)} from counted group by 1),
  open as (select to_char(day, 'ID') as weekday, count(*) as days from (${openDays(scope)}) o group by 1)
  select m.*, coalesce(open.days, 0) as "openDays",
         round((m.appointments - m.cancelled)::numeric / nullif(open.days, 0), 1) as "perDay"
  from measured m left join open on open.weekday = left(m.key, 1)`

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
    unratedColumn,
    measureColumn('cancelled'),
    measureColumn('unclosed'),
    measureColumn('ahead'),
    measureColumn('bookedMinutes'),
    { name: 'openDays', label: 'Open days', type: 'integer', width: 6 },
    { name: 'perDay', label: 'Per open day', type: 'decimal', width: 6 },
  ],
  rows: (scope) => sql`
    select trim(to_char(date '2023-12-31' + left(key, 1)::int, 'Day')) as weekday,
           right(key, 2) || ':00' as hour,
           ${join(selectCells(SHOWN, scope), ', ')},
           ${NO_SHOW_RATE} as "noShowShare",
           "openDays", "perDay",
           left(key, 1) as key_weekday,
           right(key, 2)::int as key_hour
    from (${byHour(scope)}) h
    order by key`,
  figures: (scope) => sql`
    select f.*, h.*
    from (${appointmentFigures(scope)}) f,
         (select max("perDay") as "perDay",
                 (array_agg(appointments - cancelled order by "perDay" desc nulls last, key))[1] as busiest,
                 count(*) filter (where appointments > cancelled) as hours,
                 (array_agg(key order by "perDay" desc nulls last, key) filter (where "perDay" > 0))[1] as "busiestHour"
          from (${byHour(scope)}) one) h`,
  kpis: [
    measureKpi('appointments'),
    countKpi('busiestHour', 'Busiest hour', {
      definition:
        'The hour of the week in which most appointments begin that were not cancelled, per open day of its weekday, and how many. A day is open if somebody works or an appointment or a class begins.',
      of: 'perDay',
      describe: ({ busiestHour }, { say }) => {
        if (typeof busiestHour !== 'string') return undefined
        const [day, hour] = busiestHour.split(' ')
        return `${say(WEEKDAYS[Number(day) - 1]!)} ${hour!.slice(0, 2)}:00`
      },
    }),
    rateKpi('busiestShare', 'In the busiest hour', {
      definition:
        'The share of appointments that were not cancelled that begins in the busiest hour of the week.',
      of: ({ busiest, appointments, cancelled }) => [
        busiest,
        (appointments ?? 0) - (cancelled ?? 0),
      ],
    }),
    countKpi('hoursUsed', 'Hours of the week in use', {
      definition:
        'The number of hours of the week (of 168) with at least one appointment that was not cancelled.',
      of: 'hours',
    }),
  ],
  charts: [
    {
      rows: byHour,
      draw: (rows) => {
        const counts = new Map(
          rows.map(({ key, perDay }) => {
            const [day, hour] = String(key).split(' ').map(Number)
            return [`${day} ${hour}`, Number(perDay)]
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
            title: 'Appointments per open day that were not cancelled, by weekday and hour',
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
