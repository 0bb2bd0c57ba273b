import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { REPORT_FORMATS, type ReportFormat } from '../../src/contract/report.ts'
import { contrast } from '../../src/email/colors.ts'
import { drawChart } from '../../src/reports/formats/draw-chart.ts'
import { write } from '../../src/reports/formats/formats.ts'
import { layOutTiles } from '../../src/reports/formats/pdf.ts'
import { withTotals } from '../../src/reports/totals.ts'
import { NAMES, sampleResult, sampleRow } from './sample-result.ts'
import { readCsv, readHtml, readJson, readPages, readXlsx } from './read-back.ts'

const ROWS = 63
const LABELS = ['Date', 'Time', 'Client', 'Service', 'Staff', 'Status', 'Min', 'Price', 'Share']
const rows = Array.from({ length: ROWS }, (_, i) => sampleRow(i))
const minutes = rows.reduce((sum, row) => sum + Number(row[6]), 0)
const price = Math.round(rows.reduce((sum, row) => sum + 100 * Number(row[7]), 0)) / 100
const share = Math.round((1000 * price) / minutes) / 10

test('JSON holds every row as data, and the totals', async () => {
  const read = readJson(await printed('json'))
  assert.deepEqual(read.labels, LABELS)
  assert.deepEqual(
    read.rows,
    rows.map((row) => row.map((cell) => String(cell ?? ''))),
  )
  assert.deepEqual(read.totals, ['', '', '', '', '', '', `${minutes}`, `${price}`, `${share}`])
})

test('CSV holds the same rows, in the form of RFC 4180, with a byte order mark', async () => {
  const bytes = await printed('csv')
  const read = readCsv(bytes)
  assert.deepEqual(bytes.subarray(0, 3), Buffer.from([0xef, 0xbb, 0xbf]))
  assert.equal(
    String(bytes)
      .replaceAll('\r\n', '')
      .search(/[\r\n]/),
    -1,
  )
  assert.deepEqual(read.labels, LABELS)
  const unmasked = read.rows.map((row) => row.map((cell) => cell.replace(/^'(?=[=+\-@])/, '')))
  assert.deepEqual(
    unmasked,
    rows.map((row) => row.map((cell) => String(cell ?? ''))),
  )
})

test('no field of a CSV file looks like a formula', async () => {
  const read = readCsv(await printed('csv'))
  const clients = read.rows.map((row) => row[2]!)
  assert.ok(clients.some((client) => client.startsWith("'=HYPERLINK(")))
  for (const client of clients) assert.doesNotMatch(client, /^[=+\-@\t\r]/)
})

for (const name of [' =1+1', '\u00a0@SUM(1)', '\t+1', '＝1+1']) {
  test(`a CSV field that is ${JSON.stringify(name)} does not begin like a formula`, async () => {
    const result = sampleResult(0)
    async function* rows() {
      yield [sampleRow(0).with(2, name)]
    }
    const bytes = await drain('csv', { ...result, rows: rows() })
    assert.equal(readCsv(bytes).rows[0]![2], `'${name}`)
  })
}

test('HTML holds the same rows and totals, as text', async () => {
  const bytes = await printed('html')
  const read = readHtml(bytes)
  assert.deepEqual(read.labels, LABELS)
  const removeBidiControls = (cell: string) => cell.replaceAll('\u202e', '')
  assert.deepEqual(
    read.rows,
    rows.map((row) => displayed(row).map(removeBidiControls)),
  )
  assert.deepEqual(
    read.totals!.slice(-3),
    displayed(['', '', '', '', '', '', minutes, price, share]).slice(-3),
  )
  assert.doesNotMatch(String(bytes), /<script|\bsrc=|\bhref="(?!#)|url\((?!#)|@import/)
  // Each chart for a wide page and for a phone.
  assert.equal(String(bytes).match(/<svg/g)!.length, 4)
})

test('a workbook holds the same rows as real dates and numbers, and totals as formulas', async () => {
  const read = readXlsx(await printed('xlsx'))
  assert.deepEqual(read.labels, LABELS)
  assert.equal(read.rows.length, ROWS)
  read.rows.forEach((row, i) => {
    const [date, time, client, service, staff, status, ...figures] = rows[i]!
    assert.equal((row[0] as Date).toISOString().slice(0, 10), date)
    assert.equal((row[1] as Date).toISOString().slice(11, 16), time)
    assert.deepEqual(
      row.slice(2, 6).map((cell) => cell ?? null),
      [client, service, staff, status],
    )
    assert.deepEqual(row.slice(6), figures)
  })
  assert.equal(read.totals[0], 'Total')
  assert.deepEqual(read.totals.slice(6), [minutes, price, share])
  assert.deepEqual(
    read.formulas.map(({ formula }) => formula),
    [
      `SUBTOTAL(109,G2:G${ROWS + 1})`,
      `SUBTOTAL(109,H2:H${ROWS + 1})`,
      `IF(SUBTOTAL(109,G2:G${ROWS + 1})=0,"",ROUND(100*SUBTOTAL(109,H2:H${ROWS + 1})/SUBTOTAL(109,G2:G${ROWS + 1}),1))`,
    ],
  )
})

test('a workbook has a frozen and filtered header, a sheet of figures and one of charts', async () => {
  const { sheets, charts, $ } = readXlsx(await printed('xlsx'))
  assert.equal($('pane').attr('state'), 'frozen')
  assert.equal($('autoFilter').attr('ref'), `A1:I${ROWS + 1}`)
  assert.deepEqual(
    sheets.map(({ name }) => name),
    ['Summary', 'Appointment list', 'Charts'],
  )
  assert.equal(charts, 2)
  assert.ok(Number($('cols col[min=3]').attr('width')) > 20)
})

test('no cell of a workbook becomes a formula through its data', async () => {
  const { formulas } = readXlsx(await printed('xlsx'))
  assert.deepEqual(
    formulas.map(({ row }) => row),
    [ROWS + 2, ROWS + 2, ROWS + 2],
  )
})

test('a PDF holds the same rows and totals, with its headings and numbers on every page', async () => {
  const { title, pages } = await readPages(await printed('pdf'))
  const text = pages.join('')
  assert.equal(title, 'Appointment list')
  pages.forEach((page, i) => {
    assert.ok(page.includes(`Page${i + 1}of${pages.length}`))
    assert.ok(page.includes(LABELS.slice(0, 4).join('')) || i === pages.length - 1)
  })
  for (const row of rows) assertPrinted(text, row)
  const totals = displayed([null, null, null, null, null, null, minutes, price, share]).join('')
  assert.ok(text.includes(`Total${totals}`.replaceAll(' ', '')))
})

test('a long PDF is printed in parts: every row once, in order, with continuous page numbers', async () => {
  const { pages } = await readPages(await printed('pdf', 1_750))
  const dates = pages.join('').match(/2026-09-\d\d(?=\d\d:\d\d)/g)!
  assert.deepEqual(
    dates,
    Array.from({ length: 1_750 }, (_, i) => sampleRow(i)[0]),
  )
  pages.forEach((page, i) => assert.ok(page.includes(`Page${i + 1}of${pages.length}`)))
  // All pages are full: the boundary between two parts must not be visible.
  const rowsOn = pages.slice(1, -2).map((page) => page.match(/2026-09-\d\d(?=\d\d:\d\d)/g)!.length)
  assert.ok(Math.max(...rowsOn) - Math.min(...rowsOn) <= 6, `rows on pages: ${rowsOn}`)
})

test('no row is lost if a tall row is at the end of a part', async () => {
  const result = sampleResult(0)
  const tall = (i: number) => `n${i} ${'word '.repeat(i % 3 === 0 ? 90 : 1)}end${i}.`
  async function* rows() {
    yield Array.from({ length: 1_100 }, (_, i) => sampleRow(i).with(2, tall(i)))
  }
  const { rows: all, totals } = withTotals(result.columns, rows())
  const { pages } = await readPages(await drain('pdf', { ...result, rows: all, totals }))
  const text = pages.join('')
  for (let i = 0; i < 1_100; i++) {
    assert.equal(text.split(`n${i}word`).length, 2, `row ${i} begins once`)
    assert.equal(text.split(`end${i}.`).length, 2, `row ${i} ends once`)
  }
})

for (const format of REPORT_FORMATS) {
  test(`printing the same report twice as ${format} gives the same bytes`, async () => {
    assert.ok((await printed(format)).equals(await printed(format)))
  })

  test(`a failure while reading rows is an error, as ${format}`, async () => {
    const result = sampleResult(10)
    async function* broken() {
      yield [sampleRow(1)]
      throw new Error('the connection broke')
    }
    await assert.rejects(drain(format, { ...result, rows: broken() }), /the connection broke/)
  })
}

const NO_ROWS = 'Nothing in this period.'

test('a report without rows has its columns and totals of zero, as JSON', async () => {
  const read = readJson(await printed('json', 0))
  assert.deepEqual(read.labels, LABELS)
  assert.deepEqual(read.rows, [])
  assert.deepEqual(read.totals, ['', '', '', '', '', '', '0', '0', ''])
})

test('a report without rows has only the header line, as CSV', async () => {
  assert.deepEqual(readCsv(await printed('csv', 0)), { labels: LABELS, rows: [] })
})

test('a report without rows has a header row and no formula, as a workbook', async () => {
  const { labels, rows, formulas, totals } = readXlsx(await printed('xlsx', 0))
  assert.deepEqual(labels, LABELS)
  assert.deepEqual([rows, formulas, totals], [[], [], []])
})

test('a report without rows says so below its heading, as HTML', async () => {
  const bytes = await printed('html', 0)
  assert.deepEqual(readHtml(bytes), { labels: LABELS, rows: [[NO_ROWS]], totals: [] })
  assert.match(String(bytes), /<h1[^>]*>[^<]*Appointment list/)
})

test('a report without rows says so below its heading, as PDF', async () => {
  const { pages, title } = await readPages(await printed('pdf', 0))
  assert.match(String(title), /Appointment list/)
  const text = pages.join('')
  for (const words of ['Appointment list', 'Praxis Grüner Baum', NO_ROWS]) {
    assert.ok(text.includes(words.replaceAll(' ', '')), words)
  }
  assert.ok(pages.at(-1)!.includes(`Page${pages.length}of${pages.length}`))
})

test('an aborted PDF stops before its next page', async () => {
  const gone = new AbortController()
  async function* endless() {
    yield [sampleRow(1)]
    gone.abort(new Error('the client left'))
    await new Promise(() => {})
  }
  const result = { ...sampleResult(10), rows: endless() }
  const bytes = write('pdf', result, 'A4', gone.signal)
  await assert.rejects(buffer(Readable.from(bytes)), /the client left/)
})

test('a short text does not wrap because another one is long', async () => {
  const result = sampleResult(0)
  const long = 'A name that is as long as any that you will ever have to put on paper, or longer'
  async function* rows() {
    yield Array.from({ length: 40 }, (_, i) => sampleRow(i).with(2, long).with(3, long))
  }
  const { rows: all, totals } = withTotals(result.columns, rows())
  const { pages } = await readPages(await drain('pdf', { ...result, rows: all, totals }))
  assert.equal(pages.join('').split('Dr.ElenaGarcía').length, 41)
})

test('a chart of one day shows its point above its day', () => {
  const svg = drawChart(
    {
      kind: 'line',
      name: 'revenue',
      title: 'Revenue by day',
      unit: 'money',
      labels: ['01'],
      series: [{ name: 'Revenue', values: [5] }],
    },
    { width: 360, height: 200 },
  )
  const point = /<circle cx="([\d.]+)"/.exec(svg)![1]
  assert.ok(svg.includes(`<text x="${point}" y="195" text-anchor="middle"`), svg)
})

test('a bar of a share is as long as its part of the whole, also if it is the only one', () => {
  const widthOf = (unit: 'percent' | 'count', value: number) => {
    const labels = ['Spring']
    const series = [{ name: 'Booked', values: [value] }]
    const parts = { kind: 'bar', named: true, name: 'booked', title: 'Booked' } as const
    const svg = drawChart({ ...parts, unit, labels, series }, { width: 740, height: 60 })
    return Number(/<rect [^>]*width="([\d.]+)"/.exec(svg)![1])
  }
  const whole = widthOf('count', 100)
  assert.equal(Math.round((100 * widthOf('percent', 25)) / whole), 25)
  assert.equal(Math.round(widthOf('percent', 250)), Math.round(widthOf('count', 250)))
})

test('every number of a heat map is legible on its cell', () => {
  const values = Array.from({ length: 20 }, (_, i) => i + 1)
  const columns = values.map(String)
  const svg = drawChart(
    { kind: 'heatmap', name: 'hours', title: 'Hours', rows: ['Mon'], columns, values: [values] },
    { width: 740, height: 60 },
  )
  const cells = [...svg.matchAll(/ fill="(#\w+)"\/><text [^>]*fill="(#\w+)"/g)]
  assert.equal(cells.length, 20)
  for (const [, cell, text] of cells) assert.ok(contrast(cell!, text!) >= 4.5, `${text} on ${cell}`)
})

test('the values of tiles have one size, except long names', () => {
  const { perRow, sizes } = layOutTiles(
    ['670', 'CHF 51,161.00', '£11,090.00', '6.0 %', '12'],
    false,
  )
  assert.equal(perRow, 3)
  assert.deepEqual([...new Set(sizes)], [14])
  const long = layOutTiles(['670', 'Physiotherapy after an operation of the knee', '2', '3'], false)
  assert.deepEqual([...new Set(long.sizes)], [14, 8])
  assert.equal(layOutTiles(Array<string>(6).fill('1'), true).perRow, 6)
  assert.equal(layOutTiles(Array<string>(7).fill('1'), true).perRow, 4)
  assert.deepEqual(layOutTiles([], false).sizes, [])
})

test('a chart without values is not drawn', async () => {
  const result = sampleResult(0)
  const blank = result.charts.map((chart) =>
    chart.kind === 'heatmap'
      ? chart
      : { ...chart, series: chart.series.map((one) => ({ ...one, values: [0, null] })) },
  )
  const bytes = await drain('html', { ...result, charts: blank })
  assert.doesNotMatch(String(bytes), /<svg/)
})

test('a report without figures has no heading for their definitions', async () => {
  const bytes = await drain('html', { ...sampleResult(0), definitions: [] })
  assert.doesNotMatch(String(bytes), /What the figures count/)
  assert.match(String(await printed('html')), /What the figures count/)
})

test('a Letter page has the width of Letter', async () => {
  const bytes = await buffer(Readable.from(write('pdf', sampleResult(3), 'Letter')))
  assert.match(bytes.toString('latin1'), /\/MediaBox \[0 0 792 612\]/)
})

test('a PDF has tags for headings, header cells and chart descriptions', async () => {
  const bytes = await printed('pdf', 12)
  const plain = bytes.toString('latin1')
  assert.match(plain, /\/Marked true/)
  assert.match(plain, /\/DisplayDocTitle true/)
  assert.match(plain, /\/Lang \(en\)/)
  const tags = readTags(bytes)
  const count = (kind: string) => tags.split(`/S /${kind}\n`).length - 1
  assert.equal(count('H1'), 1)
  assert.equal(count('H2'), 3) // Two charts and the definitions.
  assert.equal(count('Table'), 1)
  assert.equal(count('TH'), LABELS.length)
  assert.equal(count('TD'), 13 * LABELS.length)
  assert.match(tags, /\/Alt \(Appointments by day: the most is 28 with 37\.\)/)
})

test('the rows on the same PDF page as the definitions have their own header cells', async () => {
  // 53 rows fill two pages, so that the definitions are on a third.
  const tags = readTags(await printed('pdf', 53))
  assert.equal(tags.split('/S /Table\n').length - 1, 2)
  assert.equal(tags.split('/S /TH\n').length - 1, 2 * LABELS.length)
})

test('a PDF of more than 500 rows has no tags, but a title and a language', async () => {
  const plain = (await printed('pdf', 501)).toString('latin1')
  assert.doesNotMatch(plain, /\/StructTreeRoot/)
  assert.match(plain, /\/Title/)
  assert.match(plain, /\/Lang ?\(en\)/)
})

/** The text of all object streams, which contain the tags. */
function readTags(bytes: Buffer) {
  const plain = bytes.toString('latin1')
  return [...plain.matchAll(/\/Type \/ObjStm [^]*?\/Length (\d+) >>\nstream\n/g)]
    .map(({ index, 0: head, 1: length }) => {
      const from = index + head.length
      return inflateSync(bytes.subarray(from, from + Number(length))).toString('latin1')
    })
    .join('')
}

const SCRIPTS: Record<string, string> = {
  NotoSansArmenian: 'Արամ Պետրոսյան',
  NotoSansBengali: 'অনন্যা সেন',
  NotoSansEthiopic: 'አበበ በቀለ',
  NotoSansGeorgian: 'ქეთევან ბერიძე',
  NotoSansGujarati: 'હેત પટેલ',
  NotoSansGurmukhi: 'ਗੁਰਪ੍ਰੀਤ ਕੌਰ',
  NotoSansKannada: 'ಅನಿಲ್ ಗೌಡ',
  NotoSansKhmer: 'សុខ ចាន់',
  NotoSansLao: 'ສົມສັກ ວົງ',
  NotoSansMalayalam: 'അഞ്ജലി മേനോൻ',
  NotoSansMyanmar: 'အောင် မြင့်',
  NotoSansSinhala: 'නිමල් පෙරේරා',
  NotoSansTamil: 'கவிதா குமார்',
  NotoSansTelugu: 'సీత రెడ్డి',
}

test('a PDF embeds our fonts for every script', async () => {
  const result = sampleResult(0)
  const names = [...NAMES, ...Object.values(SCRIPTS)]
  async function* rows() {
    yield names.map((name, i) => sampleRow(i).with(2, name))
  }
  const { rows: all, totals } = withTotals(result.columns, rows())
  const bytes = await drain('pdf', { ...result, rows: all, totals })
  const used = bytes.toString('latin1').matchAll(/\/BaseFont \/\w+\+(\w+)/g)
  const families = new Set([...used].map(([, family]) => family!))
  const ours = ['', 'Arabic', 'Hebrew', 'Thai', 'SC'].map((script) => `NotoSans${script}`)
  assert.deepEqual(
    [...families].toSorted(),
    [...ours, ...Object.keys(SCRIPTS), 'NanumGothic'].toSorted(),
  )
})

test('names in every script are in every text format', async () => {
  const texts = await Promise.all(
    (['json', 'csv', 'html'] as const).map((format) => printed(format)),
  )
  for (const bytes of texts) {
    for (const name of NAMES.slice(0, 10)) assert.ok(String(bytes).includes(name), name)
  }
})

const printed = (format: ReportFormat, rowCount = ROWS) => drain(format, sampleResult(rowCount))

const drain = (format: ReportFormat, result: ReturnType<typeof sampleResult>) =>
  buffer(Readable.from(write(format, result, 'A4')))

function displayed(row: (string | number | null)[]) {
  const [minutes, price, share] = row.slice(6).map(Number)
  const decimals = (value: number, digits: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return [
    ...row.slice(0, 6).map((cell) => String(cell ?? '')),
    minutes!.toLocaleString('en'),
    decimals(price!, 2),
    `${decimals(share!, 1)} %`,
  ]
}

/** Not compared: a PDF stores the letters of these scripts in drawing order. */
const DRAWN_IN_OTHER_ORDER = /[\u0590-\u06ff\u0e00-\u0e7f]/

function assertPrinted(text: string, row: (string | number | null)[]) {
  const cells = displayed(row).map((cell) => cell.replace(/\s|\u202e/g, ''))
  const client = cells[2]!
  const [before, after] = [cells.slice(0, 2).join(''), cells.slice(3).join('')]
  if (DRAWN_IN_OTHER_ORDER.test(client)) {
    assert.ok(text.includes(before) && text.includes(after), cells.join(' '))
  } else if (text.includes(before + client)) {
    assert.ok(text.includes(before + client + after), cells.join(' '))
  } else {
    // A long name wraps to two lines; the other columns are on the first line.
    assert.ok(text.includes(before + client.slice(0, 12)), cells.join(' '))
  }
}

test('a report by person starts a new page for each person in PDF and HTML, also if it is long', async () => {
  const people = ['Ada Abel', 'Ben Bauer', 'Cid Cruz']
  const result = () => {
    async function* batches() {
      for (const name of people) {
        yield Array.from({ length: 400 }, (_, i) => sampleRow(i).with(2, 'Client').with(4, name))
      }
    }
    const { columns, ...sample } = sampleResult(0)
    return { ...sample, columns, newPageAt: 4, ...withTotals(columns, batches()) }
  }
  const { pages } = await readPages(await drain('pdf', result()))
  const named = pages.map((page) =>
    people.filter((name) => page.includes(name.replaceAll(' ', ''))).join(),
  )
  assert.deepEqual([...new Set(named)].filter(Boolean), people)
  const html = String(await drain('html', result()))
  assert.equal(html.split('<tr class="new-page">').length - 1, people.length - 1)
})
