import { read, SSF, utils, type CellObject, type WorkSheet } from '@e965/xlsx'
import { load } from 'cheerio'
import { parse } from 'csv-parse/sync'
import { extractText, getDocumentProxy, getMeta } from 'unpdf'

/** What independent parsers read from each format: cells as plain text. */
export type ReadBack = { labels: string[]; rows: string[][]; totals?: string[] }

export function readJson(bytes: Buffer): ReadBack {
  const { columns, rows, totals } = JSON.parse(String(bytes))
  return {
    labels: columns.map(({ label }: { label: string }) => label),
    rows: rows.map((row: unknown[]) => row.map((cell) => (cell === null ? '' : String(cell)))),
    totals: columns.map(({ name }: { name: string }) => String(totals[name] ?? '')),
  }
}

export function readCsv(bytes: Buffer): ReadBack {
  const [labels, ...rows] = parse(bytes, { bom: true }) as string[][]
  return { labels: labels!, rows }
}

export function readHtml(bytes: Buffer): ReadBack {
  const $ = load(bytes)
  const cells = (row: Parameters<typeof $>[0]) =>
    $(row)
      .find('th, td')
      .toArray()
      .map((cell) => $(cell).text())
  return {
    labels: cells($('thead tr')),
    rows: $('tbody tr').toArray().map(cells),
    totals: cells($('tfoot tr')),
  }
}

export function readXlsx(bytes: Buffer) {
  const { SheetNames, Sheets, ...rest } = read(bytes, { cellNF: true, bookFiles: true })
  const { files } = rest as unknown as { files: Record<string, { content: Uint8Array }> }
  const sheets = SheetNames.map((name, i) => {
    const xml = String(Buffer.from(files[`xl/worksheets/sheet${i + 1}.xml`]!.content))
    return { name, ...readSheet(Sheets[name]!), $: load(xml, { xml: true }) }
  })
  const { lines, formulas, formats, $ } = sheets[1]!
  const [labels, ...below] = lines
  const charts = Object.keys(files).filter((name) => /xl\/charts\/chart\d+\.xml$/.test(name))
  return {
    sheets,
    charts: charts.length,
    formulas,
    formats,
    $,
    labels: labels!.map(String),
    rows: below.slice(0, -1),
    totals: below.at(-1) ?? [],
  }
}

function readSheet(sheet: WorkSheet) {
  const { e: end } = utils.decode_range(sheet['!ref']!)
  const grid = Array.from({ length: end.r + 1 }, (_, r) =>
    Array.from({ length: end.c + 1 }, (_, c): CellObject | undefined => {
      return sheet[utils.encode_cell({ r, c })]
    }),
  )
  return {
    lines: grid.map((cells) => cells.map((cell) => cell && valueOf(cell))),
    formats: grid.map((cells) => cells.map((cell) => cell?.z)),
    formulas: grid.flatMap((cells, r) =>
      cells.flatMap((cell) => (cell?.f ? [{ row: r + 1, formula: cell.f }] : [])),
    ),
  }
}

/** A workbook stores a date as days since 1899-12-30. */
function valueOf({ v: value, z: format }: CellObject) {
  const isDate = typeof value === 'number' && format !== undefined && SSF.is_date(String(format))
  return isDate ? new Date(Math.round((value - 25_569) * 86_400) * 1_000) : value
}

/** The text of each page, without spaces, because a PDF stores positions of letters and no words. */
export async function readPages(bytes: Buffer) {
  const pdf = await getDocumentProxy(new Uint8Array(bytes))
  const [{ text }, { info }] = [await extractText(pdf), await getMeta(pdf)]
  return {
    title: info.Title as string | undefined,
    pages: text.map((page) => page.replace(/\s|\u200b/g, '')),
  }
}
