import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import zlib from 'node:zlib'
import { Compressor, MAX_BYTES } from '../../src/store/compressor.ts'
import {
  decodeBody,
  encodeBody,
  encodeSoon,
  makeDictionary,
} from '../../src/store/message-bodies.ts'

/** Bytes that cannot be compressed, the same in each run. */
function randomBytes(length: number) {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) =>
    createHash('sha256').update(`${length} ${i}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

test('texts of all lengths that are compressed at the same time are read back byte for byte', async () => {
  const dictionary = Buffer.concat([randomBytes(3_000), randomBytes(2_000)])
  const compressor = new Compressor(dictionary, { [zlib.constants.ZSTD_c_checksumFlag]: 1 })
  const lengths = [...Array(1_500).keys(), 1_987, 5_000, 20_011, MAX_BYTES - 1, MAX_BYTES]
  const texts = lengths.flatMap((length) => [randomBytes(length), Buffer.alloc(length, 'same ')])
  const compressed = await Promise.all(texts.map((text) => compressor.compress(text)))
  for (const [i, text] of texts.entries()) {
    assert.ok(zlib.zstdDecompressSync(compressed[i]!, { dictionary }).equals(text), `${i}`)
  }
})

test('mails that are compressed together take no more space than one alone', async () => {
  const common = randomBytes(4_000).toString('hex')
  const dictionary = makeDictionary(common)
  const texts = Array.from({ length: 200 }, (_, i) => `Dear ${i}, ${common} see you at ${i}:00 –`)
  const long = `${common.repeat(20)} and more`
  const together = await Promise.all([...texts, long].map((text) => encodeSoon(text, dictionary)))
  for (const [i, text] of [...texts, long].entries()) {
    assert.equal(decodeBody(together[i]!, dictionary), text)
  }
  const bytesOf = (bodies: Buffer[]) => bodies.reduce((sum, { length }) => sum + length, 0)
  const alone = texts.map((text) => encodeBody(text, dictionary))
  // A frame that fills what is left of the output is followed by an empty one.
  assert.ok(bytesOf(together.slice(0, -1)) <= 1.02 * bytesOf(alone))
})
