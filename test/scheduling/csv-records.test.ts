import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCsvRecords, type CsvRecord } from '../../src/scheduling/csv-records.ts'

/** Reads the text in pieces of this many bytes. */
async function recordsOf(text: string, pieceSize: number) {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceSize) {
      yield bytes.subarray(at, at + pieceSize)
    }
  }
  const records: CsvRecord[] = []
  for await (const some of readCsvRecords(pieces())) records.push(...some)
  return records.map(shorten)
}

/** Long cells as their length, for readable failures. */
const shorten = (record: CsvRecord) =>
  'fault' in record
    ? record
    : { ...record, cells: record.cells.map((cell) => (cell.length > 99 ? cell.length : cell)) }

const MIB = 1_048_576
const TOO_LONG = 'is longer than 1 MiB'

for (const pieceSize of [65_536, 8 * MIB]) {
  test(`a line over 1 MiB is refused and the next one is read, in pieces of ${pieceSize} bytes`, async () => {
    const rows = ['name,phone', `${'x'.repeat(3 * MIB)},1`, 'Anna,2', `${'y'.repeat(2 * MIB)},3`]
    assert.deepEqual(await recordsOf(rows.join('\n'), pieceSize), [
      { number: 1, cells: ['name', 'phone'] },
      { number: 2, fault: TOO_LONG },
      { number: 3, cells: ['Anna', '2'] },
      { number: 4, fault: TOO_LONG },
    ])
  })
}

test('a line of exactly 1 MiB is read', async () => {
  const line = `${'x'.repeat(MIB - 2)},1`
  const [record] = await recordsOf(`${line}\r\nAnna,2\n`, 65_536)
  assert.deepEqual(record, { number: 1, cells: [MIB - 2, '1'] })
})

test('a quoted cell with line breaks over 1 MiB is refused', async () => {
  const cell = `"${'x'.repeat(MIB)}\n${'x'.repeat(10)}"`
  const records = await recordsOf(`a,b\n${cell},1\nAnna,2\n`, 65_536)
  assert.deepEqual(records[1], { number: 2, fault: TOO_LONG })
  assert.deepEqual(records.at(-1), { number: 4, cells: ['Anna', '2'] })
})
