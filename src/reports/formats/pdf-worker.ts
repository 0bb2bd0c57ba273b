import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler'
import { drawCharts } from './draw-chart.ts'
import { fontsFor } from './fonts.ts'
import { PdfJoiner } from './join-pdf.ts'
import { textPoints } from './column-widths.ts'
import { maxTextWidth } from './column-widths.ts'
import type { Closing, Opening } from './pdf.ts'

/**
 * The child process that makes a PDF: JSON lines on stdin, a PDF on stdout. Typst blocks the event loop
 * and needs much memory, which the system gets back when the process ends.
 */
const MAX_ROWS_OF_SINGLE_PIECE = 1_000
const ROWS_PER_PIECE = 500
const WORKSPACE = import.meta.dirname
const TEMPLATE = readFileSync(join(WORKSPACE, 'report.typ'), 'utf8')

async function makePdf() {
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
      charts = drawAt(opening, 0)
    } else if (Array.isArray(message)) {
      rows.push(...(message as string[][]))
      while (rows.length > (joiner ? ROWS_PER_PIECE : MAX_ROWS_OF_SINGLE_PIECE)) {
        joiner ??= new PdfJoiner(write)
        const piece = rows.slice(0, ROWS_PER_PIECE)
        const whole = addFullPages(joiner, { opening, charts, rows: piece, rowsSet })
        rowsSet += whole
        rows = rows.slice(whole)
      }
    } else {
      closing = message as Closing
    }
  }
  // An incomplete report must not look like a complete one.
  if (!opening || !closing) throw new Error('the input ended before the report was complete')

  const last = { opening, charts, rows, rowsSet, closing }
  if (!joiner) return write(compileToFit({ ...last, numbered: true }).pdf())
  const piece = compile(last)
  joiner.add(piece.pdf(), piece.pageCount)
  const footers = compile({ ...last, rows: [], footers: joiner.pageCount })
  joiner.finish(footers.pdf(), { title: opening.title })
}

/** How low the charts are at each degree of tightness. */
const FLATNESS = [1, 0.8, 0.62]

const drawAt = (opening: Opening, tight: number) =>
  drawCharts(opening.charts, {
    room: opening.flipped ? 'landscape' : 'page',
    locale: opening.locale,
    flatness: FLATNESS[tight]!,
  })

/** More rows than this never fit one page. */
const MAX_ROWS_OF_A_PAGE = 70

/** A month fits one page: a report that is slightly too long is set tighter, if that is enough. */
function compileToFit(piece: Piece) {
  const first = compile(piece)
  const { opening, rows } = piece
  const mayFit = first.pageCount === 2 && rows.length <= MAX_ROWS_OF_A_PAGE && opening.newPageAt < 0
  if (!mayFit) return first
  for (let tight = 1; tight < FLATNESS.length; tight += 1) {
    const tighter = compile({ ...piece, tight, charts: drawAt(opening, tight) })
    if (tighter.pageCount === 1) return tighter
  }
  return compile(piece)
}

/** Adds the full pages of a piece and returns how many rows they hold. The others come again with the next piece. */
function addFullPages(joiner: PdfJoiner, piece: Piece) {
  // V8 does not see the native memory of the documents, so it would not collect them in time.
  globalThis.gc?.()
  const set = compile({ ...piece, marked: true })
  const pages = set.pagesOfRows()
  const lastPage = pages.at(-1)!
  joiner.add(set.pdf(), lastPage - 1)
  const whole = pages.indexOf(lastPage)
  if (whole === 0) throw new Error('a row of the report does not fit on a page')
  return whole
}

type Piece = {
  opening: Opening
  charts: string[]
  rows: string[][]
  rowsSet: number
  /** Only the last piece has it. */
  closing?: Closing
  numbered?: boolean
  marked?: boolean
  /** Makes only the footers, for this many pages. */
  footers?: number
  /** 0 to 2: how tight it is set. */
  tight?: number
}

function compile(piece: Piece) {
  const { opening, charts, rows, rowsSet, closing, numbered, marked, footers, tight = 0 } = piece
  const { compiler, families } = compilerFor(JSON.stringify([opening, rows, closing]))
  const totals = rows.length > 0 && closing ? closing.totals : null
  const shown = {
    ...opening,
    charts: opening.charts.map(({ title }, i) => ({ title, file: `/chart${i}.svg` })),
    logo: opening.logo && { file: `/${logoFile(opening.logo)}` },
    tight,
    fonts: families,
    rows,
    short: shortRows(opening, rows),
    parts: splitIntoPages(opening, rows),
    totals,
    note: closing?.note ?? '',
    first: rowsSet === 0,
    last: closing !== undefined,
    numbered: numbered ?? false,
    marked: marked ?? false,
    footers: footers ?? 0,
  }
  compiler.mapShadow(join(WORKSPACE, 'report.json'), Buffer.from(JSON.stringify(shown)))
  if (opening.logo) {
    const bytes = Buffer.from(opening.logo.data, 'base64')
    compiler.mapShadow(join(WORKSPACE, logoFile(opening.logo)), bytes)
  }
  charts.forEach((svg, i) => compiler.mapShadow(join(WORKSPACE, `chart${i}.svg`), Buffer.from(svg)))

  const compiled = compiler.compile({ mainFileContent: TEMPLATE })
  const document = compiled.result
  if (!document) {
    const problems = compiled.takeDiagnostics()?.shortDiagnostics
    throw new Error(`Typst could not compile the report: ${JSON.stringify(problems)}`)
  }
  return {
    pageCount: document.numOfPages,
    pdf: () => compiler.pdf(document),
    pagesOfRows: (): number[] =>
      compiler.query(document, { selector: '<pages>', field: 'value' })[0],
  }
}

const logoFile = ({ type }: NonNullable<Opening['logo']>) => `logo.${type.split('/')[1]}`

/** The places of the rows that begin on a new page, with the first row and the end. */
function splitIntoPages({ newPageAt }: Opening, rows: string[][]) {
  const starts = rows.flatMap((row, i) =>
    i > 0 && newPageAt >= 0 && row[newPageAt] !== rows[i - 1]![newPageAt] ? [i] : [],
  )
  return [0, ...starts, rows.length]
}

/** For each row, whether it surely fits on one line. */
function shortRows(opening: Opening, rows: string[][]) {
  const widths = opening.columns.map(textPoints)
  return rows.map((row) => row.every((cell, i) => maxTextWidth(cell) * opening.scale <= widths[i]!))
}

let cached: { compiler: NodeCompiler; families: string[] } | undefined

/** Each compiler has its own copy of the fonts, so a new one is made only if a new script appears. */
function compilerFor(text: string) {
  const { families, folders } = fontsFor(text)
  if (!cached || families.some((family) => !cached!.families.includes(family))) {
    const compiler = NodeCompiler.create({
      workspace: WORKSPACE,
      fontArgs: [{ fontPaths: folders }],
    })
    cached = { compiler, families }
  }
  cached.compiler.evictCache(0)
  return cached
}

function write(bytes: Buffer) {
  process.stdout.write(bytes)
}

await makePdf()
