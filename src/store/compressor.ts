import zlib from 'node:zlib'

/**
 * Compresses texts with one dictionary, which it reads once: zlib's own functions read it again for each
 * text, which takes longer than compressing a mail. Runs in the threads of zlib. Each text becomes a frame
 * of its own, which an empty one can follow.
 */
export class Compressor {
  readonly #options: zlib.ZstdOptions
  readonly #streams: { stream: zlib.ZstdCompress; queued: number }[] = []

  constructor(dictionary: Buffer, params: Record<number, number>) {
    this.#options = {
      dictionary,
      params: { ...params, ...SMALL_TABLES },
      // Each write ends its frame.
      flush: zlib.constants.ZSTD_e_end,
      chunkSize: 1_024,
    }
  }

  /** The text has at most `MAX_BYTES`. */
  compress(bytes: Buffer): Promise<Buffer> {
    const used = this.#freeStream()
    used.queued += 1
    return new Promise((resolve, reject) => {
      used.stream.write(bytes, (error) => {
        used.queued -= 1
        if (error) reject(error)
        else resolve(Buffer.concat([...piecesOf(used.stream)]))
      })
    })
  }

  /** A stream compresses one text at a time. */
  #freeStream() {
    const [least] = this.#streams.toSorted((a, b) => a.queued - b.queued)
    if (least && (least.queued === 0 || this.#streams.length === MAX_STREAMS)) return least
    const added = { stream: zlib.createZstdCompress(this.#options), queued: 0 }
    // Reported to the writer; the stream cannot be used any more.
    added.stream.on('error', () => this.#streams.splice(this.#streams.indexOf(added), 1))
    this.#streams.push(added)
    return added
  }
}

/** What the stream has written since the last call. */
function* piecesOf(stream: zlib.ZstdCompress) {
  for (let piece = stream.read(); piece !== null; piece = stream.read()) yield piece as Buffer
}

/** More gain nothing on two cores, and each takes a quarter of a megabyte. */
const MAX_STREAMS = 2

/** A longer text could fill the buffer of the stream, which would then wait for a reader. */
export const MAX_BYTES = 32_768

/** Enough for a text of `MAX_BYTES` with its dictionary; by default a stream takes megabytes. */
const SMALL_TABLES = {
  [zlib.constants.ZSTD_c_windowLog]: 15,
  [zlib.constants.ZSTD_c_hashLog]: 13,
  [zlib.constants.ZSTD_c_chainLog]: 13,
}
