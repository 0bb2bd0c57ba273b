import type { EChartsCoreOption } from 'echarts/core'
import type { Unit } from './report.ts'

/** A chart as data: HTML, PDF and the console draw it with ECharts, a workbook with its own. */
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
export const SERIES_COLORS = ['#2563eb', '#f6ad3c', '#cbd5e1', '#172554', '#0d9488', '#f9a8d4']

const INK = '#334155'
const GRID = '#e5e7eb'
const FONT = 'Noto Sans, system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif'

export function chartOption(chart: Chart): EChartsCoreOption {
  return chart.kind === 'heatmap' ? heatmapOption(chart) : seriesOption(chart)
}

/** So few are all named, if need be shortened: they are people, not days. */
const FEW_LABELS = 12

function seriesOption(chart: SeriesChart): EChartsCoreOption {
  const several = chart.series.length > 1
  return {
    ...shared(chart.title),
    legend: {
      show: several,
      right: 0,
      top: 0,
      itemWidth: 10,
      itemHeight: 10,
      itemGap: 12,
      icon: 'roundRect',
      textStyle: { color: INK, fontSize: 10 },
    },
    xAxis: {
      type: 'category',
      data: chart.labels,
      boundaryGap: chart.kind === 'bar',
      axisTick: { show: false },
      axisLine: { lineStyle: { color: '#cbd5e1' } },
      axisLabel: {
        color: INK,
        fontSize: 10,
        ...(chart.labels.length <= FEW_LABELS
          ? { interval: 0, width: 640 / chart.labels.length, overflow: 'truncate' }
          : { hideOverlap: true }),
      },
    },
    yAxis: {
      type: 'value',
      minInterval: chart.unit === 'count' ? 1 : 0,
      splitNumber: 5,
      ...(chart.unit === 'percent' ? { min: 0, max: 100 } : {}),
      axisLabel: { color: INK, fontSize: 10 },
      splitLine: { lineStyle: { color: GRID } },
    },
    series: chart.series.map(({ name, values }, i) => ({
      name,
      type: chart.kind,
      data: values,
      ...(chart.stacked ? { stack: 'all' } : {}),
      itemStyle: {
        color: SERIES_COLORS[i % SERIES_COLORS.length],
        ...(chart.kind === 'bar' && i === chart.series.length - 1
          ? { borderRadius: [2, 2, 0, 0] }
          : {}),
      },
      ...(chart.kind === 'bar'
        ? { barMaxWidth: 26, barCategoryGap: '35%' }
        : { showSymbol: chart.labels.length === 1, lineStyle: { width: 2 }, smooth: 0.15 }),
      ...(chart.kind === 'line' && !several ? { areaStyle: { color: '#e4ecfd', opacity: 1 } } : {}),
    })),
  }
}

function heatmapOption(chart: Heatmap): EChartsCoreOption {
  const most = Math.max(1, ...chart.values.flat())
  const axis = { type: 'category', axisTick: { show: false }, axisLine: { show: false } }
  const label = { color: INK, fontSize: 10 }
  return {
    ...shared(chart.title),
    xAxis: { ...axis, data: chart.columns, axisLabel: { ...label, hideOverlap: true } },
    yAxis: { ...axis, data: chart.rows, inverse: true, axisLabel: label },
    visualMap: {
      show: false,
      min: 0,
      max: most,
      // One hue from light to dark: the order survives without colour.
      inRange: { color: ['#f1f5f9', '#bfd3fb', '#6c9af5', '#2563eb', '#172f7a'] },
    },
    series: [
      {
        type: 'heatmap',
        data: chart.values.flatMap((line, y) =>
          line.map((value, x) => ({
            value: [x, y, value],
            label: { color: value > most * 0.45 ? '#ffffff' : INK },
          })),
        ),
        label: { show: true, fontSize: 9, formatter: hideZero },
        itemStyle: { borderColor: '#ffffff', borderWidth: 2, borderRadius: 3 },
      },
    ],
  }
}

const hideZero = ({ value }: { value: number[] }) => (value[2] ? String(value[2]) : '')

const shared = (title: string) => ({
  animation: false,
  textStyle: { fontFamily: FONT },
  title: {
    text: title,
    left: 0,
    top: 0,
    textStyle: { fontSize: 12, fontWeight: 600, color: '#0f172a', fontFamily: FONT },
  },
  grid: {
    left: 0,
    right: 4,
    top: 34,
    bottom: 0,
    outerBoundsMode: 'same',
    outerBoundsContain: 'axisLabel',
  },
})
