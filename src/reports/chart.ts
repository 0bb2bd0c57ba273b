export type Unit = 'count' | 'percent' | 'money' | 'minutes'

/** A chart as data. draw-chart.ts draws it for HTML and PDF; Excel and the console draw it themselves. */
export type Chart = SeriesChart | Heatmap

export type SeriesChart = {
  kind: 'bar' | 'line'
  name: string
  title: string
  labels: string[]
  series: { name: string; values: (number | null)[] }[]
  stacked?: boolean
  unit: Unit
}

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
export const SERIES_COLORS = ['#2563eb', '#f6ad3c', '#dde4ee', '#172554', '#0d9488', '#f9a8d4']

/** Charts without values are left out. */
export const hasValues = (chart: Chart) =>
  (chart.kind === 'heatmap' ? chart.values : chart.series.map(({ values }) => values))
    .flat()
    .some((value) => value)
