import { countDecimals } from '../../contract/currency-digits.ts'
import { legibleOn } from '../../email/colors.ts'
import { shownSeries, type Chart, type Heatmap, type SeriesChart } from '../chart.ts'
import { describeChart } from '../summary.ts'
import { wordsOf } from '../words.ts'
import { isShortDate } from '../write-date.ts'

type Size = { width: number; height: number }

/**
 * A chart as SVG, for HTML and PDF. A chart library takes longer to load than a report to print, and the
 * same chart must give the same bytes.
 */
export function drawChart(given: Chart, { width, height }: Size, locale = 'en') {
  const chart = withWrittenDates(given, locale)
  const write = numberWriter(chart, locale)
  const shapes =
    chart.kind === 'heatmap'
      ? heatmap(chart, { width, height }, write)
      : isHorizontal(chart)
        ? horizontalBars(shownOf(chart), { width, height }, write)
        : series(shownOf(chart), { width, height }, write)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="${SIZE}" role="img" aria-label="${escape(describeChart(chart, locale))}">${shapes.join('')}</svg>`
}

/** Labels that are not names can be dates. */
export const withWrittenDates = (chart: Chart, locale: string): Chart =>
  chart.kind === 'heatmap' || chart.named
    ? chart
    : { ...chart, labels: chart.labels.map(wordsOf(locale).writeDate) }

/** The available width, in units of which the font size is 10. */
type Room = 'page' | 'landscape' | 'phone'
const ROOM_WIDTHS: Record<Room, number> = { page: 740, landscape: 1_110, phone: 300 }

type Drawing = {
  room?: Room
  locale?: string
  /** Below 1: the charts are lower, so that the report fits its page. */
  flatness?: number
}

/** Charts share a row. A single chart, a heat map and all charts on a phone have the full width. */
export function drawCharts(
  charts: Chart[],
  { room = 'page', locale = 'en', flatness = 1 }: Drawing = {},
): string[] {
  const perRow = room === 'phone' ? 1 : chartsPerRow(charts)
  const width = Math.floor((ROOM_WIDTHS[room] - (perRow - 1) * 20) / perRow)
  return charts.map((given) => {
    const chart = withHorizontalBars(given, width)
    const height =
      chart.kind === 'heatmap'
        ? 230
        : isHorizontal(chart)
          ? horizontalHeight(chart, width, flatness)
          : 150
    const flat =
      chart.kind !== 'heatmap' && isHorizontal(chart) ? height : Math.round(height * flatness)
    return drawChart(chart, { width, height: flat }, locale)
  })
}

/** How many charts share a row of the page. */
export const chartsPerRow = (charts: Chart[]) =>
  charts.some(({ kind }) => kind === 'heatmap') ? 1 : Math.min(3, Math.max(1, charts.length))

/** Bars whose names do not fit below them are drawn horizontally, so that no name is cut. */
function withHorizontalBars(chart: Chart, width: number): Chart {
  if (chart.kind !== 'bar' || chart.labels.length > MAX_NAMES || areSteps(chart.labels))
    return chart
  const band = (width - SCALE_WIDTH) / chart.labels.length
  const isTight = chart.labels.some((name) => textWidth(name) > band - 4)
  return isTight ? { ...chart, named: true } : chart
}

/** About the width of the numbers to the left of vertical bars. */
const SCALE_WIDTH = 40

/** Days, weeks or months: some of them may be left out. */
const areSteps = (labels: string[]) => labels.every(isShortDate)

const isHorizontal = (chart: SeriesChart) => chart.kind === 'bar' && chart.named === true

const LINE_HEIGHT = 17
const MIN_LINE_HEIGHT = 12.5

const horizontalHeight = (chart: SeriesChart, width: number, flatness: number) => {
  const line = Math.max(MIN_LINE_HEIGHT, LINE_HEIGHT * flatness) + nameHeight(chart, width)
  return Math.max(60, chart.labels.length * line + 12 + legendHeight(shownOf(chart), width))
}

/** Names are left of their bars, in at most this share of the width; longer ones are above. */
const MAX_NAME_SHARE = 0.42
const NAME_HEIGHT = 13

const widestName = ({ labels }: Pick<SeriesChart, 'labels'>) =>
  Math.max(0, ...labels.map(textWidth)) + 8

/** The height of the line for each name above its bar; 0 if the names are left of the bars. */
const nameHeight = (chart: Pick<SeriesChart, 'labels'>, width: number) =>
  widestName(chart) > width * MAX_NAME_SHARE ? NAME_HEIGHT : 0

type Shown = Omit<SeriesChart, 'series'> & { series: ReturnType<typeof shownSeries> }
type Write = (value: number) => string

/** Removes series without values, so that the legend does not name them. */
const shownOf = (chart: SeriesChart): Shown => ({ ...chart, series: shownSeries(chart) })

const legendHeight = (chart: Shown, width: number) =>
  chart.series.length > 1 ? 4 + 15 * legendLines(chart, width).length : 0

/** Bars from left to right, one line for each name, with its value. */
function horizontalBars(chart: Shown, { width, height }: Size, write: Write): string[] {
  const above = nameHeight(chart, width)
  const left = above > 0 ? 2 : widestName(chart)
  const totals = chart.labels.map((_, i) =>
    chart.series.reduce((sum, { values }) => sum + Math.max(0, values[i] ?? 0), 0),
  )
  const highest = Math.max(
    // These bars have no axis: one that fills the chart must be the whole.
    chart.unit === 'percent' ? 100 : 0,
    ...(chart.stacked
      ? totals
      : chart.series.flatMap(({ values }) => values.map((value) => value ?? 0))),
  )
  const right = width - 8 - Math.max(...totals.map((total) => textWidth(write(total))))
  const scale = (right - left) / (highest || 1)
  const top = legendHeight(chart, width) + 4
  const line = Math.min(LINE_HEIGHT, (height - top - 4) / chart.labels.length - above)
  return [
    ...chart.labels.flatMap((name, i) => {
      const y = top + i * (line + above) + above
      const { shapes, end } = horizontalRow(chart, i, { left, y, scale, line })
      const hasValue = chart.series.some(({ values }) => (values[i] ?? null) !== null)
      const isOne = chart.stacked || chart.series.length === 1
      const value = hasValue && isOne ? totals[i]! : undefined
      return [
        above > 0
          ? label(shorten(name, width - 4), left, y - 1.5, 'start')
          : label(name, left - 6, y + line / 2 + 2.5, 'end'),
        ...shapes,
        ...(value === undefined
          ? []
          : [label(write(round(value)), end + 5, y + line / 2 + 2.5, 'start')]),
      ]
    }),
    ...(chart.series.length > 1 ? legend(chart, width) : []),
  ]
}

type ChartRow = { left: number; y: number; scale: number; line: number }

function horizontalRow(chart: Shown, i: number, { left, y, scale, line }: ChartRow) {
  const whole = Math.min(11, line - 2)
  const thick = chart.stacked ? whole : whole / chart.series.length
  let end = left
  const shapes = chart.series.map(({ values, color, outline }, s) => {
    const length = Math.max(0, values[i] ?? 0) * scale
    const x = chart.stacked ? end : left
    end = chart.stacked ? end + length : Math.max(end, left + length)
    if (length === 0) return ''
    const at = {
      x,
      y: y + (line - whole) / 2 - 1 + (chart.stacked ? 0 : s * thick),
      width: length,
      height: thick,
    }
    return box(at, color, outline)
  })
  return { shapes, end }
}

type Place = Record<'x' | 'y' | 'width' | 'height', number>

const box = ({ x, y, width, height }: Place, fill: string, outline: string | undefined) =>
  outline
    ? `<rect x="${round(x + 0.5)}" y="${round(y + 0.5)}" width="${round(Math.max(0.5, width - 1))}" height="${round(Math.max(0.5, height - 1))}" fill="${fill}" stroke="${outline}"/>`
    : `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="1" fill="${fill}"/>`

const FONT = 'Noto Sans, system-ui, -apple-system, Segoe UI, Roboto, Arial, sans-serif'
const SIZE = 10
const INK = '#52615a'
const GRID = '#eeece4'
const AXIS = '#c9c7bd'

type Frame = { left: number; right: number; top: number; bottom: number }

function series(chart: Shown, { width, height }: Size, write: Write): string[] {
  const ticks = ticksFor(chart)
  const max = ticks.at(-1)!
  const several = chart.series.length > 1
  const frame: Frame = {
    left: 8 + Math.max(...ticks.map((tick) => textWidth(write(tick)))),
    right: width - 2,
    top: 8 + legendHeight(chart, width),
    bottom: height - 20,
  }
  const y = (value: number) => round(frame.bottom - (value / max) * (frame.bottom - frame.top))
  const marks = chart.kind === 'bar' ? bars(chart, frame, y) : lines(chart, frame, y)
  return [
    ...(chart.kind === 'line' && !several ? area(chart, frame, y) : []),
    ...ticks.map((tick) => horizontal(frame, y(tick), tick === 0 ? AXIS : GRID)),
    ...ticks.map((tick) => label(write(tick), frame.left - 6, y(tick) + 3.5, 'end')),
    ...marks,
    ...names(chart, frame),
    ...(several ? legend(chart, width) : []),
  ]
}

/** From 0 to above the highest value, in steps of 1, 2 or 5 times a power of ten. */
function ticksFor({ series, stacked, unit, labels }: Shown): number[] {
  const highest = stacked
    ? Math.max(
        0,
        ...labels.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0)),
      )
    : Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const rough = highest / 5
  const tens = 10 ** Math.floor(Math.log10(rough || 1))
  const step = [1, 2, 5, 10].map((n) => n * tens).find((n) => n >= rough) ?? 1
  const whole = unit === 'count' ? Math.max(1, Math.ceil(step)) : step
  const count = Math.max(1, Math.ceil(highest / whole))
  return Array.from({ length: count + 1 }, (_, i) => round(i * whole))
}

function bars(chart: Shown, frame: Frame, y: (value: number) => number): string[] {
  const band = (frame.right - frame.left) / chart.labels.length
  const barsPerBand = chart.stacked ? 1 : chart.series.length
  const thick = Math.min(26, (band * 0.66) / barsPerBand)
  return chart.labels.flatMap((_, i) => {
    const left = frame.left + band * (i + 0.5) - (thick * barsPerBand) / 2
    const top = chart.series.findLastIndex(({ values }) => (values[i] ?? 0) > 0)
    let below = 0
    return chart.series.map(({ values }, s) => {
      const value = values[i] ?? 0
      if (value <= 0) return ''
      const x = chart.stacked ? left : left + s * thick
      const from = chart.stacked ? below : 0
      below += value
      const isTop = !chart.stacked || s === top
      return bar({
        x: round(x),
        top: y(from + value),
        width: round(thick),
        bottom: y(from),
        isTop,
        fill: chart.series[s]!.color,
        outline: chart.series[s]!.outline,
      })
    })
  })
}

type Bar = {
  x: number
  top: number
  width: number
  bottom: number
  isTop: boolean
  fill: string
  outline: string | undefined
}

function bar({ x, top, width, bottom, isTop, fill, outline }: Bar) {
  if (outline) return box({ x, y: top, width, height: bottom - top }, fill, outline)
  const r = isTop ? Math.min(2, bottom - top, width / 2) : 0
  return `<path d="M${x} ${bottom}V${round(top + r)}Q${x} ${top} ${round(x + r)} ${top}H${round(x + width - r)}Q${round(x + width)} ${top} ${round(x + width)} ${round(top + r)}V${bottom}Z" fill="${fill}"/>`
}

function points({ values }: Shown['series'][number], frame: Frame, y: (value: number) => number) {
  return values.flatMap((value, i) =>
    value === null ? [] : [[round(onLine(frame, i, values.length)), y(value)] as const],
  )
}

/** From edge to edge; a single point is in the middle. */
function onLine({ left, right }: Frame, i: number, count: number) {
  const inset = 4
  return count === 1
    ? (left + right) / 2
    : left + inset + (i * (right - left - 2 * inset)) / (count - 1)
}

function lines(chart: Shown, frame: Frame, y: (value: number) => number): string[] {
  return chart.series.map((one) => {
    const at = points(one, frame, y)
    if (at.length === 1)
      return `<circle cx="${at[0]![0]}" cy="${at[0]![1]}" r="3" fill="${one.outline ?? one.color}"/>`
    const path = at.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join('')
    return `<path d="${path}" fill="none" stroke="${one.outline ?? one.color}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/>`
  })
}

function area(chart: Shown, frame: Frame, y: (value: number) => number): string[] {
  const at = points(chart.series[0]!, frame, y)
  if (at.length < 2) return []
  const path = at.map(([x, y]) => `L${x} ${y}`).join('')
  return [`<path d="M${at[0]![0]} ${y(0)}${path}L${at.at(-1)![0]} ${y(0)}Z" fill="#e6f0ea"/>`]
}

/** Up to this many names are all shown, shortened if necessary. */
const MAX_NAMES = 12

function names({ kind, labels }: Shown, frame: Frame): string[] {
  const band = (frame.right - frame.left) / labels.length
  const widest = Math.max(0, ...labels.map(textWidth))
  const every =
    labels.length <= MAX_NAMES && !areSteps(labels)
      ? 1
      : Math.max(1, Math.ceil((widest + 6) / band))
  return labels.flatMap((name, i) => {
    if (i % every !== 0) return []
    const x = kind === 'bar' ? frame.left + band * (i + 0.5) : onLine(frame, i, labels.length)
    const shown = areSteps(labels) ? name : shorten(name, every * band - 4)
    // The last one must not be cut at the edge.
    const isAtEdge = i > 0 && x + textWidth(shown) / 2 > frame.right
    if (isAtEdge && frame.right - textWidth(shown) < x - every * band + textWidth(shown) / 2)
      return []
    const anchor = isAtEdge ? 'end' : 'middle'
    return [label(shown, anchor === 'end' ? frame.right : x, frame.bottom + 15, anchor)]
  })
}

function shorten(text: string, width: number) {
  if (textWidth(text) <= width) return text
  const letters = [...text]
  while (letters.length > 1 && textWidth(`${letters.join('')}…`) > width) letters.pop()
  return `${letters.join('')}…`
}

const MARK_WIDTH = 13
const LEGEND_GAP = 12

/** The series of each line of the legend: as many as fit. */
function legendLines({ series }: Shown, width: number) {
  const lines: Shown['series'][] = [[]]
  let x = 0
  for (const one of series) {
    const wide = MARK_WIDTH + textWidth(one.name)
    if (x > 0 && x + wide > width) {
      lines.push([])
      x = 0
    }
    lines.at(-1)!.push(one)
    x += wide + LEGEND_GAP
  }
  return lines
}

function legend(chart: Shown, width: number): string[] {
  return legendLines(chart, width).flatMap((line, i) => {
    let x = 2
    return line.map(({ name, color, outline }) => {
      const mark = box({ x, y: 3 + 15 * i, width: 9, height: 9 }, color, outline)
      const written = label(name, x + MARK_WIDTH, 11 + 15 * i, 'start')
      x += MARK_WIDTH + textWidth(name) + LEGEND_GAP
      return mark + written
    })
  })
}

function heatmap(chart: Heatmap, { width, height }: Size, write: Write): string[] {
  const max = Math.max(0.1, ...chart.values.flat())
  const left = 8 + Math.max(...chart.rows.map(textWidth))
  const bottom = height - 20
  const across = (width - 2 - left) / chart.columns.length
  const down = (bottom - 4) / chart.rows.length
  const every = Math.max(1, Math.ceil((Math.max(...chart.columns.map(textWidth)) + 6) / across))
  const cells = chart.values.flatMap((line, row) =>
    line.map((value, column) => {
      const [x, y] = [left + column * across, 4 + row * down]
      const fill = shade(value / max)
      const box = `<rect x="${round(x + 1)}" y="${round(y + 1)}" width="${round(across - 2)}" height="${round(down - 2)}" rx="3" fill="${fill}"/>`
      const color = legibleOn(fill)
      return value === 0
        ? box
        : box + label(write(value), x + across / 2, y + down / 2 + 3.5, 'middle', color)
    }),
  )
  return [
    ...cells,
    ...chart.rows.map((name, row) => label(name, left - 6, 4 + (row + 0.5) * down + 3.5, 'end')),
    ...chart.columns.map((name, i) =>
      i % every === 0 ? label(name, left + (i + 0.5) * across, bottom + 15, 'middle') : '',
    ),
  ]
}

/** One hue from light to dark, so that the order is visible without colour. */
const SHADES = [
  [243, 242, 236],
  [207, 226, 217],
  [127, 173, 156],
  [60, 119, 101],
  [27, 62, 51],
]

function shade(share: number) {
  const at = Math.min(share, 1) * (SHADES.length - 1)
  const from = SHADES[Math.floor(at)]!
  const to = SHADES[Math.ceil(at)]!
  const mixed = from.map((part, i) => Math.round(part + (to[i]! - part) * (at % 1)))
  return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

const horizontal = ({ left, right }: Frame, y: number, color: string) =>
  `<path d="M${round(left)} ${y}H${right}" stroke="${color}" stroke-width="1"/>`

function label(text: string, x: number, y: number, anchor: string, color = INK) {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${color}">${escape(text)}</text>`
}

/** A generous estimate: a browser may use a wider font than ours. */
function textWidth(text: string) {
  let ems = 0
  for (const letter of text) ems += emsOf(letter)
  return ems * SIZE
}

function emsOf(letter: string) {
  if (letter > '\u2e7f') return 1
  if (/[ .,:ilIjtfr'-]/.test(letter)) return 0.36
  return /[mwMW@]/.test(letter) ? 0.96 : 0.65
}

function numberWriter(chart: Chart, locale: string): Write {
  const currency = chart.kind === 'heatmap' ? null : (chart.currency ?? null)
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: countDecimals(currency) })
  return (value) => format.format(value)
}
const round = (value: number) => Math.round(value * 100) / 100

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escape = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]!).replace(NOT_IN_XML, '')

// oxlint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/g
