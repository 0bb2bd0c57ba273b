import { sql, type Sql } from '../../database/sql.ts'
import { groupedColumns, groupedRows } from '../grouping.ts'
import { keptRate, measureKpi, noShowRate, selectMeasures } from '../measures.ts'
import type { ChartSource, DrillDown, KeyName, MeasureName, Report, Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'
import { appointmentRows } from './conditions.ts'
import { appointmentObjects } from './objects.ts'

/** All appointments, and how they ended. */
export const OUTCOMES: MeasureName[] = [
  'appointments',
  'kept',
  'missed',
  'cancelled',
  'unclosed',
  'ahead',
]

/** The measures that every report about appointments can show. */
export const APPOINTMENT_MEASURES: MeasureName[] = [
  ...OUTCOMES,
  'bookedMinutes',
  'revenue',
  'aheadValue',
]

const FIGURES: MeasureName[] = [
  ...APPOINTMENT_MEASURES,
  'unrated',
  'unpriced',
  'value',
  'lostValue',
  'cancelledValue',
  'unclosedValue',
]

/** Grouping by outcome and price first is cheaper than adding all prices. */
export const countedAppointments = (scope: Scope, key?: Sql) => sql`
  select ${key ? sql`${key} as key, ` : sql``} a.outcome, a.is_unrated, a.price, a.currency, count(*) as n, sum(a.minutes) as minutes,
         count(*) filter (where a.start_time <= ${scope.now}) as begun
  from (${appointmentRows(scope)}) a
  group by ${key ? sql`1, 2, 3, 4, 5` : sql`1, 2, 3, 4`}`

/** The measures of the appointments of each key. */
export const measuresBy = (scope: Scope, key: Sql, measures: readonly MeasureName[]) => sql`
  select counted.key, ${selectMeasures(measures, scope)}
  from (${countedAppointments(scope, key)}) counted group by 1`

/** All measures of the appointments of the scope, each under its name. `begun` counts cancelled ones too. */
export const appointmentFigures = (scope: Scope) => sql`
  with counted as (${countedAppointments(scope)})
  select ${selectMeasures(FIGURES, scope)}, coalesce(sum(begun), 0)::bigint as begun from counted`

/** Lines with these keys, whose figures count the appointments of the scope. */
export const drillToAppointments = (
  keys: KeyName[],
  others: Partial<DrillDown> = {},
): DrillDown => ({
  objects: (scope) => appointmentObjects(appointmentRows(scope)),
  keys: () => keys,
  ...others,
})

/** A condition of figures, in terms of `appointmentRows` or `classRows`. */
export const NOT_CANCELLED = `outcome <> 'CANCELLED'`

/** Clients with one of the appointments, each counted once. */
export const clientsWith = (where?: string) => ({
  oncePer: 'client_id' as const,
  ...(where ? { where } : {}),
})

export const appointmentKpis = [
  measureKpi('appointments'),
  keptRate,
  noShowRate,
  measureKpi('revenue'),
  measureKpi('ahead'),
  measureKpi('aheadValue'),
]

/** Appointments and money over time. */
export const appointmentsOverTime: ChartSource[] = [
  {
    rows: (scope) => sql`
      with counted as (${countedAppointments(scope, sql`to_char(date_trunc(${stepOf(scope)}, a.local_start), 'YYYY-MM-DD')`)})
      select key as step, ${selectMeasures(FIGURES, scope)} from counted group by 1`,
    draw: (rows, scope) => [
      chartOverTime(scope, rows, {
        kind: 'bar',
        name: 'appointments',
        title: 'Appointments',
        stacked: true,
        unit: 'count',
        series: [
          { name: 'Kept', column: 'kept', tone: 'kept' },
          { name: 'No-show', column: 'missed', tone: 'missed' },
          { name: 'Cancelled', column: 'cancelled', tone: 'cancelled' },
          { name: 'Not closed', column: 'unclosed', tone: 'unclosed' },
          { name: 'Booked ahead', column: 'ahead', tone: 'ahead' },
        ],
      }),
      chartOverTime(scope, rows, {
        kind: 'bar',
        name: 'revenue',
        title: 'Revenue',
        stacked: true,
        unit: 'money',
        series: [
          { name: 'Revenue', column: 'revenue', tone: 'kept' },
          { name: 'Booked ahead', column: 'aheadValue', tone: 'ahead' },
        ],
      }),
    ],
  },
]

type Measured = Omit<Report, 'about' | 'columns' | 'rows' | 'figures' | 'kpis' | 'charts'> &
  Pick<Required<Report>, 'measures' | 'groupedBy'> &
  Partial<Pick<Report, 'kpis' | 'charts'>>

/** A report of appointments that consists of measures, with one line for each group. */
export function measuredReport(report: Measured): Report {
  const { measures, groupedBy } = report
  const today = Temporal.PlainDate.from('2026-01-01')
  return {
    about: 'appointments',
    columns: groupedColumns(groupedBy({ startDate: today, endDate: today }), report),
    rows: (scope) => groupedRows(scope, { about: 'appointments', measures }, groupedBy(scope)),
    figures: appointmentFigures,
    kpis: appointmentKpis,
    charts: appointmentsOverTime,
    drillDown: drillToAppointments([]),
    ...report,
  }
}
