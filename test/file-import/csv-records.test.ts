import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCsvRecords, type FileRow } from '../../src/file-import/csv-records.ts'
import { measureCpuMs } from '../support/hostile-text.ts'

/** Reads the text in pieces of this length. */
async function recordsOf(text: string, pieceSize: number) {
  async function* pieces() {
    for (let at = 0; at < text.length; at += pieceSize) yield text.slice(at, at + pieceSize)
  }
  const records: FileRow[] = []
  for await (const some of readCsvRecords(pieces())) records.push(...some)
  return records.map(shorten)
}

/** Long cells as their length, for readable failures. */
const shorten = (record: FileRow) =>
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

test('rows whose quotes stay open cost about as much as other rows', async () => {
  const cost = (row: string) => measureCpuMs(() => recordsOf(`a,b\n${row.repeat(10_000)}`, 65_536))
  await cost('x,y\n')
  const [plain, open] = [await cost('xxx,yyy\n'), await cost('x",",y\n')]
  assert.ok(open < 20 * Math.max(plain, 20), `${open} ms, other rows ${plain} ms`)
})
