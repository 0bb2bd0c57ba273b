import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { RequestError } from '../errors.ts'
import { readPieces } from './read-pieces.ts'

type Entry = { method: number; crc: number; packed: number; offset: number }

const MAX_DIRECTORY = 1_048_576
const MAX_ENTRIES = 2_000
/**
 * Sheets of spreadsheet programs unpack to 5 to 50 times their size; a run of one character to 1,000 times.
 * A few more mebibytes are allowed, so that small parts may be as empty as they want.
 */
const MAX_RATIO = 200
const MAX_SLACK = 8 * 1_048_576
/** The end of the directory, with the longest comment. */
const MAX_END = 65_557

/**
 * The entries of a zip file by name. The sizes that it states are never trusted: `read` counts what it
 * unpacks and stops at its limit, so a small file cannot fill the memory or keep the processor busy.
 */
export class ZipFile {
  readonly #file: FileHandle
  readonly #entries: Map<string, Entry>

  private constructor(file: FileHandle, entries: Map<string, Entry>) {
    this.#file = file
    this.#entries = entries
  }

  static async open(file: FileHandle) {
    return new ZipFile(file, await readDirectory(file))
  }

  has = (name: string) => this.#entries.has(name)

  /** The unpacked bytes of an entry; refuses more than `limit` of them. */
  async *read(name: string, limit: number): AsyncIterable<Buffer> {
    const entry = this.#entries.get(name)
    if (!entry || (entry.method !== 0 && entry.method !== 8)) throw damaged()
    const head = await readAt(this.#file, entry.offset, 30)
    if (head.readUInt32LE(0) !== 0x04034b50) throw damaged()
    const start = entry.offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
    const packed = readPieces(this.#file, start, start + entry.packed)
    const most = Math.min(limit, MAX_SLACK + MAX_RATIO * entry.packed)
    let [size, crc] = [0, 0]
    try {
      for await (const piece of entry.method === 0 ? packed : unpack(packed)) {
        size += piece.length
        if (size > most) throw tooLarge()
        crc = crc32(piece, crc)
        yield piece
      }
      if (crc !== entry.crc) throw damaged()
    } catch (error) {
      throw error instanceof RequestError ? error : damaged()
    }
  }
}

export const tooLarge = () =>
  new RequestError(413, 'The workbook is too large. Save it as CSV UTF-8, or import it in parts.')

async function* unpack(packed: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const [source, inflate] = [Readable.from(packed), createInflateRaw()]
  // A failure of the source ends the reading of what is unpacked.
  source.on('error', (error) => inflate.destroy(error))
  source.pipe(inflate)
  try {
    yield* inflate
  } finally {
    source.destroy()
    inflate.destroy()
  }
}

async function readDirectory(file: FileHandle) {
  const { size } = await file.stat()
  const length = Math.min(size, MAX_END)
  const end = await readAt(file, size - length, length)
  const at = end.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (at === -1 || at + 22 > end.length) throw damaged()
  const [count, bytes, offset] = [
    end.readUInt16LE(at + 10),
    end.readUInt32LE(at + 12),
    end.readUInt32LE(at + 16),
  ]
  if (count > MAX_ENTRIES || bytes > MAX_DIRECTORY) throw tooLarge()
  const directory = await readAt(file, offset, bytes)
  const entries = new Map<string, Entry>()
  for (let place = 0, i = 0; i < count; i += 1) {
    if (place + 46 > bytes || directory.readUInt32LE(place) !== 0x02014b50) throw damaged()
    const nameLength = directory.readUInt16LE(place + 28)
    const name = directory.toString('utf8', place + 46, place + 46 + nameLength)
    entries.set(name, {
      method: directory.readUInt16LE(place + 10),
      crc: directory.readUInt32LE(place + 16),
      packed: Math.min(directory.readUInt32LE(place + 20), size),
      offset: directory.readUInt32LE(place + 42),
    })
    place +=
      46 + nameLength + directory.readUInt16LE(place + 30) + directory.readUInt16LE(place + 32)
  }
  return entries
}

async function readAt(file: FileHandle, position: number, length: number) {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw damaged()
  return buffer
}

export const damaged = () =>
  new RequestError(
    422,
    'The workbook is damaged. Open it, save it again as .xlsx, or as CSV UTF-8.',
  )
