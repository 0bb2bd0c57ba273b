import { localTime, looksLikeFormula } from './format-values.ts'
import type { Cell, Column, ReportResult } from '../report.ts'

/**
 * RFC 4180: one line of labels, then the rows. Without a byte order mark Excel reads UTF-8 as Latin-1.
 * There are no totals: programs would read them as a row.
 */
export async function* toCsv({ columns, rows, parameters }: ReportResult): AsyncIterable<string> {
  const writers = columns.map((column) => fieldWriter(column, parameters.timeZone))

  yield `\u{FEFF}${columns.map(({ label }) => writeText(label)).join(',')}\r\n`
  for await (const batch of rows) {
    let lines = ''
    for (const row of batch) {
      for (let i = 0; i < writers.length; i++) {
        lines += i === 0 ? writers[i]!(row[i]!) : `,${writers[i]!(row[i]!)}`
      }
      lines += '\r\n'
    }
    yield lines
  }
}

function fieldWriter({ type }: Column, timeZone: string): (cell: Cell) => string {
  if (type === 'dateTime') {
    const local = localTime(timeZone)
    return (cell) => (cell === null ? '' : local(Number(cell)))
  }
  if (type === 'text') return (cell) => (cell === null ? '' : writeText(String(cell)))
  return (cell) => (cell === null ? '' : String(cell))
}

const NEEDS_QUOTES = /[",\r\n]/

/** With an apostrophe in front, spreadsheets treat it as text. */
function writeText(text: string) {
  const harmless = looksLikeFormula(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
