import { WINDOW } from '../scheduling/import.ts'

/** A row of a file with the number of its first line, or why it cannot be read. */
export type FileRow = { number: number; cells: string[] } | { number: number; fault: string }

/** Titles may come before the header, so the delimiter is chosen by this many lines. */
const DELIMITER_LINES = 10
/** A cell may contain line breaks, but a quote that stays open this long is a mistake. */
const MAX_LINES = 100
/** The length of a row with all its lines. */
export const MAX_LENGTH = 1_048_576

export const TOO_LONG = 'is longer than 1 MiB'
const NOT_DECODED = 'has characters that cannot be read: save the file as "CSV UTF-8"'
const NOT_CLOSED =
  'a quote is opened and not closed: close it, or write it twice if it is part of the text'

/**
 * The rows of a CSV file, at most a window of them at once. A faulty row ends with its line, and reading
 * continues with the next one; a library would read the rest of the file as one cell after a wrong quote.
 */
export async function* readCsvRecords(pieces: AsyncIterable<string>): AsyncIterable<FileRow[]> {
  const reader = new RowReader()
  let rest = ''
  let lineEnd: '\n' | '\r' | undefined
  for await (const piece of pieces) {
    // Excel for the Mac can end lines with a carriage return alone.
    lineEnd ??= !piece.includes('\n') && /\r./.test(piece) ? '\r' : '\n'
    const lines = piece.split(lineEnd)
    const end = lines.pop()!
    for (const line of lines) {
      reader.add(rest + line)
      rest = ''
      if (reader.records.length >= WINDOW) yield reader.takeRecords()
    }
    // Long enough to be refused as too long, even without a trailing carriage return.
    if (rest.length <= MAX_LENGTH + 1) rest += end
    if (reader.records.length > 0) yield reader.takeRecords()
  }
  if (rest !== '') reader.add(rest)
  reader.end()
  if (reader.records.length > 0) yield reader.takeRecords()
}

type Numbered = { number: number; text: string }

/** Where a line ends: between two rows, within quotes, or nowhere because of a fault. */
type LineEnd = 'complete' | 'quoted' | { fault: string }

/** Combines lines to rows. Scans each line at most twice: as a first line, and within quotes. */
class RowReader {
  records: FileRow[] = []
  #delimiter = ''
  /** The lines before the delimiter is known. */
  #first: Numbered[] = []
  #number = 0
  /** The lines of a row whose quote is open. The first one opened it, the others are within it. */
  #open: Numbered[] = []
  #openLength = 0

  takeRecords() {
    const { records } = this
    this.records = []
    return records
  }

  add(given: string) {
    this.#number += 1
    const text = given.endsWith('\r') ? given.slice(0, -1) : given
    const told = this.#number === 1 ? /^sep=(.)$/i.exec(text) : null
    if (told) {
      this.#delimiter = told[1]!
      return
    }
    const line = { number: this.#number, text }
    if (this.#delimiter !== '') return this.#addLine(line)
    this.#first.push(line)
    if (this.#first.length === DELIMITER_LINES) this.#addFirst()
  }

  #addFirst() {
    this.#delimiter ||= delimiterOf(this.#first.map(({ text }) => text))
    for (const line of this.#first.splice(0)) this.#addLine(line)
  }

  #addLine(line: Numbered) {
    const { text } = line
    const end = this.#open.length === 0 ? undefined : endOf(text, this.#delimiter, [], true)
    while (this.#open.length > 0) {
      const isTooLong = this.#openLength + 1 + text.length > MAX_LENGTH
      if (end === 'complete' && !isTooLong) return this.#closeRow(line)
      if (end === 'quoted' && !isTooLong) return this.#continueRow(line)
      this.#refuseFirst(isTooLong ? TOO_LONG : (end as { fault: string }).fault)
    }
    this.#startRow(line)
  }

  /** Ends the file. */
  end() {
    this.#addFirst()
    while (this.#open.length > 0) this.#refuseFirst(NOT_CLOSED)
  }

  #startRow(line: Numbered) {
    const { number, text } = line
    if (text.trim() === '') return
    const cells: string[] = []
    const end = text.length > MAX_LENGTH ? { fault: TOO_LONG } : endOf(text, this.#delimiter, cells)
    if (end === 'quoted') {
      this.#open = [line]
      this.#openLength = text.length
    } else this.records.push(end === 'complete' ? { number, cells } : { number, ...end })
  }

  #continueRow(line: Numbered) {
    this.#open.push(line)
    this.#openLength += 1 + line.text.length
    if (this.#open.length >= MAX_LINES) this.#refuseFirst(NOT_CLOSED)
  }

  #closeRow(line: Numbered) {
    const [{ number }] = this.#open as [Numbered]
    const cells: string[] = []
    endOf([...this.#open, line].map(({ text }) => text).join('\n'), this.#delimiter, cells)
    this.records.push({ number, cells })
    this.#open = []
  }

  /** The first line is at fault. The next line that opens a quote has all lines after it within it. */
  #refuseFirst(fault: string) {
    const [first, ...others] = this.#open as [Numbered, ...Numbered[]]
    this.records.push({ number: first.number, fault })
    this.#open = []
    while (others.length > 0) {
      this.#startRow(others.shift()!)
      if (this.#open.length === 0) continue
      this.#open.push(...others)
      this.#openLength += others.reduce((sum, { text }) => sum + 1 + text.length, 0)
      return
    }
  }
}

/** Adds the cells of a row, or of a line, to `cells`, and returns where it ends. */
function endOf(text: string, delimiter: string, cells: string[], isQuoted = false): LineEnd {
  if (text.includes('\ufffd')) return { fault: NOT_DECODED }
  let at = 0
  for (let isWithin = isQuoted; ; isWithin = false) {
    if (isWithin || text[at] === '"') {
      const start = isWithin ? at : at + 1
      const end = closingQuote(text, start)
      if (end === -1) return 'quoted'
      const next = text[end + 1] ?? delimiter
      if (next !== delimiter)
        return {
          fault:
            'text stands behind a closing quote: write a quote twice if it is part of the text',
        }
      cells.push(text.slice(start, end).replaceAll('""', '"'))
      at = end + 1
    } else {
      const end = text.indexOf(delimiter, at)
      cells.push(text.slice(at, end === -1 ? text.length : end))
      at = end === -1 ? text.length : end
    }
    if (at >= text.length) return 'complete'
    at += 1
    if (at === text.length) {
      cells.push('')
      return 'complete'
    }
  }
}

/** Two quotes are one in the text. */
function closingQuote(text: string, from: number) {
  for (let start = from; ;) {
    const quote = text.indexOf('"', start)
    if (quote === -1 || text[quote + 1] !== '"') return quote
    start = quote + 2
  }
}

const DELIMITERS = [',', ';', '\t', '|']

/** The one that rows have as often as the row before, which titles do not; else that of the first line. */
function delimiterOf(lines: string[]) {
  const plain = lines.map((line) => line.replace(/"[^"]*"/g, '')).filter((line) => line.trim())
  const first = plain.find((line) => DELIMITERS.some((mark) => line.includes(mark))) ?? ''
  const count = (mark: string, line: string) => line.split(mark).length - 1
  const counted = DELIMITERS.map((mark) => {
    const counts = plain.map((line) => count(mark, line))
    const repeats = counts.filter((count, i) => count > 0 && count === counts[i - 1])
    return { mark, repeats: repeats.length, most: Math.max(...repeats), first: count(mark, first) }
  })
  const [best] = counted.toSorted(
    (a, b) => b.repeats - a.repeats || b.most - a.most || b.first - a.first,
  )
  return best!.mark
}
