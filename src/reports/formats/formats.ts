import type { ReportFormat } from '../../contract/report.ts'
import { toCsv } from './csv.ts'
import { toHtml } from './html.ts'
import { toPdf, type PageSize } from './pdf.ts'
import type { Column, ReportResult, Totals } from '../report.ts'
import { toXlsx } from './xlsx.ts'

export const CONTENT_TYPES: Record<ReportFormat, string> = {
  pdf: 'application/pdf',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
}

/** Yields the bytes of a report. The signal stops the PDF process between two chunks. */
export function write(
  format: ReportFormat,
  result: ReportResult,
  pageSize: PageSize,
  signal?: AbortSignal,
): AsyncIterable<string | Uint8Array> {
  switch (format) {
    case 'pdf':
      return toPdf(result, pageSize, signal)
    case 'xlsx':
      return toXlsx(result)
    case 'csv':
      return toCsv(result)
    case 'html':
      return toHtml(result)
    case 'json':
      return toJson(result)
  }
}

/** Rows are written as they are read; the totals follow. */
async function* toJson(result: ReportResult): AsyncIterable<string> {
  const { report, parameters, timeZones, filters, groupBy } = result
  const { comparison, sentences, definitions, kpis, charts, drillDown, hasRowFilters } = result
  const notes = [...sentences, ...result.notes]
  const columns = result.columns.map(({ name, label, type }) => ({ name, label, type }))
  const head = JSON.stringify({
    report,
    parameters,
    timeZones,
    filters,
    groupBy,
    comparison,
    notes,
    glossary: definitions,
    kpis,
    charts,
    columns,
    drillDown,
  })

  yield `${head.slice(0, -1)},"rows":[`
  let rowCount = 0
  // One string for each batch, so that a long report fits into memory.
  const rowFilters: string[] = []
  for await (const batch of result.rows) {
    const cells = hasRowFilters ? batch.map((row) => row.slice(0, -1)) : batch
    if (hasRowFilters && drillDown && batch.length > 0) {
      rowFilters.push(JSON.stringify(batch.map((row) => row.at(-1))).slice(1, -1))
    }
    const rows = cells.map((row) => JSON.stringify(row)).join(',\n')
    yield rowCount === 0 ? `\n${rows}` : `,\n${rows}`
    rowCount += batch.length
  }
  yield `\n],"rowFilters":[`
  for (const [i, filters] of rowFilters.entries()) yield i === 0 ? filters : `,${filters}`
  yield `],"totals":${JSON.stringify(byCurrency(result.columns, result.totals()))},"rowCount":${rowCount}}\n`
}

type JsonTotals = Record<string, number | null | Record<string, number | null>>

/** Totals of money in several currencies are under the currency: `{ minutes, CHF: { price } }`. */
function byCurrency(columns: Column[], totals: Totals): JsonTotals {
  const nested: JsonTotals = {}
  const add = (currency: string, name: string, amount: number | null) => {
    const amounts = nested[currency]
    nested[currency] = { ...(typeof amounts === 'object' ? amounts : {}), [name]: amount }
  }
  for (const [name, total] of Object.entries(totals)) {
    const { partOf, currency } = columns.find((column) => column.name === name)!
    if (typeof total === 'object' && total) {
      for (const [one, amount] of Object.entries(total)) add(one, name, amount)
    } else if (partOf && currency) add(currency, partOf, total)
    else nested[name] = total
  }
  return nested
}
