import type { FileHandle } from 'node:fs/promises'

const PIECE = 65_536

/** The bytes from `start` until before `end`. A stream would close the file when it is destroyed. */
export async function* readPieces(
  file: FileHandle,
  start = 0,
  end = Infinity,
): AsyncIterable<Buffer> {
  for (let at = start; at < end;) {
    const length = Math.min(PIECE, end - at)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}
