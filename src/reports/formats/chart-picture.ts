import { hasValues, shownSeries, type Chart, type SeriesChart } from '../chart.ts'
import { describeChart } from '../summary.ts'
import { wordsOf } from '../words.ts'
import { withWrittenDates } from './draw-chart.ts'
import { removeBidiControls } from './format-values.ts'
import { colorOfHex, Pixels } from './png.ts'

/** A chart for a mail. Mail programs show no SVG, so it is a PNG without letters: those are in the mail. */
export type ChartPicture = {
  png: Buffer
  /** The size at which it is shown; the picture has twice as many pixels. */
  width: number
  height: number
  title: string
  /** The chart in words. */
  alt: string
  /** The labels below its left and right end. */
  first: string
  last: string
  /** Empty if there is only one series. */
  legend: { name: string; color: string }[]
}

const WIDTH = 520
const HEIGHT = 130
const SCALE = 2
const GRID = colorOfHex('#eeece4')
const AXIS = colorOfHex('#c9c7bd')

/** The first chart whose bars need no names; undefined if there is none. */
export function drawPicture(charts: Chart[], locale: string): ChartPicture | undefined {
  const chart = charts.find(
    (one): one is SeriesChart => one.kind !== 'heatmap' && !one.named && hasValues(one),
  )
  if (!chart) return undefined
  const series = shownSeries(chart)
  const { labels } = nameEnds(chart, locale)
  return {
    png: draw(chart),
    width: WIDTH,
    height: HEIGHT,
    title: removeBidiControls(chart.title),
    alt: describeChart(chart, locale),
    first: labels[0] ?? '',
    last: labels.length > 1 ? labels.at(-1)! : '',
    legend:
      series.length > 1
        ? series.map(({ name, color, outline }) => ({
            name: removeBidiControls(name),
            color: outline ?? color,
          }))
        : [],
  }
}

/** On the axis of a report `15` is enough; below a picture the day needs its month. */
function nameEnds(chart: SeriesChart, locale: string) {
  if (!chart.steps) return withWrittenDates(chart, locale) as SeriesChart
  const { language, locale: own } = wordsOf(locale)
  const write = (date: string) =>
    Temporal.PlainDate.from(date).toLocaleString(language === 'en' ? 'en-GB' : own, {
      ...(chart.steps!.step === 'month' ? { year: 'numeric' } : { day: 'numeric' }),
      month: 'short',
    })
  return { ...chart, labels: chart.steps.dates.map(write) }
}

function draw(chart: SeriesChart) {
  const pixels = new Pixels(WIDTH * SCALE, HEIGHT * SCALE)
  const bottom = pixels.height - SCALE
  for (const part of [0, 0.25, 0.5, 0.75]) {
    const y = Math.round(bottom * part)
    pixels.fillRect(0, y, pixels.width, y + SCALE, GRID)
  }
  const series = shownSeries(chart)
  const totals = chart.labels.map((_, i) => sum(series.map(({ values }) => values[i] ?? 0)))
  const highest = chart.stacked
    ? Math.max(...totals)
    : Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const heightOf = (value: number) => (Math.max(0, value) / highest) * (bottom - 4 * SCALE)
  if (chart.kind === 'bar') drawBars(pixels, chart, heightOf, bottom)
  else drawLines(pixels, chart, heightOf, bottom)
  pixels.fillRect(0, bottom, pixels.width, bottom + SCALE, AXIS)
  return pixels.toPng()
}

type HeightOf = (value: number) => number

function drawBars(pixels: Pixels, chart: SeriesChart, heightOf: HeightOf, bottom: number) {
  const series = shownSeries(chart)
  const band = pixels.width / chart.labels.length
  const perBand = chart.stacked ? 1 : series.length
  const thick = Math.max(1, Math.min(52, (band * 0.7) / perBand))
  chart.labels.forEach((_, i) => {
    const left = band * (i + 0.5) - (thick * perBand) / 2
    let below = 0
    series.forEach(({ values, color, outline }, s) => {
      const height = heightOf(values[i] ?? 0)
      if (height <= 0) return
      const x = chart.stacked ? left : left + s * thick
      const base = bottom - below
      if (chart.stacked) below += height
      pixels.fillRect(x, base - height, x + thick, base, colorOfHex(outline ?? color))
      if (!outline) return
      const edge = SCALE
      pixels.fillRect(
        x + edge,
        base - height + edge,
        x + thick - edge,
        base - edge,
        colorOfHex(color),
      )
    })
  })
}

function drawLines(pixels: Pixels, chart: SeriesChart, heightOf: HeightOf, bottom: number) {
  const inset = 4 * SCALE
  const count = chart.labels.length
  const xOf = (i: number) =>
    count === 1 ? pixels.width / 2 : inset + (i * (pixels.width - 2 * inset)) / (count - 1)
  for (const { values, color, outline } of shownSeries(chart)) {
    const points = values.flatMap((value, i) =>
      value === null ? [] : [[xOf(i), bottom - heightOf(value)] as const],
    )
    points.forEach((point, i) => {
      pixels.drawLine(points[Math.max(0, i - 1)]!, point, 2 * SCALE, colorOfHex(outline ?? color))
    })
  }
}

const sum = (values: number[]) => values.reduce((whole, value) => whole + Math.max(0, value), 0)
