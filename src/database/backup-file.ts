import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { StartError } from '../errors.ts'

/*
 * A backup is a line that names the format, and one zstd stream of records. A record is one byte for its
 * type, four for the length of its content, and the content. docs/backup.md describes it.
 */

const FORMAT = Buffer.from('bellwether backup 1\n')
const LEVEL = 6

/** The types of records, in the order of the file. */
const TYPES = {
  header: 'H',
  table: 'T',
  rows: 'R',
  end: 'E',
  sequences: 'S',
  checksum: 'C',
} as const
export type RecordType = keyof typeof TYPES
const TYPE_OF = new Map<number, RecordType>(
  Object.entries(TYPES).map(([type, letter]) => [letter.charCodeAt(0), type as RecordType]),
)

export type BackupHeader = {
  /** When the snapshot was taken. */
  time: string
  /** The version of the server, for information. */
  server: string
  /** The numbers of the migrations that made the schema. */
  migrations: number[]
  tables: number
}

export type BackupTable = { name: string; columns: string[] }

/** Writes records; `end` adds the checksum of all of them. */
export function writeRecords(out: Writable) {
  const zstd = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  out.write(FORMAT)
  zstd.pipe(out)
  const hash = createHash('sha256')
  const failed = Promise.race([once(out, 'error'), once(zstd, 'error')]).then(([error]) => {
    throw error
  })
  failed.catch(() => {})

  const write = async (type: RecordType, content: Buffer | object) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
    const head = Buffer.alloc(5)
    head.write(TYPES[type], 'latin1')
    head.writeUInt32BE(bytes.length, 1)
    if (type !== 'checksum') hash.update(head).update(bytes)
    zstd.write(head)
    if (!zstd.write(bytes)) await Promise.race([once(zstd, 'drain'), failed])
  }
  const end = async () => {
    await write('checksum', { sha256: hash.copy().digest('hex') })
    zstd.end()
    await Promise.race([once(out, 'finish'), failed])
  }
  return { write, end }
}

export type BackupRecord = { type: RecordType; content: Buffer }

/** Reads the records of a file. A file that is damaged or not complete is a StartError. */
export async function* readRecords(file: string): AsyncGenerator<BackupRecord> {
  if (!(await isBackup(file)))
    throw new StartError(`${file} is not a backup of this version of Bellwether.`)
  const source = createReadStream(file, { start: FORMAT.length })
  const zstd = createZstdDecompress()
  source.once('error', (error) => zstd.destroy(error)).pipe(zstd)
  const bytes = new ByteReader(zstd)
  const hash = createHash('sha256')
  try {
    for (;;) {
      const head = await bytes.take(5)
      const type = TYPE_OF.get(head[0]!)
      if (!type) throw new Damaged('it has an unknown record')
      const content = await bytes.take(head.readUInt32BE(1))
      if (type === 'checksum') {
        if (JSON.parse(content.toString()).sha256 === hash.digest('hex')) return
        throw new Damaged('its checksum is wrong')
      }
      hash.update(head).update(content)
      yield { type, content }
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof Damaged || code?.startsWith('ZSTD_') || code === 'Z_BUF_ERROR') {
      throw new StartError(`${file} is damaged or not complete: ${(error as Error).message}.`)
    }
    throw error
  } finally {
    source.destroy()
    zstd.destroy()
  }
}

export async function isBackup(file: string) {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`${file} cannot be read (${error.code}).`)
  })
  try {
    const { buffer } = await handle.read(Buffer.alloc(FORMAT.length))
    return buffer.equals(FORMAT)
  } finally {
    await handle.close()
  }
}

class Damaged extends Error {}

/** Takes exact numbers of bytes from a stream. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #chunks: Buffer[] = []
  #size = 0

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async take(count: number): Promise<Buffer> {
    while (this.#size < count) {
      const { value, done } = await this.#source.next()
      if (done) throw new Damaged('it ends too early')
      this.#chunks.push(value)
      this.#size += value.length
    }
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#chunks = [all.subarray(count)]
    this.#size -= count
    return all.subarray(0, count)
  }
}
