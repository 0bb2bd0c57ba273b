import { describeScope, localTime, writeTotal } from './format-values.ts'
import { isFigure, type Cell, type Column, type ReportResult, type Totals } from '../report.ts'
import { chartParts, chartSheet } from './xlsx-charts.ts'
import { attribute, columnLetters, STYLE, stylesXml, text, textCell, xml } from './xlsx-parts.ts'
import { zip } from './zip.ts'

/**
 * A workbook that is written row by row: rows on the first sheet, figures on the second, charts on the
 * third. Text is written as text cells, so that no data becomes a formula.
 */
export async function* toXlsx(result: ReportResult): AsyncIterable<Uint8Array> {
  const charts = chartParts(result.charts)
  const sheetNames = [result.report.reportName, 'Summary', ...(charts.length ? ['Charts'] : [])]
  const counted = { rows: 0 }

  yield* zip([
    { name: '[Content_Types].xml', content: [contentTypes(sheetNames.length, charts.length)] },
    { name: '_rels/.rels', content: [ROOT_RELATIONS] },
    { name: 'docProps/core.xml', content: [coreProperties(result)] },
    { name: 'xl/styles.xml', content: [stylesXml()] },
    { name: 'xl/worksheets/sheet1.xml', content: rowsSheet(result, counted) },
    { name: 'xl/worksheets/sheet2.xml', content: [summarySheet(result)] },
    ...(charts.length
      ? [
          { name: 'xl/worksheets/sheet3.xml', content: [chartSheet(result.charts)] },
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
  const writers = columns.map((column, i) => cellWriter(column, columnLetters(i), result))
  const last = columnLetters(columns.length - 1)
  let started = false

  for await (const batch of result.rows) {
    if (!started) yield sheetHead(columns, widthsOf(columns, batch))
    started = true
    let lines = ''
    for (const row of batch) {
      const n = (counted.rows += 1) + 1
      lines += `<row r="${n}">`
      for (let i = 0; i < writers.length; i++) lines += writers[i]!(row[i]!, n)
      lines += '</row>'
    }
    if (counted.rows > MAX_ROWS)
      throw new Error('the report has more rows than the 1,048,576 of a sheet')
    yield lines
  }
  if (!started) yield sheetHead(columns, widthsOf(columns, []))

  yield totalsRow(columns, result.totals(), counted.rows)
  yield `</sheetData><autoFilter ref="A1:${last}${counted.rows + 1}"/>`
  yield '<pageMargins left="0.5" right="0.5" top="0.6" bottom="0.6" header="0.3" footer="0.3"/>'
  yield '<pageSetup orientation="landscape" fitToHeight="0"/>'
  yield '<headerFooter><oddFooter>&amp;L&amp;A&amp;RPage &amp;P of &amp;N</oddFooter></headerFooter>'
  yield '</worksheet>'
}

function sheetHead(columns: Column[], widths: number[]) {
  const labels = columns.map(({ label, type }, i) =>
    textCell(`${columnLetters(i)}1`, label, isFigure(type) ? STYLE.headerRight : STYLE.header),
  )
  return xml`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>
<sheetViews><sheetView workbookViewId="0" tabSelected="1"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>
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

function cellWriter(column: Column, letters: string, { parameters }: ReportResult) {
  const local = localTime(parameters.timeZone)
  const style = STYLE[column.type]
  const number = (value: number, n: number) =>
    `<c r="${letters}${n}" s="${style}"><v>${value}</v></c>`

  return (cell: Cell, n: number): string => {
    if (cell === null || cell === '') return ''
    switch (column.type) {
      case 'text':
        return textCell(`${letters}${n}`, String(cell), style)
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
        return number(Number(cell), n)
    }
  }
}

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
function totalsRow(columns: Column[], totals: Totals, rowCount: number) {
  if (rowCount === 0 || !columns.some(({ total }) => total)) return ''
  const n = rowCount + 2
  const sumOne = (name: string) => {
    const letters = columnLetters(columns.findIndex((column) => column.name === name))
    return `SUBTOTAL(109,${letters}2:${letters}${rowCount + 1})`
  }
  const sum = (names: string | string[]) =>
    typeof names === 'string' ? sumOne(names) : `(${names.map(sumOne).join('+')})`
  const cells = columns.map(({ name, type, total }, i) => {
    const place = `${columnLetters(i)}${n}`
    if (!total) return i === 0 ? textCell(place, 'Total', STYLE.totalLabel) : emptyTotal(place)
    const [part, whole] = total === 'sum' ? [name] : total.percentOf
    const formula = whole
      ? `IF(${sum(whole)}=0,"",ROUND(100*${sum(part!)}/${sum(whole)},1))`
      : sumOne(name)
    const value = totals[name]
    // A formula could only add the currencies.
    if (typeof value === 'object' && value) {
      return textCell(place, writeTotal(columns[i]!, value), STYLE.totalLabel)
    }
    const style =
      type === 'money'
        ? STYLE.totalMoney
        : type === 'percent'
          ? STYLE.totalPercent
          : STYLE.totalInteger
    return value === null || value === undefined
      ? `<c r="${place}" s="${style}" t="str"><f>${text(formula)}</f><v></v></c>`
      : `<c r="${place}" s="${style}"><f>${text(formula)}</f><v>${value}</v></c>`
  })
  return `<row r="${n}">${cells.join('')}</row>`
}

const emptyTotal = (place: string) => `<c r="${place}" s="${STYLE.totalLabel}"/>`

function summarySheet(result: ReportResult) {
  const { report, kpis, comparison } = result
  const lines = [['Business', result.businessName] as const, ...describeScope(result)]
  let n = 1
  const rows = [
    `<row r="1" ht="28" customHeight="1">${textCell('A1', report.reportName, STYLE.title)}</row>`,
  ]
  for (const [label, value] of lines) {
    n += 1
    rows.push(
      `<row r="${n}">${textCell(`A${n}`, label, STYLE.muted)}${textCell(`B${n}`, value, STYLE.text)}</row>`,
    )
  }
  n += 2
  const isRunning = (comparison?.until ?? null) !== null
  const figureHeads = [
    'This period',
    ...(isRunning ? ['So far', 'Same point before'] : ['Period before']),
  ]
  const heads = ['Figure', ...figureHeads, '   What it counts']
  rows.push(
    `<row r="${n}">${heads.map((head, i) => textCell(`${columnLetters(i)}${n}`, head, i > 0 && i <= figureHeads.length ? STYLE.headerRight : STYLE.header)).join('')}</row>`,
  )
  for (const { label, value, valueToDate, previous, unit, definition } of kpis) {
    n += 1
    const style =
      unit === 'percent' ? STYLE.percent : unit === 'money' ? STYLE.money : STYLE.integer
    const figures = [value, ...(isRunning ? [valueToDate] : []), previous].map((figure, i) =>
      figure === null ? '' : `<c r="${columnLetters(i + 1)}${n}" s="${style}"><v>${figure}</v></c>`,
    )
    const last = `${columnLetters(figures.length + 1)}${n}`
    rows.push(
      `<row r="${n}">${textCell(`A${n}`, label, STYLE.text)}${figures.join('')}${textCell(last, definition, STYLE.note)}</row>`,
    )
  }
  return xml`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>
<sheetViews><sheetView workbookViewId="0" showGridLines="0"/></sheetViews>
<sheetFormatPr defaultRowHeight="15"/>
<cols><col min="1" max="1" width="24" customWidth="1"/><col min="2" max="${1 + figureHeads.length}" width="18" customWidth="1"/><col min="${2 + figureHeads.length}" max="${2 + figureHeads.length}" width="90" customWidth="1"/></cols>
<sheetData>${rows.join('')}</sheetData>
<pageSetup orientation="landscape" fitToHeight="0"/></worksheet>`
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
  const quoted = `'${sheetNames[0]!.replaceAll("'", "''")}'`
  const filtered = `${quoted}!$A$1:$${columnLetters(columnCount - 1)}$${rowCount + 1}`
  const sheets = sheetNames.map(
    (name, i) => `<sheet name="${attribute(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`,
  )
  return xml`<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"><bookViews><workbookView activeTab="0"/></bookViews><sheets>${sheets.join('')}</sheets><definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">${text(filtered)}</definedName><definedName name="_xlnm.Print_Titles" localSheetId="0">${text(`${quoted}!$1:$1`)}</definedName></definedNames><calcPr calcId="191029" fullCalcOnLoad="1"/></workbook>`
}

function coreProperties({ report, parameters }: ReportResult) {
  const printed = new Date(parameters.printedTime).toISOString()
  return xml`<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>${text(report.reportName)}</dc:title><dc:creator>Bellwether</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">${printed}</dcterms:created></cp:coreProperties>`
}
