import { Readable } from 'node:stream'
import { constants, crc32, createDeflateRaw } from 'node:zlib'
import { invalid } from '../../errors.ts'

export type ZipEntry = { name: string; content: AsyncIterable<string> | Iterable<string> }

/** The format has 32 bits for sizes and offsets. Excel does not open ZIP64 files. */
const MAX_BYTES = 0xffff_ffff

/**
 * Writes a ZIP file while its entries are read, in constant memory. All entries have the same fixed date,
 * so that the same entries give the same bytes. Refuses entries that are too large for the format.
 */
export async function* zip(
  entries: Iterable<ZipEntry>,
  maxBytes = MAX_BYTES,
): AsyncIterable<Uint8Array> {
  const directory: Buffer[] = []
  let offset = 0

  for (const { name, content } of entries) {
    const fileName = Buffer.from(name)
    const start = offset
    const header = localHeader(fileName)
    yield header
    offset += header.length

    const counted = { crc: 0, size: 0 }
    let packed = 0
    const deflate = createDeflateRaw({ level: constants.Z_DEFAULT_COMPRESSION })
    // The chunks of text are large: a buffer of two is enough.
    const chunks = Readable.from(count(content, counted, maxBytes), { highWaterMark: 2 })
    for await (const chunk of chunks.compose(deflate)) {
      packed += chunk.length
      refuseOver(maxBytes, offset + packed)
      yield chunk
    }
    offset += packed

    const sizes = sizesOf(counted.crc, packed, counted.size)
    yield Buffer.concat([Buffer.from([0x50, 0x4b, 7, 8]), sizes])
    offset += 4 + sizes.length
    directory.push(directoryEntry(fileName, sizes, start))
  }

  const list = Buffer.concat(directory)
  refuseOver(maxBytes, offset)
  yield list
  yield endOfDirectory(directory.length, list.length, offset)
}

/** A report is printed to a file before it is sent, so the caller gets a problem instead of a partial file. */
function refuseOver(maxBytes: number, bytes: number) {
  if (bytes <= maxBytes) return
  const detail = 'xlsx can hold at most 4 GiB and this report is larger: use csv or a shorter range'
  throw invalid([{ pointer: '?format', detail }])
}

async function* count(
  content: ZipEntry['content'],
  counted: { crc: number; size: number },
  maxBytes: number,
) {
  for await (const text of content) {
    const bytes = Buffer.from(text)
    counted.crc = crc32(bytes, counted.crc)
    counted.size += bytes.length
    refuseOver(maxBytes, counted.size)
    yield bytes
  }
}

/** Sizes follow the content (bit 3), names are UTF-8 (bit 11). */
const FLAGS = 0x0808
const DEFLATE = 8
/** 1980-01-01 00:00, the earliest date of the format. */
const DATE = 0x0021

function localHeader(name: Buffer) {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(FLAGS, 6)
  header.writeUInt16LE(DEFLATE, 8)
  header.writeUInt16LE(DATE, 12)
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, name])
}

function sizesOf(crc: number, packed: number, size: number) {
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32LE(crc, 0)
  sizes.writeUInt32LE(packed, 4)
  sizes.writeUInt32LE(size, 8)
  return sizes
}

function directoryEntry(name: Buffer, sizes: Buffer, start: number) {
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(20, 4)
  entry.writeUInt16LE(20, 6)
  entry.writeUInt16LE(FLAGS, 8)
  entry.writeUInt16LE(DEFLATE, 10)
  entry.writeUInt16LE(DATE, 14)
  sizes.copy(entry, 16)
  entry.writeUInt16LE(name.length, 28)
  entry.writeUInt32LE(start, 42)
  return Buffer.concat([entry, name])
}

function endOfDirectory(count: number, size: number, offset: number) {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
