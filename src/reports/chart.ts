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
}

export type Series = { name: string; values: (number | null)[]; tone?: Tone }

/** What a series means, so that it has one colour in all reports. */
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

/** Neighbours differ in lightness, so that they can be distinguished in black and white. */
const SERIES_COLORS = ['#2563eb', '#f6ad3c', '#dde4ee', '#172554', '#0d9488', '#f9a8d4']

/** One colour for each meaning, in all reports. */
const TONE_COLORS: Record<Tone, string> = {
  kept: '#2f5d50',
  missed: '#a83a2a',
  cancelled: '#9aa3a0',
  unclosed: '#c8963e',
  ahead: '#b7d6c8',
}

/** The colour of a series: by its meaning, else by its place. */
export const colorOf = ({ tone }: Series, i: number) =>
  tone ? TONE_COLORS[tone] : SERIES_COLORS[i % SERIES_COLORS.length]!

/** Charts without values are left out. */
export const hasValues = (chart: Chart) =>
  (chart.kind === 'heatmap' ? chart.values : chart.series.map(({ values }) => values))
    .flat()
    .some((value) => value)
