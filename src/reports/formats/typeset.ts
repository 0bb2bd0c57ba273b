import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler'
import { drawCharts } from './draw-chart.ts'
import { fontsFor } from './fonts.ts'
import { PdfJoiner } from './join-pdf.ts'
import { textPoints } from './column-widths.ts'
import { pointsAtMost } from './one-line.ts'
import type { Closing, Opening } from './pdf.ts'

/**
 * The child process that sets a report: lines of JSON come in, a PDF goes out. It is a process of
 * its own because Typst blocks and takes much memory, which is given back when the process ends.
 */
const ROWS_IN_ONE_PIECE = 1_000
const ROWS_IN_A_PIECE = 500
const WORKSPACE = import.meta.dirname
const TEMPLATE = readFileSync(join(WORKSPACE, 'report.typ'), 'utf8')

async function typeset() {
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })
  let opening: Opening | undefined
  let closing: Closing | undefined
  let charts: string[] = []
  let rows: string[][] = []
  let rowsSet = 0
  let joiner: PdfJoiner | undefined

  for await (const line of lines) {
    const message = JSON.parse(line)
    if (!opening) {
      opening = message as Opening
      charts = drawCharts(opening.charts, { wide: opening.flipped })
    } else if (Array.isArray(message)) {
      rows.push(...(message as string[][]))
      while (rows.length > (joiner ? ROWS_IN_A_PIECE : ROWS_IN_ONE_PIECE)) {
        joiner ??= new PdfJoiner(write)
        const piece = rows.slice(0, ROWS_IN_A_PIECE)
        const whole = setWholePages(joiner, { opening, charts, rows: piece, rowsSet })
        rowsSet += whole
        rows = rows.slice(whole)
      }
    } else {
      closing = message as Closing
    }
  }
  // Without its end the report is not whole, and half a report must not look like one.
  if (!opening || !closing) throw new Error('the report ended before its end')

  const last = { opening, charts, rows, rowsSet, closing }
  if (!joiner) return write(compile({ ...last, numbered: true }).pdf())
  const piece = compile(last)
  joiner.add(piece.pdf(), piece.pageCount)
  const footers = compile({ ...last, rows: [], footers: joiner.pageCount })
  joiner.finish(footers.pdf(), { title: opening.title })
}

/** Sets a piece that does not end the report. Its last page is not full, so its rows come again. */
function setWholePages(joiner: PdfJoiner, piece: Piece) {
  // V8 sees a handle, not the megabytes behind it, and would let the documents pile up.
  globalThis.gc?.()
  const set = compile({ ...piece, marked: true })
  const pages = set.pagesOfRows()
  const lastPage = pages.at(-1)!
  joiner.add(set.pdf(), lastPage - 1)
  const whole = pages.indexOf(lastPage)
  if (whole === 0) throw new Error('a page of the report holds no row')
  return whole
}

type Piece = {
  opening: Opening
  charts: string[]
  rows: string[][]
  rowsSet: number
  /** The end of the report; pieces before the last one have none. */
  closing?: Closing
  numbered?: boolean
  marked?: boolean
  /** Only this many page lines. */
  footers?: number
}

function compile({ opening, charts, rows, rowsSet, closing, numbered, marked, footers }: Piece) {
  const { compiler, families } = compilerFor(JSON.stringify([opening, rows, closing]))
  const totals = rows.length > 0 && closing ? closing.totals : null
  const shown = {
    ...opening,
    charts: opening.charts.map(({ title }, i) => ({ title, file: `/chart${i}.svg` })),
    fonts: families,
    rows,
    short: shortRows(opening, rows),
    totals,
    note: closing?.note ?? '',
    first: rowsSet === 0,
    last: closing !== undefined,
    numbered: numbered ?? false,
    marked: marked ?? false,
    footers: footers ?? 0,
  }
  compiler.mapShadow(join(WORKSPACE, 'report.json'), Buffer.from(JSON.stringify(shown)))
  charts.forEach((svg, i) => compiler.mapShadow(join(WORKSPACE, `chart${i}.svg`), Buffer.from(svg)))

  const compiled = compiler.compile({ mainFileContent: TEMPLATE })
  const document = compiled.result
  if (!document) {
    const problems = compiled.takeDiagnostics()?.shortDiagnostics
    throw new Error(`the report could not be set: ${JSON.stringify(problems)}`)
  }
  return {
    pageCount: document.numOfPages,
    pdf: () => compiler.pdf(document),
    pagesOfRows: (): number[] =>
      compiler.query(document, { selector: '<pages>', field: 'value' })[0],
  }
}

/** For each row, whether it takes one line for sure. */
function shortRows(opening: Opening, rows: string[][]) {
  const widths = opening.columns.map(textPoints)
  return rows.map((row) => row.every((cell, i) => pointsAtMost(cell) <= widths[i]!))
}

let kept: { compiler: NodeCompiler; families: string[] } | undefined

/** Each compiler holds a copy of its fonts, so there is a new one only when a new script turns up. */
function compilerFor(text: string) {
  const { families, folders } = fontsFor(text)
  if (!kept || families.some((family) => !kept!.families.includes(family))) {
    const compiler = NodeCompiler.create({
      workspace: WORKSPACE,
      fontArgs: [{ fontPaths: folders }],
    })
    kept = { compiler, families }
  }
  kept.compiler.evictCache(0)
  return kept
}

function write(bytes: Buffer) {
  process.stdout.write(bytes)
}

await typeset()
