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

test('the delimiter is that of the rows, whatever titles come before the header', async () => {
  const header = 'Datum;Zeit;Kunde'
  const row = '03.05.2032;09:30;"Keller, Anna"'
  for (const titles of [
    ['Termine, Salon am See, Mai'],
    ['Salon am See', '', 'gedruckt am 3. Mai, 09:30'],
    ['Termine, Mai', 'Salon am See, Biel'],
    ['a, b, c, d', ' '],
    [],
  ]) {
    const cells = (await recordsOf([...titles, header, row].join('\n'), 5)).map((record) =>
      'cells' in record ? record.cells : [],
    )
    assert.deepEqual(
      cells.slice(-2),
      [
        ['Datum', 'Zeit', 'Kunde'],
        ['03.05.2032', '09:30', 'Keller, Anna'],
      ],
      titles.join(' / '),
    )
  }
  for (const [text, count] of [
    ['wann;wo\n03.05.2032;Weg 1, 2502 Biel, CH\n04.05.2032;Weg 2, 2502 Biel, CH', 2],
    ['name,tags\nAnna,a;b\nBen,c;d', 2],
    ['a,b,c\nx,y', 3],
    ['a\tb', 2],
    ['a', 1],
  ] as const) {
    const [first] = await recordsOf(text, 5)
    assert.equal('cells' in first! && first.cells.length, count, text)
  }
})

test('a quoted cell of the first lines keeps its empty line', async () => {
  assert.deepEqual(await recordsOf('a,b\n"x\n\ny",1\n', 5), [
    { number: 1, cells: ['a', 'b'] },
    { number: 2, cells: ['x\n\ny', '1'] },
  ])
})

test('lines may end with a carriage return alone', async () => {
  assert.deepEqual(await recordsOf('a,b\r"x\ry",1\r2,3', 65_536), [
    { number: 1, cells: ['a', 'b'] },
    { number: 2, cells: ['x\ny', '1'] },
    { number: 4, cells: ['2', '3'] },
  ])
})
