import { colorOf, outlineOf, type Chart, type Heatmap, type SeriesChart } from '../chart.ts'
import { columnLetters, STYLE, text, textCell, xml } from './xlsx-parts.ts'
import type { ZipEntry } from './zip.ts'

/** Rows that a drawn chart covers. */
const CHART_HEIGHT = 18

/** The table of each chart is next to it, so that a reader can change the values. */
export function chartSheet(charts: Chart[]) {
  const rows: string[] = []
  const shades: string[] = []
  for (const { chart, top } of placed(charts)) {
    const lines = tableOf(chart)
    rows.push(`<row r="${top}">${textCell(`A${top}`, chart.title, STYLE.heading)}</row>`)
    lines.forEach((line, y) => {
      const n = top + 1 + y
      const cells = line.map((value, x) => {
        const place = `${columnLetters(x)}${n}`
        if (value === null) return ''
        if (typeof value === 'string')
          return textCell(place, value, y === 0 ? STYLE.header : STYLE.text)
        return `<c r="${place}" s="${styleOf(chart)}"><v>${value}</v></c>`
      })
      rows.push(`<row r="${n}">${cells.join('')}</row>`)
    })
    if (chart.kind === 'heatmap') shades.push(shade(chart, top, shades.length + 1))
  }
  const drawing = charts.some(({ kind }) => kind !== 'heatmap') ? '<drawing r:id="rId1"/>' : ''
  const widths = columnWidths(charts)
  const columns = widths.map(
    (width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`,
  )
  return xml`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetViews><sheetView workbookViewId="0" showGridLines="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>${columns.join('')}</cols><sheetData>${rows.join('')}</sheetData>${shades.join('')}${paging(charts, widths)}${drawing}</worksheet>`
}

const styleOf = (chart: Chart) =>
  chart.kind === 'heatmap'
    ? STYLE.decimal
    : chart.unit === 'percent'
      ? STYLE.percent
      : STYLE.integer

/** The legend must not name a series that the chart does not show. */
export const dropEmptySeries = (chart: Chart): Chart =>
  chart.kind === 'heatmap'
    ? chart
    : {
        ...chart,
        series: chart.series.filter(({ tone, values }) => !tone || values.some((value) => value)),
      }

const DEFAULT_WIDTH = 9
/** Columns that a drawn chart covers. */
const CHART_WIDTH = 11

/** Wide enough for the names of the series. Programs differ in the default width of columns. */
function columnWidths(charts: Chart[]) {
  const heads = charts.map((chart) => tableOf(chart)[0]!)
  const count = Math.max(
    0,
    ...charts.map((chart, i) =>
      chart.kind === 'heatmap' ? heads[i]!.length : leftOf(chart) + CHART_WIDTH,
    ),
  )
  return Array.from({ length: count }, (_, i) =>
    i === 0
      ? Math.min(30, Math.max(14, ...charts.flatMap(firstColumn).map((name) => name.length + 2)))
      : Math.max(DEFAULT_WIDTH, ...heads.map((head) => String(head[i] ?? '').length + 3)),
  )
}

const firstColumn = (chart: Chart) => (chart.kind === 'heatmap' ? chart.rows : chart.labels)

/** The first column that a drawn chart covers. */
const leftOf = ({ series }: SeriesChart) => series.length + 2

/** The width in pixels and the rows of a landscape page, A4 or Letter, at full size. */
const PAGE = { pixels: 900, rows: 32 }

/** The width in pixels of a column with this many letters. */
const toPixels = (letters: number) => 7 * letters + 5

/**
 * A chart begins a new page if it does not fit on the one before, so that none is cut. Programs ignore such
 * breaks if they fit the sheet to the page themselves, so the scale is given.
 */
function paging(charts: Chart[], widths: number[]) {
  const pixels = widths.reduce((sum, width) => sum + toPixels(width), 0)
  const scale = Math.max(40, Math.min(100, Math.floor((100 * PAGE.pixels) / pixels)))
  const pageRows = (PAGE.rows * 100) / scale
  const breaks: string[] = []
  let pageTop = 1
  for (const { top, end } of placed(charts)) {
    if (end - pageTop > pageRows && top > pageTop) {
      breaks.push(`<brk id="${top - 1}" max="16383" man="1"/>`)
      pageTop = top
    }
  }
  const rowBreaks =
    breaks.length > 0
      ? `<rowBreaks count="${breaks.length}" manualBreakCount="${breaks.length}">${breaks.join('')}</rowBreaks>`
      : ''
  return `<pageSetup orientation="landscape" scale="${scale}"/>${rowBreaks}`
}

/** The drawing, its relations, and one part for each drawn chart. A heat map is shaded cells. */
export function chartParts(charts: Chart[], sheetName: string): ZipEntry[] {
  if (charts.length === 0) return []
  const drawn = placed(charts).flatMap(({ chart, top }) =>
    chart.kind === 'heatmap' ? [] : [{ chart, top }],
  )
  const relations = drawn.map(
    (_, i) =>
      `<Relationship Id="rId${i + 1}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart" Target="../charts/chart${i + 1}.xml"/>`,
  )
  return [
    { name: 'xl/drawings/drawing1.xml', content: [drawing(drawn)] },
    {
      name: 'xl/drawings/_rels/drawing1.xml.rels',
      content: [
        xml`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
      ],
    },
    ...drawn.map(({ chart, top }, i) => ({
      name: `xl/charts/chart${i + 1}.xml`,
      content: [chartXml(chart, top, `'${sheetName}'`)],
    })),
  ]
}

/** The charts below each other, each with room for its table and its drawing. */
function placed(charts: Chart[]) {
  let top = 1
  return charts.map((chart) => {
    const height = Math.max(
      tableOf(chart).length + 3,
      chart.kind === 'heatmap' ? 0 : CHART_HEIGHT + 2,
    )
    const place = { chart, top, end: top + height }
    top += height
    return place
  })
}

function tableOf(chart: Chart): (string | number | null)[][] {
  if (chart.kind === 'heatmap') {
    return [['', ...chart.columns], ...chart.rows.map((row, y) => [row, ...chart.values[y]!])]
  }
  return [
    ['', ...chart.series.map(({ name }) => name)],
    ...chart.labels.map((label, i) => [
      label,
      ...chart.series.map(({ values }) => values[i] ?? null),
    ]),
  ]
}

function shade(chart: Heatmap, top: number, priority: number) {
  const range = `B${top + 2}:${columnLetters(chart.columns.length)}${top + 1 + chart.rows.length}`
  return `<conditionalFormatting sqref="${range}"><cfRule type="colorScale" priority="${priority}"><colorScale><cfvo type="min"/><cfvo type="max"/><color rgb="FFF3F2EC"/><color rgb="FF5F9A86"/></colorScale></cfRule></conditionalFormatting>`
}

function drawing(drawn: { chart: SeriesChart; top: number }[]) {
  const frames = drawn.map(({ chart, top }, i) => {
    const left = leftOf(chart)
    return `<xdr:twoCellAnchor><xdr:from><xdr:col>${left}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${top - 1}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from><xdr:to><xdr:col>${left + CHART_WIDTH}</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>${top - 1 + CHART_HEIGHT}</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to><xdr:graphicFrame macro=""><xdr:nvGraphicFramePr><xdr:cNvPr id="${i + 2}" name="Chart ${i + 1}" descr="${text(chart.title)}"/><xdr:cNvGraphicFramePr/></xdr:nvGraphicFramePr><xdr:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></xdr:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="rId${i + 1}"/></a:graphicData></a:graphic></xdr:graphicFrame><xdr:clientData/></xdr:twoCellAnchor>`
  })
  return xml`<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${frames.join('')}</xdr:wsDr>`
}

function chartXml(chart: SeriesChart, top: number, sheet: string) {
  const first = top + 2
  const last = top + 1 + chart.labels.length
  const labels = `<c:cat><c:strRef><c:f>${text(sheet)}!$A$${first}:$A$${last}</c:f>${cache('str', chart.labels)}</c:strRef></c:cat>`
  const series = chart.series.map(({ name, values }, i) => {
    const letters = columnLetters(i + 1)
    const color = colorOf(chart.series[i]!, i).slice(1).toUpperCase()
    const fill = `<a:solidFill><a:srgbClr val="${color}"/></a:solidFill>`
    const outline = outlineOf(chart.series[i]!)?.slice(1).toUpperCase()
    const edge = outline
      ? `<a:ln w="9525"><a:solidFill><a:srgbClr val="${outline}"/></a:solidFill></a:ln>`
      : ''
    const look =
      chart.kind === 'bar'
        ? `<c:spPr>${fill}${edge}</c:spPr><c:invertIfNegative val="0"/>`
        : `<c:spPr><a:ln w="25400">${fill}</a:ln></c:spPr><c:marker><c:symbol val="none"/></c:marker>`
    return `<c:ser><c:idx val="${i}"/><c:order val="${i}"/><c:tx><c:strRef><c:f>${text(sheet)}!$${letters}$${top + 1}</c:f>${cache('str', [name])}</c:strRef></c:tx>${look}${labels}<c:val><c:numRef><c:f>${text(sheet)}!$${letters}$${first}:$${letters}$${last}</c:f>${cache('num', values)}</c:numRef></c:val>${chart.kind === 'line' ? '<c:smooth val="0"/>' : ''}</c:ser>`
  })
  const plot =
    chart.kind === 'bar'
      ? `<c:barChart><c:barDir val="${chart.named ? 'bar' : 'col'}"/><c:grouping val="${chart.stacked ? 'stacked' : 'clustered'}"/><c:varyColors val="0"/>${series.join('')}<c:gapWidth val="60"/>${chart.stacked ? '<c:overlap val="100"/>' : ''}<c:axId val="1"/><c:axId val="2"/></c:barChart>`
      : `<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>${series.join('')}<c:marker val="1"/><c:axId val="1"/><c:axId val="2"/></c:lineChart>`
  const legend =
    chart.series.length > 1 ? '<c:legend><c:legendPos val="b"/><c:overlay val="0"/></c:legend>' : ''
  return xml`<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:roundedCorners val="0"/><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr sz="1200" b="1"/></a:pPr><a:r><a:rPr lang="en" sz="1200" b="1"/><a:t>${text(chart.title)}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title><c:autoTitleDeleted val="0"/><c:plotArea><c:layout/>${plot}<c:catAx><c:axId val="1"/><c:scaling><c:orientation val="${chart.named ? 'maxMin' : 'minMax'}"/></c:scaling><c:delete val="0"/><c:axPos val="${chart.named ? 'l' : 'b'}"/><c:numFmt formatCode="General" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="2"/><c:crosses val="autoZero"/></c:catAx><c:valAx><c:axId val="2"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="${chart.named ? 'b' : 'l'}"/><c:majorGridlines><c:spPr><a:ln w="6350"><a:solidFill><a:srgbClr val="E3E1D8"/></a:solidFill></a:ln></c:spPr></c:majorGridlines><c:numFmt formatCode="#,##0" sourceLinked="0"/><c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="1"/><c:crosses val="${chart.named ? 'max' : 'autoZero'}"/></c:valAx></c:plotArea>${legend}<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>`
}

/** The values of the cells, so that the chart is visible before the workbook is recalculated. */
function cache(kind: 'str' | 'num', values: (string | number | null)[]) {
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`<c:pt idx="${i}"><c:v>${text(String(value))}</c:v></c:pt>`],
  )
  const code = kind === 'num' ? '<c:formatCode>General</c:formatCode>' : ''
  return `<c:${kind}Cache>${code}<c:ptCount val="${values.length}"/>${points.join('')}</c:${kind}Cache>`
}
