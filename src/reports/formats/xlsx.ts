import { describeScope, sayCell, localTime, writeTotal } from './format-values.ts'
import { countDecimals } from '../../contract/currency-digits.ts'
import { hasValues } from '../chart.ts'
import { isFigure, type Cell, type Column, type KpiResult, type ReportResult } from '../report.ts'
import { wordsOf, type Words } from '../words.ts'
import { withWrittenDates } from './draw-chart.ts'
import { chartParts, chartSheet, dropEmptySeries } from './xlsx-charts.ts'
import { attribute, columnLetters, STYLE, stylesXml, text, textCell, xml } from './xlsx-parts.ts'
import { zip } from './zip.ts'

/**
 * A workbook that is written row by row: figures on the first sheet, rows on the second, charts on the
 * third. Text is written as text cells, so that no data becomes a formula.
 */
export async function* toXlsx(result: ReportResult): AsyncIterable<Uint8Array> {
  const { say } = wordsOf(result.locale)
  const chartSheetName = sheetName(say('Charts'))
  const shown = result.charts
    .filter(hasValues)
    .map((chart) => dropEmptySeries(withWrittenDates(chart, result.locale)))
  const charts = chartParts(shown, chartSheetName)
  const sheetNames = [
    sheetName(say('Summary')),
    sheetName(result.report.reportName),
    ...(charts.length ? [chartSheetName] : []),
  ]
  const counted = { rows: 0 }

  yield* zip([
    { name: '[Content_Types].xml', content: [contentTypes(sheetNames.length, charts.length)] },
    { name: '_rels/.rels', content: [ROOT_RELATIONS] },
    { name: 'docProps/core.xml', content: [coreProperties(result)] },
    { name: 'xl/styles.xml', content: [stylesXml(datePatternOf(result.locale))] },
    { name: 'xl/worksheets/sheet1.xml', content: [summarySheet(result)] },
    { name: 'xl/worksheets/sheet2.xml', content: rowsSheet(result, counted) },
    ...(charts.length
      ? [
          { name: 'xl/worksheets/sheet3.xml', content: [chartSheet(shown)] },
          { name: 'xl/worksheets/_rels/sheet3.xml.rels', content: [CHART_SHEET_RELATIONS] },
          ...charts,
        ]
      : []),
    // Written last: it contains the range of the filter.
    {
      name: 'xl/workbook.xml',
      content: later(() => workbook(sheetNames, result.columns.length, counted.rows)),
    },
    { name: 'xl/_rels/workbook.xml.rels', content: [workbookRelations(sheetNames.length)] },
  ])
}

function* later(write: () => string) {
  yield write()
}

/** The limit of Excel, without the header and the totals. */
const MAX_ROWS = 1_048_574

async function* rowsSheet(result: ReportResult, counted: { rows: number }) {
  const { columns } = result
  const writers = columns.map((_, i) => cellWriter(i, result))
  const last = columnLetters(columns.length - 1)
  let started = false

  for await (const batch of result.rows) {
    if (!started) yield sheetHead(columns, widthsOf(columns, batch))
    started = true
    let lines = ''
    for (const row of batch) {
      const n = (counted.rows += 1) + 1
      lines += `<row r="${n}">`
      for (const write of writers) lines += write(row, n)
      lines += '</row>'
    }
    if (counted.rows > MAX_ROWS)
      throw new Error('the report has more rows than the 1,048,576 of a sheet')
    yield lines
  }
  if (!started) yield sheetHead(columns, widthsOf(columns, []))

  yield totalsRow(result, counted.rows)
  yield `</sheetData><autoFilter ref="A1:${last}${counted.rows + 1}"/>`
  yield '<pageMargins left="0.5" right="0.5" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>'
  yield '<pageSetup orientation="landscape" fitToHeight="0"/>'
  yield pageFooter(result.locale)
  yield '</worksheet>'
}

/** Name of the sheet and number of the page. */
export function pageFooter(locale: string) {
  const { say } = wordsOf(locale)
  return `<headerFooter><oddFooter>&amp;L&amp;A&amp;R${text(say('Page'))} &amp;P ${text(say('of'))} &amp;N</oddFooter></headerFooter>`
}

/** Excel restricts the name of a sheet. */
const sheetName = (name: string) => name.replace(/[\\/?*[\]:']/g, ' ').slice(0, 31)

function sheetHead(columns: Column[], widths: number[]) {
  const labels = columns.map(({ label, type }, i) =>
    textCell(`${columnLetters(i)}1`, label, isFigure(type) ? STYLE.headerRight : STYLE.header),
  )
  return xml`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>
<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>
<sheetFormatPr defaultRowHeight="15"/>
<cols>${widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`).join('')}</cols>
<sheetData><row r="1" ht="20" customHeight="1">${labels.join('')}</row>`
}

/** Wide enough for the first rows, with a maximum. */
function widthsOf(columns: Column[], sample: Cell[][]) {
  return columns.map(({ label, width, type }, i) => {
    const written = type === 'dateTime' ? [19] : sample.map((row) => String(row[i] ?? '').length)
    const longest = Math.max(label.length + 3, Math.min(width, 12), ...written)
    return Math.min(48, longest + 2)
  })
}

/** Writes the cell of column `i` of each row. */
function cellWriter(i: number, { columns, parameters, locale }: ReportResult) {
  const column = columns[i]!
  const letters = columnLetters(i)
  const local = localTime(parameters.timeZone)
  const words = wordsOf(locale)
  const style = column.type === 'money' ? moneyStyle(column.currency) : STYLE[column.type]
  const currencyAt = columns.findIndex(({ name }) => name === column.currencyIn)
  const number = (value: number, n: number, own = style) =>
    `<c r="${letters}${n}" s="${own}"><v>${value}</v></c>`

  /** A local time is a number, so that it can be sorted; a month is a text. */
  const dateCell = (iso: string, n: number) => {
    const [date, time] = iso.split(' ')
    const day = time === undefined ? undefined : daySerial(date!)
    return day === undefined
      ? textCell(`${letters}${n}`, words.writeCellDate(iso), style)
      : number(day + timeSerial(time!), n, STYLE.localTime)
  }

  return (row: Cell[], n: number): string => {
    const cell = row[i] ?? null
    if (cell === null || cell === '') return ''
    switch (column.type) {
      case 'text':
        if (column.isDate) return dateCell(String(cell), n)
        return textCell(`${letters}${n}`, sayCell(String(cell), column.fixedWords, words), style)
      case 'date': {
        const day = daySerial(String(cell))
        return day === undefined ? textCell(`${letters}${n}`, String(cell), 0) : number(day, n)
      }
      case 'time':
        return number(timeSerial(String(cell)), n)
      case 'dateTime': {
        const [date, time] = local(Number(cell)).split(' ')
        return number(daySerial(date!)! + timeSerial(time!), n)
      }
      default:
        return currencyAt < 0
          ? number(Number(cell), n)
          : number(Number(cell), n, moneyStyle(String(row[currencyAt])))
    }
  }
}

/** A currency has its own number of decimals: none for JPY, three for KWD. */
function moneyStyle(currency: string | null | undefined) {
  const decimals = countDecimals(currency ?? null)
  return decimals === 0 ? STYLE.integer : decimals === 3 ? STYLE.moneyOfThree : STYLE.money
}

const TOTAL_STYLES = new Map([
  [STYLE.money, STYLE.totalMoney],
  [STYLE.moneyOfThree, STYLE.totalMoneyOfThree],
  [STYLE.percent, STYLE.totalPercent],
])

/** The date format of the language, as a number format of Excel. */
const datePatternOf = (locale: string) =>
  wordsOf(locale)
    .writeCellDate('2001-02-03')
    .replace('2001', 'yyyy')
    .replace('02', 'mm')
    .replace('03', 'dd')

const DAY_MS = 86_400_000
const DAYS_BEFORE_1970 = 25_569
/** Before March 1900 the calendar of Excel is wrong. */
const FIRST_SAFE_DAY = 61

function daySerial(date: string): number | undefined {
  const serial = Date.parse(`${date}T00:00:00Z`) / DAY_MS + DAYS_BEFORE_1970
  return serial >= FIRST_SAFE_DAY ? serial : undefined
}

function timeSerial(time: string) {
  const [hours, minutes, seconds] = time.split(':').map(Number)
  return (hours! * 3600 + minutes! * 60 + (seconds ?? 0)) / 86_400
}

/** SUBTOTAL 109 excludes the rows that a filter hides. */
function totalsRow({ columns, totals: read, locale }: ReportResult, rowCount: number) {
  const totals = read()
  if (rowCount === 0 || !columns.some(({ total }) => total)) return ''
  const n = rowCount + 2
  const sumOne = (name: string) => {
    const letters = columnLetters(columns.findIndex((column) => column.name === name))
    return `SUBTOTAL(109,${letters}2:${letters}${rowCount + 1})`
  }
  const sum = (names: string | string[]) =>
    typeof names === 'string' ? sumOne(names) : `(${names.map(sumOne).join('+')})`
  const cells = columns.map(({ name, type, total, currency }, i) => {
    const place = `${columnLetters(i)}${n}`
    if (!total)
      return i === 0
        ? textCell(place, wordsOf(locale).say('Total'), STYLE.totalLabel)
        : emptyTotal(place)
    const [part, whole] = total === 'sum' ? [name] : total.percentOf
    const formula = whole
      ? `IF(${sum(whole)}=0,"",ROUND(100*${sum(part!)}/${sum(whole)},1))`
      : sumOne(name)
    const value = totals[name]
    // A formula would add amounts of different currencies.
    if (typeof value === 'object' && value) {
      return textCell(
        place,
        writeTotal(columns[i]!, value, locale).replaceAll('\n', ', '),
        STYLE.totalLabel,
      )
    }
    const plain = type === 'money' ? moneyStyle(currency) : STYLE[type]
    const style = TOTAL_STYLES.get(plain) ?? STYLE.totalInteger
    return value === null || value === undefined
      ? `<c r="${place}" s="${style}" t="str"><f>${text(formula)}</f><v></v></c>`
      : `<c r="${place}" s="${style}"><f>${text(formula)}</f><v>${value}</v></c>`
  })
  return `<row r="${n}">${cells.join('')}</row>`
}

const emptyTotal = (place: string) => `<c r="${place}" s="${STYLE.totalLabel}"/>`

/** Letters in a line of a sentence (five columns wide) and of a definition. */
const SENTENCE_LETTERS = 140
const DEFINITION_LETTERS = 96

/** Programs do not increase the height of rows with wrapped text by themselves. */
const linesHeight = (text: string, letters: number) =>
  15 * Math.max(1, Math.ceil(text.length / letters))

function summarySheet(result: ReportResult) {
  const { report, comparison, compareWith, sentences, locale } = result
  const { say } = wordsOf(locale)
  const rows = [
    `<row r="1" ht="28" customHeight="1">${textCell('A1', report.reportName, STYLE.title)}</row>`,
  ]
  const add = (write: (n: number) => string) => {
    const n = rows.length + 1
    rows.push(`<row r="${n}">${write(n)}</row>`)
  }
  add((n) => textCell(`A${n}`, result.businessName, STYLE.muted))
  const merged: string[] = []
  for (const sentence of sentences) {
    const n = rows.length + 1
    const height = linesHeight(sentence, SENTENCE_LETTERS)
    const cell = textCell(`A${n}`, sentence, STYLE.wrapped)
    rows.push(`<row r="${n}" ht="${height}" customHeight="1">${cell}</row>`)
    merged.push(`<mergeCell ref="A${n}:E${n}"/>`)
  }
  add(() => '')
  for (const [label, value] of describeScope(result)) {
    add((n) => textCell(`A${n}`, label, STYLE.muted) + textCell(`B${n}`, value, STYLE.text))
  }
  add(() => '')
  const isRunning = (comparison?.until ?? null) !== null
  const beforeHeads = isRunning ? [say('So far'), say('Same point before')] : [say('Period before')]
  const figureHeads = [say('This period'), ...(compareWith === 'NONE' ? [] : beforeHeads)]
  const heads = [say('Figure'), ...figureHeads, say('Unit'), say('What it counts')]
  add((n) =>
    heads
      .map((head, i) => {
        const isNumber = i > 0 && i <= figureHeads.length
        const isUnit = i === figureHeads.length + 1
        const style = isNumber ? STYLE.headerRight : isUnit ? STYLE.headerIndented : STYLE.header
        return textCell(`${columnLetters(i)}${n}`, head, style)
      })
      .join(''),
  )
  for (const kpi of result.kpis) {
    const n = rows.length + 1
    const height = linesHeight(kpi.definition, DEFINITION_LETTERS)
    const cells = figureRow(kpi, n, figureHeads.length, say)
    rows.push(`<row r="${n}" ht="${height}" customHeight="1">${cells}</row>`)
  }
  return xml`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>
<sheetViews><sheetView workbookViewId="0" showGridLines="0" tabSelected="1"/></sheetViews>
<sheetFormatPr defaultRowHeight="15"/>
<cols><col min="1" max="1" width="26" customWidth="1"/><col min="2" max="${1 + figureHeads.length}" width="18" customWidth="1"/><col min="${2 + figureHeads.length}" max="${2 + figureHeads.length}" width="10" customWidth="1"/><col min="${3 + figureHeads.length}" max="${3 + figureHeads.length}" width="90" customWidth="1"/></cols>
<sheetData>${rows.join('')}</sheetData>${merged.length > 0 ? `<mergeCells count="${merged.length}">${merged.join('')}</mergeCells>` : ''}
<pageSetup orientation="landscape" fitToHeight="0"/>${pageFooter(locale)}</worksheet>`
}

type Say = Words['say']

/** A figure, its previous value, its unit and its definition. */
function figureRow(kpi: KpiResult, n: number, columns: number, say: Say) {
  const { label, value, valueToDate, previous, unit, definition } = kpi
  const style =
    unit === 'percent' ? STYLE.percent : unit === 'money' ? moneyStyle(kpi.currency) : STYLE.integer
  const before = [...(columns === 3 ? [valueToDate] : []), ...(columns === 1 ? [] : [previous])]
  const figures = [value, ...before].map((figure, i) => {
    const place = `${columnLetters(i + 1)}${n}`
    if (i === 0 && kpi.words) return textCell(place, kpi.words, STYLE.text)
    return figure === null ? '' : `<c r="${place}" s="${style}"><v>${figure}</v></c>`
  })
  const [unitAt, definitionAt] = [1, 2].map((i) => `${columnLetters(figures.length + i)}${n}`)
  return [
    textCell(`A${n}`, label, STYLE.text),
    ...figures,
    textCell(unitAt!, unitOf(kpi, say), STYLE.unit),
    textCell(definitionAt!, definition, STYLE.note),
  ].join('')
}

function unitOf({ unit, currency, words }: KpiResult, say: Say) {
  if (words) return ''
  if (unit === 'money') return currency ?? ''
  return unit === 'percent' ? '%' : unit === 'minutes' ? 'min' : say('number')
}

function contentTypes(sheets: number, charts: number) {
  const main = 'application/vnd.openxmlformats-officedocument'
  const sheetTypes = Array.from(
    { length: sheets },
    (_, i) =>
      `<Override PartName="/xl/worksheets/sheet${i + 1}.xml" ContentType="${main}.spreadsheetml.worksheet+xml"/>`,
  )
  // The entries of `charts` are the drawing, its relations, and the charts themselves.
  const chartTypes = Array.from(
    { length: Math.max(0, charts - 2) },
    (_, i) =>
      `<Override PartName="/xl/charts/chart${i + 1}.xml" ContentType="${main}.drawingml.chart+xml"/>`,
  )
  const drawing = charts
    ? `<Override PartName="/xl/drawings/drawing1.xml" ContentType="${main}.drawing+xml"/>`
    : ''
  return xml`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${main}.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${main}.spreadsheetml.styles+xml"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>${sheetTypes.join('')}${drawing}${chartTypes.join('')}</Types>`
}

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'

const ROOT_RELATIONS = xml`<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`

const CHART_SHEET_RELATIONS = xml`<Relationships xmlns="${RELATIONS}"><Relationship Id="rId1" Type="${OFFICE}/drawing" Target="../drawings/drawing1.xml"/></Relationships>`

function workbookRelations(sheets: number) {
  const targets = Array.from({ length: sheets }, (_, i) => [
    `worksheets/sheet${i + 1}.xml`,
    'worksheet',
  ])
  const all = [...targets, ['styles.xml', 'styles']]
  return xml`<Relationships xmlns="${RELATIONS}">${all.map(([target, type], i) => `<Relationship Id="rId${i + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`).join('')}</Relationships>`
}

function workbook(sheetNames: string[], columnCount: number, rowCount: number) {
  const quoted = `'${sheetNames[1]!}'`
  const filtered = `${quoted}!$A$1:$${columnLetters(columnCount - 1)}$${rowCount + 1}`
  const sheets = sheetNames.map(
    (name, i) => `<sheet name="${attribute(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  )
  return xml`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"><bookViews><workbookView activeTab="0"/></bookViews><sheets>${sheets.join('')}</sheets><definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="1" hidden="1">${text(filtered)}</definedName><definedName name="_xlnm.Print_Titles" localSheetId="1">${text(`${quoted}!$1:$1`)}</definedName></definedNames><calcPr calcId="191029" fullCalcOnLoad="1"/></workbook>`
}

function coreProperties({ report, parameters }: ReportResult) {
  const printed = new Date(parameters.printedTime).toISOString()
  return xml`<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>${text(report.reportName)}</dc:title><dc:creator>Bellwether</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">${printed}</dcterms:created></cp:coreProperties>`
}
