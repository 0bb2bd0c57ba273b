import { join, raw, sql, type Sql } from '../../database/sql.ts'
import type { SeriesChart, Tone } from '../chart.ts'
import type { ChartSource, Scope } from '../report.ts'
import { chartOverTime, stepOf } from '../time-steps.ts'

type Counted = {
  name: string
  title: string
  /** One row for each thing that is counted, with its local time in the column `time`. */
  rows: (scope: Scope) => Sql
  time?: string
  series: {
    name: string
    tone?: Tone
    /** The rows that count. */
    where: string
    /** The column to sum; absent: the rows are counted. */
    of?: string
  }[]
}

/** How many rows there are over time: a bar for each step, with a part for each series. */
export const countsOverTime = ({
  name,
  title,
  rows,
  time = 'local_start',
  series,
}: Counted): ChartSource => ({
  rows: (scope) => {
    const counts = series.map(({ where, of }, i) =>
      raw(`${of ? `sum(f.${of})` : 'count(*)'} filter (where ${where}) as series${i}`),
    )
    return sql`
      select to_char(date_trunc(${stepOf(scope)}, f.${raw(time)}), 'YYYY-MM-DD') as step, ${join(counts, ', ')}
      from (${rows(scope)}) f group by 1`
  },
  draw: (rows, scope) => [
    chartOverTime(scope, rows, {
      kind: 'bar',
      name,
      title,
      unit: 'count',
      stacked: series.length > 1,
      series: series.map((one, i) => ({ ...one, column: `series${i}` })),
    }),
  ],
})

type Line = Record<string, unknown>

type Bars = Pick<SeriesChart, 'name' | 'title' | 'stacked' | 'fixedWords'> & {
  /** The title if there are more lines than bars. */
  titleOfSome?: string
  unit?: SeriesChart['unit']
  /** The column with the name of a line. */
  label: string
  /** The column with the size of a line; absent: the lines are in order. */
  size?: string
  series: { name: string; tone?: Tone; column: string; write?: (value: number) => number }[]
}

export const MAX_BARS = 12

/** Horizontal bars for the largest lines, with a part for each series. */
export function barsOf(
  rows: Line[],
  { label, size, series, title, titleOfSome = title, unit = 'count', ...chart }: Bars,
): SeriesChart {
  const ordered = size ? rows.toSorted((a, b) => Number(b[size]) - Number(a[size])) : rows
  const shown = ordered.slice(0, MAX_BARS)
  return {
    kind: 'bar',
    named: true,
    ...chart,
    title: shown.length < rows.length ? titleOfSome : title,
    unit,
    labels: shown.map((row) => String(row[label])),
    series: series.map(({ name, tone, column, write = (value) => value }) => ({
      name,
      ...(tone ? { tone } : {}),
      values: shown.map((row) => (row[column] === null ? null : write(Number(row[column])))),
    })),
  }
}

/** How appointments ended, for the lines of a report with the most appointments. */
export const drawOutcomesBy = (label: string, title: string): ChartSource => ({
  draw: (rows) => [
    barsOf(rows, {
      name: 'appointments',
      title,
      titleOfSome: `${title}, the ${MAX_BARS} with the most`,
      stacked: true,
      label,
      size: 'appointments',
      series: [
        { name: 'Kept', tone: 'kept', column: 'completed' },
        { name: 'No-show', tone: 'missed', column: 'noShows' },
        { name: 'Cancelled', tone: 'cancelled', column: 'cancelled' },
        { name: 'Not closed', tone: 'unclosed', column: 'unclosed' },
        { name: 'Booked ahead', tone: 'ahead', column: 'ahead' },
      ],
    }),
  ],
})
