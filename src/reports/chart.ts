export type Unit = 'count' | 'percent' | 'money' | 'minutes'

/** A chart as data: draw-chart.ts draws it for page and paper, a workbook and the console themselves. */
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
  /** A line for each row, a value for each column. */
  values: number[][]
}

/** Neighbours differ in lightness, so that they are told apart on a grey printer too. */
export const SERIES_COLORS = ['#2563eb', '#f6ad3c', '#dde4ee', '#172554', '#0d9488', '#f9a8d4']

/** Axes without a mark on them tell nobody anything. */
export const showsSomething = (chart: Chart) =>
  (chart.kind === 'heatmap' ? chart.values : chart.series.map(({ values }) => values))
    .flat()
    .some((value) => value)
