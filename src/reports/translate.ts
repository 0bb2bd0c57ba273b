import type { Chart, SeriesChart } from './chart.ts'
import type { Column, ReportResult } from './report.ts'
import { wordsOf, type Words } from './words.ts'

/** Translates the fixed words of a report. Names are data; notes and sentences are translated already. */
export function translateResult(result: ReportResult): ReportResult {
  const words = wordsOf(result.locale)
  if (words.language === 'en') return result
  const { say } = words
  const { report, comparison } = result
  return {
    ...result,
    report: {
      ...report,
      reportName: say(report.reportName),
      description: say(report.description),
    },
    definitions: result.definitions.map(([label, definition]) => [say(label), say(definition)]),
    comparison,
    kpis: result.kpis.map((kpi) => ({
      ...kpi,
      label: translateLabel(kpi.label, words),
      definition: say(kpi.definition),
    })),
    charts: result.charts.map((chart) => translateChart(chart, words)),
    columns: result.columns.map((column): Column => ({
      ...column,
      label: translateLabel(column.label, words),
      ...(column.labelInHours ? { labelInHours: say(column.labelInHours) } : {}),
    })),
  }
}

/** A label can end with its currency: `Revenue (CHF)`. */
function translateLabel(label: string, { say }: Words) {
  const [, text = label, currency = ''] = /^(.*?)( \([A-Z]{3}\))$/.exec(label) ?? []
  return say(text) + currency
}

/** A title can end with its step: `Appointments by day`. */
function translateTitle(title: string, words: Words) {
  const [, text, step, currency = ''] =
    /^(.*?),? (by (?:day|week|month))( \([A-Z]{3}\))?$/.exec(title) ?? []
  if (text === undefined) return translateLabel(title, words)
  return `${words.say(text)} ${words.say(step!)}${currency}`
}

function translateChartLabel(label: string, { fixedWords }: SeriesChart, words: Words) {
  if (fixedWords === 'status') return label.split(ARROW).map(words.sayStatus).join(ARROW)
  return fixedWords ? words.say(label) : label
}

const ARROW = ' → '

function translateChart(chart: Chart, words: Words): Chart {
  const title = translateTitle(chart.title, words)
  if (chart.kind === 'heatmap')
    return { ...chart, title, rows: chart.rows.map((row) => words.say(row)) }
  return {
    ...chart,
    title,
    labels: chart.labels.map((label) => translateChartLabel(label, chart, words)),
    series: chart.series.map((series) => ({ ...series, name: words.say(series.name) })),
  }
}
