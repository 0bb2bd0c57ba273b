import { join, sql, type Sql } from '../../database/sql.ts'
import {
  keptRate,
  MEASURES,
  measureColumn,
  measureKpi,
  noShowRate,
  selectCells,
  selectMeasures,
} from '../measures.ts'
import {
  countKpi,
  type Column,
  type LineKeys,
  type MeasureName,
  type Report,
  type Scope,
} from '../report.ts'
import { appointmentFigures, appointmentsOverTime, OUTCOMES } from './appointments.ts'
import { appointmentRows } from './conditions.ts'
import { monthSentences } from './month-sentences.ts'
import { appointmentObjects } from './objects.ts'
import { isRunning, monthOf, monthScopes, otherMonths } from './months.ts'
import { openDays, perDay } from './working-hours.ts'

const SHOWN: MeasureName[] = [...OUTCOMES, 'revenue', 'aheadValue']

type MonthLine = {
  key: string
  label: string
  of: Scope
  where?: Sql
  /** Its open days are those after this day. */
  after?: Temporal.PlainDate
  isAhead: boolean
  isPast: boolean
}

/** The lines of the table. The current month has two, so that only its past part is compared. */
function linesOf(scope: Scope): MonthLine[] {
  const { soFar, before, yearBefore, next } = monthScopes(scope)
  const line = (key: string, label: string, of: Scope): MonthLine => ({
    key,
    label,
    of,
    isAhead: Temporal.Instant.compare(of.from, scope.now) > 0,
    isPast: Temporal.Instant.compare(of.until, scope.now) <= 0,
  })
  const rest: MonthLine = {
    ...line('REST', 'The rest of the month', scope),
    where: sql`a.start_time > ${scope.now}`,
    after: scope.now.toZonedDateTimeISO(scope.timeZone).toPlainDate(),
    isAhead: true,
  }
  const [so, point] = isRunning(scope) ? [' so far', ', to the same point'] : ['', '']
  return [
    line('MONTH', `The month${so}`, soFar),
    ...(isRunning(scope) ? [rest] : []),
    line('BEFORE', `The month before${point}`, before),
    line('YEAR_BEFORE', `A year before${point}`, yearBefore),
    line('NEXT', 'The next month', next),
  ]
}

/** Past measures are empty for future lines, and future measures for past lines. */
function rows(scope: Scope): Sql {
  const lines = linesOf(scope)
  const counted = lines.map(
    ({ of, where }, i) => sql`
      select ${i + 1}::bigint as place, a.outcome, a.price, a.currency, count(*) as n, sum(a.minutes) as minutes
      from (${appointmentRows(of)}) a ${where ? sql`where ${where}` : sql``} group by 2, 3, 4`,
  )
  const open = lines.map(
    ({ of, after }, i) => sql`
      select ${i + 1}::bigint as place, count(*) as days
      from (${openDays(of)}) o ${after ? sql`where o.day > ${after}::date` : sql``}`,
  )
  const cells = selectCells(SHOWN, scope, (value, measure) => {
    const { tense } = MEASURES[measure]
    if (tense === undefined) return value
    return tense === 'past'
      ? sql`case when not s.is_ahead then ${value} end`
      : sql`case when not s.is_past then ${value} end`
  })
  return sql`
    with counted as (${join(counted, ' union all ')}),
    measured as (select place, ${selectMeasures(SHOWN, scope)} from counted group by 1),
    open as (${join(open, ' union all ')})
    select s.key_line, s.period, s.month, ${join(cells, ', ')}, open.days as "openDays",
           round(coalesce(measured.appointments, 0) / nullif(open.days, 0)::numeric, 1) as "perDay"
    from unnest(${lines.map(({ key }) => key)}::text[],
                ${lines.map(({ label }) => label)}::text[],
                ${lines.map(({ of }) => of.startDate.toString().slice(0, 7))}::text[],
                ${lines.map(({ isAhead }) => isAhead)}::boolean[],
                ${lines.map(({ isPast }) => isPast)}::boolean[])
           with ordinality s (key_line, period, month, is_ahead, is_past, place)
    left join measured using (place)
    join open using (place)
    order by place`
}

/** The appointments of one line; without a line, those of the month. */
function appointmentsOf(scope: Scope, { line: key }: LineKeys): Sql {
  if (key === undefined) return appointmentObjects(appointmentRows(scope))
  const line = linesOf(scope).find((one) => one.key === key)
  const where = line ? (line.where ?? sql`true`) : sql`false`
  return sql`
    select a.*, ${key} as line
    from (${appointmentObjects(appointmentRows(line?.of ?? scope))}) a where ${where}`
}

/** Without a total: the lines are months that are compared, not parts of a whole. */
function lineColumn(measure: MeasureName): Column {
  const { total: _, tense: __, ...column } = measureColumn(measure)
  return column
}

export const yourMonth: Report = {
  reportId: 100,
  category: 'APPOINTMENTS',
  reportName: 'Your month',
  reportFileName: 'your-month',
  description:
    'The last month of the period on one page: what changed and where, what is booked next, and what the reminders did.',
  securityFunctions: ['PRINT_REPORTS'],
  about: 'appointments',
  rangeOf: ({ endDate }) => monthOf(endDate),
  otherRanges: (range) => Object.values(otherMonths(range)),
  columns: [
    { name: 'period', label: 'Period', type: 'text', width: 26, fixedWords: true },
    { name: 'month', label: 'Month', type: 'text', width: 8, isDate: true },
    ...SHOWN.map(lineColumn),
    { name: 'openDays', label: 'Open days', type: 'integer', width: 6 },
    { name: 'perDay', label: 'Per open day', type: 'decimal', width: 6 },
  ],
  rows,
  figures: (scope) => sql`
    select f.*, (select count(*) from (${appointmentRows(monthScopes(scope).next)}) a
                 where a.outcome <> 'CANCELLED') as next,
           (select count(*) from (${openDays(scope)}) o) as "openDays"
    from (${appointmentFigures(scope)}) f`,
  kpis: [
    measureKpi('appointments'),
    {
      name: 'perDay',
      label: 'Per open day',
      unit: 'count',
      definition:
        'Appointments in any status, divided by the days on which somebody works or an appointment or a class begins.',
      value: ({ appointments, openDays }) => perDay(appointments, openDays),
      better: 'more',
      variance: ({ appointments, openDays }) =>
        openDays ? (appointments ?? 0) / openDays ** 2 : null,
    },
    keptRate,
    noShowRate,
    measureKpi('revenue'),
    countKpi('nextMonth', 'Next month', {
      definition: 'Appointments of the month after that were not cancelled.',
      of: 'next',
      // For an earlier month the next one is complete; for this month it is still being booked.
      isNotComparable: true,
    }),
  ],
  charts: appointmentsOverTime,
  sentences: monthSentences,
  drillDown: { objects: appointmentsOf, keys: () => ['line'] },
}
