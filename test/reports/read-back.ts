import { Workbook, type CellValue } from '@cj-tech-master/excelts'
import { installChartSupport } from '@cj-tech-master/excelts/chart'
import { readPdf } from '@cj-tech-master/excelts/pdf'
import { load } from 'cheerio'
import { parse } from 'csv-parse/sync'

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

installChartSupport()

export async function readXlsx(bytes: Buffer) {
  const workbook = new Workbook()
  await workbook.xlsx.load(bytes)
  const sheet = workbook.worksheets[1]!
  const width = sheet.columnCount
  const lines: CellValue[][] = []
  const formulas: { row: number; formula: string }[] = []
  sheet.eachRow((row, n) => {
    const cells = Array.from({ length: width }, (_, i) => row.getCell(i + 1))
    lines.push(cells.map((cell) => cell.value))
    for (const cell of cells) if (cell.formula) formulas.push({ row: n, formula: cell.formula })
  })
  const [labels, ...rest] = lines
  return {
    workbook,
    sheet,
    formulas,
    labels: labels!.map(String),
    rows: rest.slice(0, -1),
    totals: (rest.at(-1) ?? []).map((value) =>
      value && typeof value === 'object' && 'result' in value ? value.result : value,
    ),
  }
}

/** The text of each page, without spaces, because a PDF stores positions of letters and no words. */
export async function readPages(bytes: Buffer) {
  const { pages, metadata } = await readPdf(bytes)
  return { title: metadata.title, pages: pages.map(({ text }) => text.replace(/\s|\u200b/g, '')) }
}
