import assert from 'node:assert/strict'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { RequestError } from '../../src/errors.ts'
import type { FileRow } from '../../src/file-import/csv-records.ts'
import { readRows } from '../../src/file-import/read-rows.ts'
import { zip } from '../../src/reports/formats/zip.ts'
import { temporaryFolder } from '../support/folder.ts'
import { findSlowRuns, measureCpuMs, unitsFor } from '../support/hostile-text.ts'

type Parts = Record<string, string | Iterable<string>>

const BOOK = {
  'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
}

const sheetOf = (rows: string | Iterable<string>) => ({ 'xl/worksheets/sheet1.xml': rows })
const textsOf = (texts: string) => ({ 'xl/sharedStrings.xml': `<sst>${texts}</sst>` })
const ROW = '<row r="7"><c r="B7" t="s"><v>0</v></c></row>'
const TEXTS = '<si><t>Keller</t></si>'
const SMALL = { ...sheetOf(`<sheetData>${ROW}</sheetData>`), ...textsOf(TEXTS) }

function* repeat(text: string, times: number) {
  for (let i = 0; i < times; i += 1) yield text
}

const archive = (parts: Parts) =>
  buffer(
    Readable.from(
      zip(
        Object.entries<string | Iterable<string>>({ ...BOOK, ...parts }).map(([name, content]) => ({
          name,
          content: typeof content === 'string' ? [content] : content,
        })),
      ),
    ),
  )

/** Reads files one after another; each ends with its number of rows, or with the refusal of the caller. */
function startReader(t: TestContext) {
  const path = join(temporaryFolder(t), 'book.xlsx')
  return async (bytes: Buffer) => {
    await writeFile(path, bytes)
    const file = await open(path)
    const rows: FileRow[] = []
    let count = 0
    try {
      for await (const some of readRows(file, { type: 'xlsx' })) {
        count += some.length
        if (rows.length < 10) rows.push(...some)
      }
      return { status: 200, rows, count }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      return { status: error.status, rows, count }
    } finally {
      await file.close()
    }
  }
}

test('a workbook that ends at any byte is refused', async (t) => {
  const read = startReader(t)
  const whole = await archive(SMALL)
  assert.deepEqual((await read(whole)).rows, [{ number: 7, cells: ['', 'Keller'] }])
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal((await read(whole.subarray(0, length))).status, 422, `${length} bytes`)
  }
})

test('a workbook with any changed byte is read or refused, and never read otherwise', async (t) => {
  const read = startReader(t)
  const whole = await archive(SMALL)
  for (let place = 0; place < whole.length; place += 1) {
    const changed = Buffer.from(whole)
    changed[place]! ^= 0xff
    const { status, rows } = await read(changed)
    const isAsked = status === 413 || status === 422
    // A name that is changed is another part: shared texts are optional.
    const cells = rows.flatMap((row) => ('cells' in row ? [row.cells.join()] : []))
    assert.ok(
      isAsked || [',Keller', ''].includes(cells.join()),
      `byte ${place}: ${status} ${cells}`,
    )
  }
})

/** The bytes with another number at a place of each entry of the directory. */
function withDirectory(bytes: Buffer, change: (entry: Buffer, index: number) => void) {
  const changed = Buffer.from(bytes)
  let index = 0
  for (
    let at = changed.indexOf('PK\x01\x02');
    at !== -1;
    at = changed.indexOf('PK\x01\x02', at + 4)
  )
    change(changed.subarray(at), index++)
  return changed
}

test('parts that overlap, or lie about their place and size, are refused', async (t) => {
  const read = startReader(t)
  const whole = await archive(SMALL)
  const directory = whole.indexOf('PK\x01\x02')
  const lies: [string, (entry: Buffer, index: number) => void][] = [
    ['all parts at the place of the first', (entry) => entry.writeUInt32LE(0, 42)],
    ['a part within the directory', (entry) => entry.writeUInt32LE(directory, 42)],
    ['a part behind the end', (entry) => entry.writeUInt32LE(0xffff_fff0, 42)],
    ['packed sizes of 4 GiB', (entry) => entry.writeUInt32LE(0xffff_ffff, 20)],
    ['packed sizes of 0', (entry) => entry.writeUInt32LE(0, 20)],
    ['an unknown method', (entry) => entry.writeUInt16LE(99, 10)],
    ['stored instead of packed', (entry) => entry.writeUInt16LE(0, 10)],
    ['names that reach behind the directory', (entry) => entry.writeUInt16LE(0xffff, 28)],
  ]
  for (const [name, lie] of lies) {
    const { status } = await read(withDirectory(whole, lie))
    // The end of what is packed is known from its content, so a size that is too large does no harm.
    assert.equal(status, name === 'packed sizes of 4 GiB' ? 200 : 422, name)
  }
})

test('a part that unpacks to more than 200 times its size is refused before it is unpacked', async (t) => {
  const read = startReader(t)
  const bomb = await archive(sheetOf(repeat(`<row>${' '.repeat(50_000)}</row>`, 1_000)))
  assert.ok(bomb.length < 100_000, `${bomb.length} bytes`)
  const answer = await read(bomb)
  assert.equal(answer.status, 413)
  assert.equal(
    (await read(await archive({ ...SMALL, ...sheetOf(repeat(ROW.repeat(1_000), 20)) }))).count,
    20_000,
  )
})

test('rows that are much longer than the bytes they take are refused', async (t) => {
  const read = startReader(t)
  const long = textsOf(`<si><t>${'x'.repeat(60_000)}</t></si>`)
  const references = '<c t="s"><v>0</v></c>'
  const { rows } = await read(
    await archive({ ...sheetOf(`<row r="1">${references.repeat(20)}</row>`), ...long }),
  )
  assert.deepEqual(rows, [{ number: 1, fault: 'is longer than 1 MiB' }])

  const many: [string, Parts][] = [
    ['texts', { ...sheetOf(repeat(`<row>${references}</row>`, 1_000)), ...long }],
    ['empty cells', sheetOf(repeat('<row><c r="ALK1"><v>1</v></c></row>', 20_000))],
    ['a text in pieces', sheetOf(`<row><c><v>${'a<!---->'.repeat(70_000)}</v></c></row>`)],
    ['a long text', textsOf(`<si><t>${'x'.repeat(70_000)}</t></si>`)],
    ['two million texts', textsOf('<si/>'.repeat(2_000_001))],
  ]
  for (const [name, parts] of many) {
    assert.equal((await read(await archive({ ...SMALL, ...parts }))).status, 413, name)
  }
  const closed = await read(
    await archive({ ...SMALL, ...sheetOf(`${ROW}${'</row>'.repeat(1_000)}`) }),
  )
  assert.equal(closed.count, 1)
})

/** Quadratic time for this many characters is a tenth of a second. */
const LENGTH = 8_192

const escaped = (text: string) => text.replace(/[<>&"]/g, (one) => `&#${one.codePointAt(0)};`)

const KEPT = `${BOOK['xl/_rels/workbook.xml.rels']}`

/** A workbook with the text at every place that is read. */
function bookWith(text: string): Parts {
  const raw = escaped(text)
  const rows = [
    `<row r="${raw}">`,
    `<c r="${raw}" s="${raw}" t="${raw}"><v>${raw}</v></c>`,
    '</row>',
  ]
  return {
    ...sheetOf(rows.join('')),
    ...textsOf(`<si><t>${raw}</t></si>`),
    'xl/workbook.xml': `<sheets><sheet state="${raw}" r:id="x"/><sheet r:id="rId1"/></sheets>`,
    'xl/_rels/workbook.xml.rels': KEPT.replace('>', `><Relationship Id="${raw}" Target="${raw}"/>`),
    'xl/styles.xml': `<numFmts><numFmt numFmtId="200" formatCode="${raw}"/></numFmts><cellXfs>${'<xf numFmtId="200"/>'.repeat(100)}</cellXfs>`,
  }
}

const BOOKS: [string, (text: string) => Parts][] = [
  ['the values', bookWith],
  ['the markup', (text) => sheetOf(`<row>${text}</row><row ${text}="1" r="1"/>`)],
]

for (const [i, [name, partsWith]] of BOOKS.entries())
  test(`${name} of a workbook: long runs of any character or pair of separators are read in linear time`, async (t) => {
    const read = startReader(t)
    const slow = await findSlowRuns(
      async (text) => read(await archive(partsWith(text))),
      () => LENGTH,
      unitsFor(i),
    )
    assert.deepEqual(slow, [])
  })

test('a zip archive whose bytes or directory are a run of any character is read in linear time', async (t) => {
  const read = startReader(t)
  const ofRun = (text: string) => {
    const end = Buffer.alloc(22)
    end.write('PK\x05\x06', 'latin1')
    end.writeUInt16LE(2_000, 10)
    end.writeUInt32LE(Math.min(text.length, 1_048_576), 12)
    return Buffer.concat([Buffer.from(text, 'latin1'), end])
  }
  assert.deepEqual(
    await findSlowRuns(
      (text) => read(ofRun(text)),
      () => LENGTH,
      unitsFor(BOOKS.length),
    ),
    [],
  )
  assert.equal(
    (await read(Buffer.from(`PK\x03\x04${'PK\x05\x06'.repeat(20_000)}`, 'latin1'))).status,
    422,
  )
})

test('tags of a mebibyte cost as much as short ones', async (t) => {
  const read = startReader(t)
  const cost = async (length: number) => {
    const tag = `<row a="${'b>'.repeat(length / 2)}"></row>`
    const file = await archive(sheetOf(repeat(tag, 8_000_000 / length)))
    return Math.min(await measureCpuMs(() => read(file)), await measureCpuMs(() => read(file)))
  }
  const [short, long] = [await cost(1_000), await cost(1_000_000)]
  assert.ok(long < 4 * short + 50, `${long} ms instead of ${short} ms`)
})
