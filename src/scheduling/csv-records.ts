import { StringDecoder } from 'node:string_decoder'

/** A row of a CSV file with the number of its first line, or why it cannot be read. */
export type CsvRecord = { number: number; cells: string[] } | { number: number; fault: string }

/** A cell may contain line breaks, but a quote that stays open this long is a mistake. */
const MAX_LINES = 100
/** The length of a row with all its lines. */
const MAX_LENGTH = 1_048_576

/**
 * The rows of a CSV file. A faulty row ends with its line, and reading continues with the next one; a
 * library would read the rest of the file as one cell after a wrong quote.
 */
export async function* readCsvRecords(pieces: AsyncIterable<Buffer>): AsyncIterable<CsvRecord[]> {
  let delimiter: string | undefined
  let buffered: Numbered[] = []
  for await (const lines of linesOf(pieces)) {
    const records: CsvRecord[] = []
    for (const line of lines) {
      delimiter ??= delimiterOf(line.text)
      buffered.push(line)
      buffered = take(buffered, delimiter, records, buffered.length >= MAX_LINES)
    }
    if (records.length > 0) yield records
  }
  const last: CsvRecord[] = []
  while (buffered.length > 0) buffered = take(buffered, delimiter!, last, true)
  if (last.length > 0) yield last
}

type Numbered = { number: number; text: string }

/** Moves complete rows from the buffered lines to the records; returns the remaining lines. */
function take(
  buffered: Numbered[],
  delimiter: string,
  records: CsvRecord[],
  isOver: boolean,
): Numbered[] {
  const first = buffered[0]!
  const { number } = first
  const text = buffered.length === 1 ? first.text : buffered.map((line) => line.text).join('\n')
  if (text.trim() === '') return []
  const split = faultOf(text) ?? splitCells(text, delimiter)
  if (Array.isArray(split)) {
    records.push({ number, cells: split })
    return []
  }
  if (split === undefined && !isOver) return buffered
  const fault = split ?? 'a quote is opened and not closed'
  records.push({ number, fault })
  // The first line is at fault; the lines after it are read separately.
  let rest: Numbered[] = []
  for (const line of buffered.slice(1)) rest = take([...rest, line], delimiter, records, false)
  return rest
}

function faultOf(text: string) {
  if (text.length > MAX_LENGTH) return 'is longer than 1 MiB'
  return text.includes('\ufffd') ? 'is not UTF-8: save the file as "CSV UTF-8"' : undefined
}

/** The cells of a row or its fault; undefined while a quote is open. */
function splitCells(text: string, delimiter: string): string[] | string | undefined {
  if (!text.includes('"')) return text.split(delimiter)
  const cells: string[] = []
  let at = 0
  for (;;) {
    if (text[at] === '"') {
      let cell = ''
      let end = at + 1
      for (;;) {
        const quote = text.indexOf('"', end)
        if (quote === -1) return undefined
        cell += text.slice(end, quote)
        end = quote + 1
        if (text[end] !== '"') break
        cell += '"'
        end += 1
      }
      if (end < text.length && text[end] !== delimiter) return 'text stands behind a closing quote'
      cells.push(cell)
      at = end
    } else {
      const end = text.indexOf(delimiter, at)
      const cell = text.slice(at, end === -1 ? text.length : end)
      cells.push(cell)
      at = end === -1 ? text.length : end
    }
    if (at >= text.length) return cells
    at += 1
    if (at === text.length) return [...cells, '']
  }
}

/** Comma, semicolon or tab: the most frequent one in the header row. */
function delimiterOf(header: string) {
  const plain = header.replace(/"[^"]*"/g, '')
  const count = (mark: string) => plain.split(mark).length
  return [',', ';', '\t'].toSorted((a, b) => count(b) - count(a))[0]!
}

async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncIterable<Numbered[]> {
  const decoder = new StringDecoder('utf8')
  let number = 0
  let rest = ''
  const numbered = (text: string): Numbered => {
    number += 1
    const line = number === 1 ? text.replace(/^\ufeff/, '') : text
    return { number, text: line.endsWith('\r') ? line.slice(0, -1) : line }
  }
  for await (const piece of pieces) {
    const lines = (rest + decoder.write(piece)).split('\n')
    rest = lines.pop()!
    // Long enough to be refused as too long, even without a trailing carriage return.
    rest = rest.slice(0, MAX_LENGTH + 2)
    if (lines.length > 0) yield lines.map(numbered)
  }
  rest += decoder.end()
  if (rest !== '') yield [numbered(rest)]
}
