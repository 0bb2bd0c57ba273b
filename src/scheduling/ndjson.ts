import { isUtf8 } from 'node:buffer'
import { MAX_FILE_BYTES } from '../contract/file-library.ts'
import type { Line } from './import.ts'

/** As long as any body may be. */
const MAX_LINE_LENGTH = 1_048_576
/** A line with a file, in base64. It must begin with its kind. */
const MAX_FILE_LINE_LENGTH = Math.ceil((MAX_FILE_BYTES * 4) / 3) + 4_096
const FILE_LINE = Buffer.from('{"kind":"fileLibrary"')
const NEWLINE = 0x0a

/**
 * The lines of a stream of NDJSON, as many at a time as a piece of it holds. Blank lines count and
 * say nothing. However long a line is, no more than the longest good one is kept.
 */
export async function* readNdjson(pieces: AsyncIterable<Buffer>): AsyncIterable<Line[]> {
  let number = 0
  let kept: Buffer[] = []
  let length = 0

  const take = (end: Buffer): Line | undefined => {
    number += 1
    const total = length + end.length
    const isTooLong = total > MAX_LINE_LENGTH && total > maxLength(kept, end)
    const bytes = kept.length === 0 ? end : Buffer.concat([...kept, end])
    kept = []
    length = 0
    return isTooLong ? { number, fault: 'is longer than 1 MiB' } : readLine(number, bytes)
  }

  for await (const piece of pieces) {
    const lines: Line[] = []
    let start = 0
    for (;;) {
      const newline = piece.indexOf(NEWLINE, start)
      if (newline === -1) break
      const line = take(piece.subarray(start, newline))
      if (line) lines.push(line)
      start = newline + 1
    }
    const rest = piece.subarray(start)
    length += rest.length
    if (length > MAX_LINE_LENGTH && length > maxLength(kept, rest)) kept = []
    else if (rest.length > 0) kept.push(rest)
    if (lines.length > 0) yield lines
  }
  const last = length > 0 ? take(Buffer.alloc(0)) : undefined
  if (last) yield [last]
}

/** How long the line may be. No kept piece is empty, so the first ones contain its beginning. */
function maxLength(kept: Buffer[], next: Buffer) {
  const first = [...kept.slice(0, FILE_LINE.length), next]
  const start = Buffer.concat(first, FILE_LINE.length)
  return start.equals(FILE_LINE) ? MAX_FILE_LINE_LENGTH : MAX_LINE_LENGTH
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

function readLine(number: number, given: Buffer): Line | undefined {
  const bytes = number === 1 && given.subarray(0, 3).equals(BOM) ? given.subarray(3) : given
  if (!isUtf8(bytes)) return { number, fault: 'is not UTF-8' }
  const text = bytes.toString('utf8')
  try {
    return { number, body: JSON.parse(text), bytes: bytes.length }
  } catch {
    return text.trim() === '' ? undefined : { number, fault: 'is not JSON' }
  }
}
