import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { STUDENT_WORDS } from '../../src/reports/catalog/conditions.ts'
import type { SeriesChart } from '../../src/reports/chart.ts'
import {
  isLandscape,
  layOutColumns,
  maxTextWidth,
} from '../../src/reports/formats/column-widths.ts'
import { drawChart, drawCharts } from '../../src/reports/formats/draw-chart.ts'
import { cellWriters, describeScope } from '../../src/reports/formats/format-values.ts'
import { dropEmptySeries } from '../../src/reports/formats/xlsx-charts.ts'
import { write } from '../../src/reports/formats/formats.ts'
import { groupedColumns } from '../../src/reports/grouping.ts'
import { MEASURES, measureColumn } from '../../src/reports/measures.ts'
import type { Column, ReportResult } from '../../src/reports/report.ts'
import { withTotals } from '../../src/reports/totals.ts'
import { translateResult } from '../../src/reports/translate.ts'
import { wordsOf } from '../../src/reports/words.ts'
import { readPages, readXlsx } from './read-back.ts'
import { sampleResult } from './sample-result.ts'

const SHOWN = ['appointments', 'kept', 'missed', 'cancelled', 'bookedMinutes', 'revenue'] as const
const COLUMNS: Column[] = [
  { name: 'date', label: 'Date', type: 'date', width: 10 },
  { name: 'weekday', label: 'Weekday', type: 'text', width: 7, fixedWords: true },
  ...SHOWN.map((measure) => measureColumn(measure)),
]

/** The result of a summary report with this many days. */
function summaryOf(days: number): ReportResult {
  const first = Temporal.PlainDate.from('2026-10-01')
  const cells = Array.from({ length: days }, (_, i) => {
    const date = first.add({ days: i })
    return [
      date.toString(),
      date.toLocaleString('en', { weekday: 'short' }),
      30,
      25,
      2,
      3,
      1_200,
      3_415.5,
    ]
  })
  async function* batches() {
    yield cells
  }
  const { rows, totals } = withTotals(COLUMNS, batches())
  const definitions = Object.values(MEASURES).map(({ label, definition }): [string, string] => [
    label,
    definition,
  ])
  return {
    ...sampleResult(0),
    columns: COLUMNS,
    rows,
    totals,
    definitions: definitions.slice(0, 9),
  }
}

const print = async (format: 'pdf' | 'html' | 'xlsx', result: ReportResult) =>
  buffer(Readable.from(write(format, result, 'A4')))

test('a month fits one page, with its tiles, charts, totals and definitions', async () => {
  const { pages } = await readPages(await print('pdf', summaryOf(31)))
  assert.equal(pages.length, 1)
  for (const text of ['2026-10-01', '2026-10-31', 'Total', 'Whatthefigurescount']) {
    assert.ok(pages[0]!.includes(text), text)
  }
})

for (const days of [47, 52, 90]) {
  test(`with ${days} rows, the definitions are on a page with rows and a header`, async () => {
    const { pages } = await readPages(await print('pdf', summaryOf(days)))
    const last = pages.at(-1)!
    assert.ok(last.includes('Whatthefigurescount'))
    assert.ok(last.includes('Weekday'), 'a header')
    assert.match(last, /2026-1[0-2]-\d\d/)
    assert.equal(pages.join('').match(/Whatthefigurescount/g)!.length, 1)
  })
}

const chart: SeriesChart = {
  kind: 'bar',
  name: 'services',
  title: 'Appointments by service',
  labels: ['Physiotherapy after surgery', 'Massage'],
  unit: 'count',
  stacked: true,
  series: [
    { name: 'Kept', tone: 'kept', values: [30, 5] },
    { name: 'No-show', tone: 'missed', values: [3, 1] },
    { name: 'Cancelled', tone: 'cancelled', values: [2, 1] },
    { name: 'Not closed', tone: 'unclosed', values: [0, 0] },
    { name: 'Booked ahead', tone: 'ahead', values: [4, 2] },
  ],
}

test('each outcome has its colour, future values are hollow, and series without values are omitted', () => {
  const svg = drawChart(chart, { width: 360, height: 150 })
  for (const color of ['#3c7765', '#a83a2a', '#b9beb9']) assert.ok(svg.includes(`fill="${color}"`))
  assert.match(svg, /fill="#ffffff" stroke="#858e88"/)
  assert.doesNotMatch(svg, /Not closed/)
})

test('bars with names are horizontal, so that no name is cut', () => {
  const [horizontal] = drawCharts([{ ...chart, named: true }])
  assert.ok(horizontal!.includes('>Physiotherapy after surgery<'))
  const vertical = drawChart(chart, { width: 200, height: 150 })
  assert.ok(!vertical.includes('>Physiotherapy after surgery<'))
})

test('on a phone, bars are horizontal if their names do not fit, and some month labels are omitted', () => {
  const names = ['under 2 h', '2–24 h', '1–3 days', '3–7 days', '1–4 weeks', 'longer']
  const values = names.map((_, i) => i + 1)
  const notice = { ...chart, labels: names, series: [{ name: 'Cancelled', values }] }
  const [narrow] = drawCharts([notice], { room: 'phone' })
  for (const name of names) assert.ok(narrow!.includes(`>${name}<`), name)
  const labels = Array.from({ length: 12 }, (_, i) => `2026-${String(i + 1).padStart(2, '0')}`)
  const months = { ...chart, labels, series: [{ name: 'Kept', values: labels.map(() => 3) }] }
  const [year] = drawCharts([months], { room: 'phone' })
  assert.ok(year!.includes('>Jan 2026<') && !year!.includes('…'))
})

test('on a phone, charts fit the width and the table scrolls', async () => {
  const html = String(await print('html', summaryOf(3)))
  assert.match(html, /<div class="narrow"><svg [^>]*width="300"/)
  assert.match(html, /max-width: 640px[^]*\.rows \{ overflow: auto; max-height: 480px; \}/)
})

test('phone numbers do not wrap, and a table with many columns has a smaller font', async () => {
  const text: Column = { name: 'staff', label: 'Staff', type: 'text', width: 10 }
  const htmlOf = async (columns: Column[], first = 'Anna') => {
    async function* batches() {
      yield [columns.map((_, i) => (i === 0 ? first : ''))]
    }
    const { rows, totals } = withTotals(columns, batches())
    return String(await print('html', { ...summaryOf(0), columns, rows, totals }))
  }
  const html = await htmlOf([text, { ...text, name: 'other' }])
  assert.ok(html.includes('<td><bdi>Anna</bdi></td><td></td>') && !html.includes('class="many"'))
  const phone = await htmlOf([{ ...text, name: 'phone' }], '+41 44 658 95 69')
  assert.ok(phone.includes('<td class="d"><bdi>+41 44 658 95 69</bdi></td>'))
  const many = Array.from({ length: 11 }, (_, i) => ({ ...text, name: `text${i}` }))
  assert.ok((await htmlOf(many)).includes('<table class="many">'))
})

test('long names are above their bars on a phone, and a bar without a value shows none', () => {
  const labels = ['Booked too late for a reminder (not compared)', 'Reached by a reminder']
  const bars = { ...chart, named: true, labels, series: [{ name: 'Rate', values: [null, 4] }] }
  const [drawn] = drawCharts([bars], { room: 'phone' })
  for (const name of labels) assert.ok(drawn!.includes(`>${name}</text>`), name)
  assert.ok(!drawn!.includes('>0</text>') && drawn!.includes('>4</text>'))
})

test('the label of the last day is not cut at the edge of a chart', () => {
  const labels = Array.from({ length: 31 }, (_, i) => `10-${String(i + 1).padStart(2, '0')}`)
  const days = { ...chart, labels, series: [{ name: 'Clients', values: labels.map(() => 3) }] }
  for (const locale of ['en', 'de', 'fr']) {
    const [drawn] = drawCharts([days], { room: 'phone', locale })
    const texts = [...drawn!.matchAll(/<text x="([\d.]+)"[^>]*anchor="(\w+)"[^>]*>([^<]+)</g)]
    assert.ok(texts.length > 5)
    for (const [, x, anchor, text] of texts) {
      const right = Number(x) + (anchor === 'middle' ? text!.length * 2.7 : 0)
      assert.ok(right <= 300, `${text} ends at ${right}`)
    }
  }
})

test('a report has the colour and the logo of the business', async () => {
  // A white pixel.
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII='
  const result = { accentColor: '#7a1f5c', logo: { type: 'image/png', data } }
  const html = String(await print('html', { ...summaryOf(2), ...result }))
  assert.ok(html.includes('--accent: #7a1f5c') && html.includes(`data:image/png;base64,${data}`))
  const { pages } = await readPages(await print('pdf', { ...summaryOf(2), ...result }))
  assert.equal(pages.length, 1)
})

test('a German report has German words and numbers in every file', async () => {
  const german = () => translateResult({ ...summaryOf(3), locale: 'de' })
  const { pages } = await readPages(await print('pdf', german()))
  const shown = ['Terminliste', 'Wochentag', '01.10.2026', 'Do', '3.415,50', 'Summe', 'Seite1von1']
  for (const text of shown) {
    assert.ok(pages[0]!.includes(text), `${text} in ${pages[0]}`)
  }
  const html = String(await print('html', german()))
  assert.ok(html.includes('<html lang="de">') && html.includes('Was die Zahlen zählen'))
  const { sheets, labels } = readXlsx(await print('xlsx', german()))
  assert.deepEqual(
    sheets.map(({ name }) => name),
    ['Übersicht', 'Terminliste', 'Diagramme'],
  )
  assert.equal(labels[1], 'Wochentag')
})

test('a German report translates the words of the service, but not names in the data', async () => {
  const bars = { ...chart, named: true, labels: ['Cancelled', 'Class'] }
  const words = { ...chart, fixedWords: true as const, labels: ['Absent'] }
  const { charts } = translateResult({ ...summaryOf(1), charts: [bars, words], locale: 'de' })
  assert.deepEqual(
    charts.map((one) => one.kind !== 'heatmap' && one.labels),
    [['Cancelled', 'Class'], ['Abwesend']],
  )
  const columns = groupedColumns(['service', 'month'], {})
  const write = cellWriters({ ...sampleResult(0), columns, locale: 'de' })
  const cells = ['Class', 'None', 'Massage'].map((cell) => write[0]!(cell, []))
  assert.deepEqual(cells, ['Class', 'Ohne', 'Massage'])
  const students: Column = { ...columns[0]!, fixedWords: STUDENT_WORDS }
  const countOf = cellWriters({ ...sampleResult(0), columns: [students], locale: 'de' })[0]!
  const counts = ['1 student', '12 students', '2 Brothers'].map((cell) => countOf(cell, []))
  assert.deepEqual(counts, ['1 Teilnehmer/in', '12 Teilnehmende', '2 Brothers'])
  const status: Column = {
    name: 'status',
    label: 'Status',
    type: 'text',
    width: 9,
    fixedWords: 'status',
  }
  const french = cellWriters({ ...sampleResult(0), columns: [status], locale: 'fr' })[0]!
  const labels = ['Cancelled', 'Waiting'].map((cell) => french(cell, []))
  assert.deepEqual(labels, ['Annulé', 'Waiting'], 'a custom label is not translated')
  assert.equal(write[1]!('2026-10', []), '10.2026')
})

test('a table without text columns has the width of the page', () => {
  const figures = COLUMNS.filter(({ type }) => type !== 'text')
  const cells = [['2026-10-01', '30', '25', '2', '3', '1,200', '3,415.50']]
  for (const columns of [figures, figures.slice(0, 4)]) {
    const laidOut = layOutColumns(columns, cells, { paper: 'a4', flipped: false })
    const width = laidOut.columns.reduce((sum, { points }) => sum + points, 0)
    assert.ok(Math.abs(width - 515) < 1, String(width))
  }
})

test('a text column is wide enough for its label, and for a single long value of a short list', () => {
  const widthOf = (label: string, cells: string[]) => {
    const texts: Column[] = [10, 30, 30].map((width, i) => ({
      ...COLUMNS[1]!,
      label: 'Client',
      width,
      name: `${i}`,
    }))
    const columns = texts.with(0, { ...texts[0]!, label, width: 5 })
    const rows = cells.map((cell) => [cell, ...Array(2).fill('Maximiliane von Hohenstein-Ettal')])
    const laidOut = layOutColumns(columns, rows, { paper: 'a4', flipped: false })
    return laidOut.columns[0]!.points - 8
  }
  assert.ok(widthOf('Première visite', ['', '']) >= 8 * 4.6)
  const states = [...Array(7).fill('Fait'), 'Réservé']
  assert.ok(widthOf('État', states) >= 0.8 * maxTextWidth('Réservé'), 'in one line')
})

test('a month with two currencies fits a portrait page in every language, and one with millions a landscape page', () => {
  const counts = ['appointments', 'kept', 'missed', 'cancelled', 'unclosed', 'ahead'] as const
  const amounts = ['revenue', 'aheadValue'] as const
  for (const locale of ['en', 'de', 'fr']) {
    const { say } = wordsOf(locale)
    const columns = [
      ...COLUMNS.slice(0, 2),
      ...[...counts, 'bookedMinutes' as const].map((measure) => measureColumn(measure)),
      ...amounts.flatMap((measure) => [measureColumn(measure), measureColumn(measure)]),
    ].map((column) => {
      const currency = column.type === 'money' ? ' (CHF)' : ''
      return { ...column, label: `${say(column.label)}${currency}` }
    })
    const widthWith = (money: string, flipped: boolean) => {
      const cells: Record<string, string> = { text: 'Mo', date: '01.11.2026', money }
      const row = columns.map(({ type }) => cells[type] ?? '1.200')
      assert.equal(isLandscape(columns, [row]), flipped, `${locale} ${money}`)
      const laidOut = layOutColumns(columns, [row], { paper: 'a4', flipped })
      return laidOut.columns.reduce((sum, { points }) => sum + points, 0)
    }
    assert.ok(widthWith('3.326,00', false) < 516, locale)
    assert.ok(widthWith('12.345.678,00', true) < 763, locale)
    // The font is very small, but no column is beyond the edge of the page.
    assert.ok(widthWith('1.234.567.890.123.456.789.012,00', true) < 763, locale)
  }
})

test('a workbook opens on its summary, in which each figure has its unit', async () => {
  const { sheets, charts } = readXlsx(await print('xlsx', summaryOf(3)))
  const cells = sheets[0]!.lines.flat()
  for (const text of ['Unit', 'number', '%']) assert.ok(cells.includes(text), text)
  assert.equal(charts, 2)
})

test('the amounts of a workbook have the decimals of their currency', async () => {
  const columns = ['CHF', 'JPY', 'KWD'].map((currency) =>
    measureColumn('revenue', { name: currency, currency }),
  )
  async function* batches() {
    yield [[3_415.5, 9_000, 1.234]]
  }
  const { rows, totals } = withTotals(columns, batches())
  const { formats } = readXlsx(await print('xlsx', { ...summaryOf(0), columns, rows, totals }))
  for (const line of formats.slice(1)) assert.deepEqual(line, ['#,##0.00', '#,##0', '#,##0.000'])
  assert.equal(formats.length, 3)
})

test('the amounts of a list in a workbook have the decimals of the currency of their row', async () => {
  const columns = [
    measureColumn('revenue', { currencyIn: 'currency' }),
    { name: 'currency', label: 'Currency', type: 'text', width: 5 } as const,
  ]
  async function* batches() {
    yield [
      [3_415.5, 'CHF'],
      [9_000, 'JPY'],
      [1.234, 'KWD'],
    ]
  }
  const { rows, totals } = withTotals(columns, batches())
  const { formats } = readXlsx(await print('xlsx', { ...summaryOf(0), columns, rows, totals }))
  assert.deepEqual(
    formats.slice(1, 4).map(([amount]) => amount),
    ['#,##0.00', '#,##0', '#,##0.000'],
  )
})

test('each chart of a workbook prints on one page, without series that have no values', async () => {
  const labels = Array.from({ length: 31 }, (_, i) => String(i + 1))
  const month = { ...chart, labels, series: [{ name: 'Kept', values: labels.map(() => 3) }] }
  const bytes = await print('xlsx', { ...summaryOf(3), charts: [month, { ...month, name: 'b' }] })
  const { $ } = readXlsx(bytes).sheets[2]!
  assert.notEqual($('pageSetUpPr').attr('fitToPage'), '1')
  // The table of the first chart ends in row 34: the second chart begins on a new page.
  assert.deepEqual(
    $('rowBreaks brk')
      .toArray()
      .map((cut) => $(cut).attr('id')),
    ['35'],
  )
  // Columns without a width are wider in some programs, which would cut the chart.
  const widths = Array.from({ length: 14 }, (_, i) =>
    Number(
      $('cols col')
        .filter(
          (_, col) => Number($(col).attr('min')) <= i + 1 && i + 1 <= Number($(col).attr('max')),
        )
        .attr('width'),
    ),
  )
  assert.ok(widths.every((width) => width >= 9))
  const pixels = widths.reduce((sum, width) => sum + 7 * width + 5, 0)
  const scale = Number($('pageSetup').attr('scale'))
  assert.ok((pixels * scale) / 100 <= 900, `${pixels} pixels at ${scale} %`)
  const dropped = dropEmptySeries(chart)
  assert.ok(dropped.kind === 'bar' && dropped.series.every(({ name }) => name !== 'Not closed'))
})

test('a report without earlier figures does not name a period that it is compared with', () => {
  const result = summaryOf(3)
  const labels = (shown: ReportResult) => describeScope(shown).map(([label]) => label)
  assert.ok(labels(result).includes('Compared with'))
  const kpis = result.kpis.map((one) => ({ ...one, previous: null }))
  assert.ok(!labels({ ...result, kpis }).includes('Compared with'))
})
