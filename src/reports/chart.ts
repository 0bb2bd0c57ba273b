export type Unit = 'count' | 'percent' | 'money' | 'minutes'

/** A chart as data. draw-chart.ts draws it for HTML and PDF; Excel and the console draw it themselves. */
export type Chart = SeriesChart | Heatmap

export type SeriesChart = {
  kind: 'bar' | 'line'
  name: string
  title: string
  labels: string[]
  series: Series[]
  stacked?: boolean
  unit: Unit
  /** Of amounts of money, if they are all in one. */
  currency?: string
  /** The labels are names, not steps of time. The bars are horizontal to fit names. */
  named?: boolean
  /** If the labels are steps of time: the first day of each. */
  steps?: { step: 'day' | 'week' | 'month'; dates: string[] }
  /** See `fixedWords` of a column. A change of status has two labels with an arrow between them. */
  fixedWords?: true | 'status'
}

export type Series = { name: string; values: (number | null)[]; tone?: Tone }

/** The meaning of a series, which decides its colour in all reports. */
export type Tone = 'kept' | 'missed' | 'cancelled' | 'unclosed' | 'ahead'

export type Heatmap = {
  kind: 'heatmap'
  name: string
  title: string
  columns: string[]
  rows: string[]
  /** One array for each row, with one value for each column. */
  values: number[][]
}

/** Pine, sand, slate and their light shades. Pine is also `kept`; none looks like another tone. */
const SERIES_COLORS = ['#3c7765', '#cdb98a', '#4f6d7a', '#b7d6c8', '#8a7a52', '#a9bcc4']

/** One colour for each meaning, in all reports and in the console. `ahead` is hollow. */
const TONE_COLORS: Record<Tone, string> = {
  kept: '#3c7765',
  missed: '#a83a2a',
  cancelled: '#b9beb9',
  unclosed: '#d9a02b',
  ahead: '#ffffff',
}

/** The colour of a series: by its meaning, else by its place. */
export const colorOf = ({ tone }: Series, i: number) =>
  tone ? TONE_COLORS[tone] : SERIES_COLORS[i % SERIES_COLORS.length]!

/** The outline of a hollow mark; undefined for a filled one. */
export const outlineOf = ({ tone }: Series) => (tone === 'ahead' ? '#858e88' : undefined)

/** The series that have a value, with the colours of their places. */
export const shownSeries = ({ series }: SeriesChart) =>
  series.flatMap((one, i) =>
    one.values.some((value) => value)
      ? [{ ...one, color: colorOf(one, i), outline: outlineOf(one) }]
      : [],
  )

/** Charts without values are left out. */
export const hasValues = (chart: Chart) =>
  (chart.kind === 'heatmap' ? chart.values : chart.series.map(({ values }) => values))
    .flat()
    .some((value) => value)
