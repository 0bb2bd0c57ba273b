import type { Chart, Unit } from './chart.ts'
import {
  differenceOf,
  removeBidiControls,
  writeFigure as formatFigure,
} from './formats/format-values.ts'
import type { KpiResult, ReportResult } from './report.ts'
import { fillText, textsFor, type Texts } from '../texts/texts.ts'
import { wordsOf, type Words } from './words.ts'

type Summarized = Pick<ReportResult, 'kpis' | 'comparison' | 'charts' | 'locale'>

type Writing = { words: Texts['reportSummary']; numbers: Words }

const writingIn = (locale: string): Writing => ({
  words: textsFor(locale).reportSummary,
  numbers: wordsOf(locale),
})

/**
 * Three sentences about the figures of a report: its first figure, the best and the worst trend, and the
 * peak of its first chart.
 */
export function writeSummary(result: Summarized): string[] {
  const writing = writingIn(result.locale)
  const [first, ...others] = result.kpis.filter(({ value }) => value !== null)
  if (!first) return [writing.words.nothing]
  return [
    writeHeadline(first, result, writing),
    writeTrends(others, result, writing),
    writePeak(result.charts, writing) ?? writeOther(others, writing),
  ]
    .flatMap((sentence) => sentence ?? [])
    .map(removeBidiControls)
}

function writeHeadline(kpi: KpiResult, { comparison }: Summarized, writing: Writing) {
  const { words } = writing
  const { label, value, valueToDate, previous } = kpi
  const figure = formatFigure(kpi, writing.numbers)
  if (!isCompared(kpi, { comparison })) return fillText(words.figure, { label, figure })
  const delta = differenceOf(valueToDate!, previous!, kpi)
  const values = {
    label,
    figure,
    soFar: writeFigure(valueToDate, kpi, writing),
    delta: writeDelta(delta, kpi, writing),
    previous: writeFigure(previous, kpi, writing),
  }
  const kind = delta > 0 ? 'more' : delta < 0 ? 'less' : 'same'
  return fillText(valueToDate === value ? words.headline[kind] : words.soFar[kind], values)
}

const isCompared = (
  { previous, valueToDate }: KpiResult,
  { comparison }: Pick<Summarized, 'comparison'>,
) => comparison?.isLikeForLike === true && previous !== null && valueToDate !== null

/** The figures with the largest relative improvement and decline. */
function writeTrends(kpis: KpiResult[], { comparison }: Summarized, writing: Writing) {
  const { words } = writing
  if (!comparison) return words.inFuture
  if (!comparison.isLikeForLike) return words.noEarlierPeriod
  const changes = kpis
    .filter((kpi) => kpi.trend !== null && isCompared(kpi, { comparison }))
    .map((kpi) => {
      const delta = kpi.valueToDate! - kpi.previous!
      const size =
        Math.abs(delta) / Math.max(Math.abs(kpi.previous!), Math.abs(kpi.valueToDate!), 1e-9)
      return { kpi, size, isBetter: kpi.trend === 'better' }
    })
    .filter(({ size }) => size > 0)
    .toSorted((a, b) => b.size - a.size)
  const better = changes.find(({ isBetter }) => isBetter)
  const worse = changes.find(({ isBetter }) => !isBetter)
  const sentences = [
    ...(better ? [writeTrend(words.better, better.kpi, writing)] : []),
    ...(worse ? [writeTrend(words.worse, worse.kpi, writing)] : []),
  ]
  return sentences.length > 0 ? sentences.join(' ') : words.unchanged
}

const writeTrend = (text: string, kpi: KpiResult, writing: Writing) =>
  fillText(text, {
    label: kpi.label,
    figure: writeFigure(kpi.valueToDate, kpi, writing),
    previous: writeFigure(kpi.previous, kpi, writing),
  })

/** The peak of the first chart with values; undefined if there is none. */
function writePeak(charts: Chart[], writing: Writing) {
  for (const chart of charts) {
    const sentence = writePeakOf(chart, writing)
    if (sentence) return sentence
  }
  return undefined
}

/** The chart in words, for readers who cannot see it. */
export const describeChart = (chart: Chart, locale: string) =>
  removeBidiControls(writePeakOf(chart, writingIn(locale)) ?? chart.title)

function writePeakOf(chart: Chart, writing: Writing) {
  const peak = peakOf(chart)
  if (!peak || peak.value <= 0) return undefined
  const { unit, currency = null } = chart.kind === 'heatmap' ? { unit: 'count' as const } : chart
  const figure = writeFigure(peak.value, { unit, currency }, writing)
  return fillText(writing.words.peak, {
    title: chart.title,
    label: nameLabel(chart, peak, writing),
    figure,
  })
}

/** A step of time is named in full: on the axis `15` is enough, in a sentence it is not. */
function nameLabel(chart: Chart, { label, i }: Peak, { words, numbers }: Writing) {
  const steps = chart.kind === 'heatmap' ? undefined : chart.steps
  if (!steps) return label
  const date = Temporal.PlainDate.from(steps.dates[i]!)
  // English sentences write the day before the month.
  const locale = numbers.language === 'en' ? 'en-GB' : numbers.locale
  if (steps.step === 'month') return date.toLocaleString(locale, { month: 'long', year: 'numeric' })
  const day = { day: 'numeric', month: 'long' } as const
  return steps.step === 'day'
    ? date.toLocaleString(locale, { weekday: 'long', ...day })
    : fillText(words.week, { day: date.toLocaleString(locale, day) })
}

type Peak = { label: string; value: number; i: number }

function peakOf(chart: Chart): Peak | undefined {
  const points =
    chart.kind === 'heatmap'
      ? chart.rows.flatMap((row, i) =>
          chart.columns.map((column, k) => ({
            label: `${row} ${column}`,
            value: chart.values[i]![k]!,
            i,
          })),
        )
      : chart.labels.map((label, i) => ({
          label,
          i,
          value: (chart.stacked ? chart.series : chart.series.slice(0, 1)).reduce(
            (sum, { values }) => sum + (values[i] ?? 0),
            0,
          ),
        }))
  return points.reduce<(typeof points)[number] | undefined>(
    (best, one) => (!best || one.value > best.value ? one : best),
    undefined,
  )
}

function writeOther(kpis: KpiResult[], writing: Writing) {
  const [kpi] = kpis
  if (!kpi) return undefined
  const figure = writeFigure(kpi.value, kpi, writing)
  return fillText(writing.words.figure, { label: kpi.label, figure })
}

/** A change: in percentage points for a share, else in the unit of the figure. */
const writeDelta = (delta: number, kpi: KpiResult, writing: Writing) =>
  kpi.unit === 'percent'
    ? fillText(writing.words.points, {
        figure: writeFigure(Math.abs(delta), { unit: 'count', currency: null }, writing),
      })
    : writeFigure(Math.abs(delta), kpi, writing)

const writeFigure = (
  value: number | null,
  { unit, currency }: { unit: Unit; currency: string | null },
  { numbers }: Writing,
) => formatFigure({ value, unit, currency }, numbers)
