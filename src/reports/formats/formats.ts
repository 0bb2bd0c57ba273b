import type { ReportFormat } from '../../contract/report.ts'
import { toCsv } from './csv.ts'
import { toHtml } from './html.ts'
import { toJson } from './json.ts'
import { toPdf, type PageSize } from './pdf.ts'
import type { ReportResult } from '../report.ts'
import { toXlsx } from './xlsx.ts'

export const CONTENT_TYPES: Record<ReportFormat, string> = {
  pdf: 'application/pdf',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
}

/** The bytes of a printed report, as they are made. Who gives up between two says so by `signal`. */
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
