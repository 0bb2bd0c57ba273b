import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zip } from '../../src/reports/formats/zip.ts'

const entry = (name: string, bytes: number) => ({ name, content: ['x'.repeat(bytes)] })

const sizeOf = async (entries: Parameters<typeof zip>[0], maxBytes?: number) => {
  let size = 0
  for await (const bytes of zip(entries, maxBytes)) size += bytes.length
  return size
}

const refusal = { status: 422, message: /^\?format: xlsx can hold at most 4 GiB.*use csv/ }

test('an entry larger than the format can hold is refused, one that fits is written', async () => {
  assert.ok((await sizeOf([entry('a', 1_000)], 1_000)) > 0)
  await assert.rejects(sizeOf([entry('a', 1_001)], 1_000), refusal)
})

test('entries beyond the largest offset of the format are refused', async () => {
  const entries = Array.from({ length: 20 }, (_, i) => entry(String(i), 100))
  assert.ok((await sizeOf(entries)) > 1_000)
  await assert.rejects(sizeOf(entries, 1_000), refusal)
})
