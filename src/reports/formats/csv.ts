import { localTime } from './for-people.ts'
import { beginsLikeAFormula } from './formulas.ts'
import type { Cell, Column, ReportResult } from '../report.ts'

/**
 * RFC 4180: one line of labels, then the rows. A byte order mark, or Excel reads UTF-8 as Latin-1.
 * Totals would be one more row to every program that reads the file, so they are left to the reader.
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

/** Behind an apostrophe it is a text. */
function writeText(text: string) {
  const harmless = beginsLikeAFormula(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
