import { isUtf8 } from 'node:buffer'
import { MAX_FILE_BYTES } from '../contract/file-library.ts'
import { findExcess } from '../contract/json-excess.ts'
import { WINDOW, type ImportLine } from './import.ts'

const MAX_LINE_LENGTH = 1_048_576
/** A line with a file, in base64. It must begin with its kind. */
const MAX_FILE_LINE_LENGTH = Math.ceil((MAX_FILE_BYTES * 4) / 3) + 4_096
const FILE_LINE = Buffer.from('{"kind":"fileLibrary"')
const NEWLINE = 0x0a

/**
 * Reads an NDJSON stream, and yields the lines that end in each piece, at most a window of them at once.
 * Blank lines are counted, but not yielded. Buffers no more than the longest valid line.
 */
export async function* readNdjson(pieces: AsyncIterable<Buffer>): AsyncIterable<ImportLine[]> {
  let number = 0
  let buffered: Buffer[] = []
  let length = 0

  const take = (end: Buffer): ImportLine | undefined => {
    number += 1
    const total = length + end.length
    const isTooLong = total > MAX_LINE_LENGTH && total > maxLength(buffered, end)
    const bytes = buffered.length === 0 ? end : Buffer.concat([...buffered, end])
    buffered = []
    length = 0
    return isTooLong ? { number, fault: 'is longer than 1 MiB' } : readLine(number, bytes)
  }

  for await (const piece of pieces) {
    let lines: ImportLine[] = []
    let start = 0
    for (;;) {
      // Blank lines are so short that nothing else may be done for each.
      while (length === 0 && isLineBreak(piece, start)) {
        start += piece[start] === NEWLINE ? 1 : 2
        number += 1
      }
      const newline = piece.indexOf(NEWLINE, start)
      if (newline === -1) break
      const line = take(piece.subarray(start, newline))
      if (line) lines.push(line)
      start = newline + 1
      if (lines.length < WINDOW) continue
      yield lines
      lines = []
    }
    const rest = piece.subarray(start)
    length += rest.length
    if (length > MAX_LINE_LENGTH && length > maxLength(buffered, rest)) buffered = []
    else if (rest.length > 0) buffered.push(rest)
    if (lines.length > 0) yield lines
  }
  const last = length > 0 ? take(Buffer.alloc(0)) : undefined
  if (last) yield [last]
}

/** How long the line may be. No buffered piece is empty, so the first ones contain its beginning. */
function maxLength(buffered: Buffer[], next: Buffer) {
  const first = [...buffered.slice(0, FILE_LINE.length), next]
  const start = Buffer.concat(first, FILE_LINE.length)
  return start.equals(FILE_LINE) ? MAX_FILE_LINE_LENGTH : MAX_LINE_LENGTH
}

const isLineBreak = (piece: Buffer, at: number) =>
  piece[at] === NEWLINE || (piece[at] === 0x0d && piece[at + 1] === NEWLINE)

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

function readLine(number: number, given: Buffer): ImportLine | undefined {
  const bytes = number === 1 && given.subarray(0, 3).equals(BOM) ? given.subarray(3) : given
  if (!isUtf8(bytes)) return { number, fault: 'is not UTF-8' }
  const text = bytes.toString('utf8').trim()
  if (text === '') return undefined
  // A failed parse costs as much as a good line of 10 KB.
  if (!text.startsWith('{')) return { number, fault: 'must be a JSON object' }
  if (!text.endsWith('}')) return { number, fault: 'is not JSON' }
  const excess = findExcess(bytes)
  if (excess) return { number, fault: `has ${excess}` }
  try {
    return { number, body: JSON.parse(text), bytes: bytes.length }
  } catch {
    return { number, fault: 'is not JSON' }
  }
}
