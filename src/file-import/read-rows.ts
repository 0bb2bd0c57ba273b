import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RequestError } from '../errors.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { readCsvRecords, type FileRow } from './csv-records.ts'
import { readPieces } from './read-pieces.ts'
import { readXlsx } from './xlsx.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
export type FileFormat = { type: 'xlsx' } | { type: 'csv'; encoding: Encoding }

const MIB = 1_048_576

/**
 * Stores the pieces of a file in a temporary one, so that it can be read more than once. The file is
 * unlinked already: the system deletes it when the handle is closed or the process ends.
 */
export async function spool(pieces: AsyncIterable<Buffer>, maxBytes: number): Promise<FileHandle> {
  const path = join(tmpdir(), `bellwether-import-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    let size = 0
    for await (const piece of pieces) {
      size += piece.length
      if (size > maxBytes) {
        throw new RequestError(413, `A file may have ${maxBytes / MIB} MiB. Send it in parts.`)
      }
      await file.appendFile(piece)
    }
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The format of a file, by its content and not by its name. */
export async function detectFormat(file: FileHandle): Promise<FileFormat> {
  const start = await readStart(file)
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) return { type: 'xlsx' }
  if (start.subarray(0, 4).equals(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]))) {
    throw new RequestError(
      422,
      'This is a workbook of an old Excel. Save it as .xlsx or CSV UTF-8.',
    )
  }
  const encoding = markOf(start) ?? (await guessEncoding(file))
  const text = new TextDecoder(encoding).decode(start).trimStart()
  const other = OTHER_FORMATS.find(([beginning]) => beginning.test(text))
  if (other) throw new RequestError(422, other[1])
  return { type: 'csv', encoding }
}

const OTHER_FORMATS: [beginning: RegExp, advice: string][] = [
  [/^%PDF/, 'This is a PDF. Export the appointments as CSV or XLSX.'],
  [
    /^BEGIN:VCALENDAR/i,
    'This is a calendar file. Connect the calendar in Settings, Feeds, or export the appointments as CSV or XLSX.',
  ],
  [
    /^<(?:!doctype|html|table|head|meta|\?xml)\b/i,
    'This is a web page or XML, whatever its name ends with. Open it in a spreadsheet and save it as .xlsx or CSV UTF-8.',
  ],
  [/^[[{]\s*["{[]/, 'This is JSON. Export the appointments as CSV or XLSX.'],
]

/** The rows of a CSV or XLSX file, in parts. The file can be read again. */
export function readRows(file: FileHandle, format: FileFormat): AsyncIterable<FileRow[]> {
  return format.type === 'xlsx' ? readXlsx(file) : readCsvRecords(decode(file, format.encoding))
}

async function readStart(file: FileHandle) {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0)
  return buffer.subarray(0, bytesRead)
}

/** By the byte order mark, or because every second byte of Western text in UTF-16 is zero. */
function markOf(start: Buffer): Encoding | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8'
  const zeros = [0, 0]
  for (const [i, byte] of start.entries()) if (byte === 0) zeros[i % 2]! += 1
  if (zeros[0]! + zeros[1]! < start.length / 4) return undefined
  return zeros[1]! > zeros[0]! ? 'utf-16le' : 'utf-16be'
}

/** Text that is UTF-8 except for some wrong bytes stays UTF-8, and its wrong rows are refused. */
async function guessEncoding(file: FileHandle): Promise<Encoding> {
  let [wrong, right] = [0, 0]
  for await (const text of decode(file, 'utf-8')) {
    if (isSliceOver()) await nextSlice()
    for (const [character] of text.matchAll(/[^\0-\x7f]/gu)) {
      if (character === '\ufffd') wrong += 1
      else right += 1
    }
  }
  return wrong > right ? 'windows-1252' : 'utf-8'
}

async function* decode(file: FileHandle, encoding: Encoding): AsyncIterable<string> {
  const decoder = new TextDecoder(encoding)
  for await (const piece of readPieces(file)) yield decoder.decode(piece, { stream: true })
  yield decoder.decode()
}
