import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { lowerPriority } from '../../lower-priority.ts'
import { drawCharts } from './draw-chart.ts'
import { fontsFor } from './fonts.ts'
import { PdfJoiner } from './join-pdf.ts'
import { describeChart } from '../summary.ts'
import { maxTextWidth, textPoints } from './column-widths.ts'
import type { Closing, Opening } from './pdf.ts'
import type { SetReport, Typst } from './typst.ts'

/**
 * The child process that makes a PDF: JSON lines on stdin, a PDF on stdout. Typst blocks the event loop
 * and needs much memory, which the system gets back when the process ends.
 */
const MAX_ROWS_OF_SINGLE_PIECE = 1_000
/** Tags take much time: see docs/decisions/0026-report-files.md. */
const MAX_TAGGED_ROWS = 500
const ROWS_PER_PIECE = 500
lowerPriority()

const TEMPLATE = readFileSync(join(import.meta.dirname, 'report.typ'), 'utf8')

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
        const whole = await addFullPages(joiner, { opening, charts, rows: piece, rowsSet })
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
  if (!joiner) {
    const typst = await (rows.length > MAX_TAGGED_ROWS ? openNative : openTagging)(last)
    return write(compileToFit(typst, { ...last, numbered: true }).pdf())
  }
  const piece = compileLast(await openNative(last), last)
  joiner.add(piece.pdf(), piece.layout.pageCount)
  const footers = compile(await openNative(last), { ...last, rows: [], footers: joiner.pageCount })
  joiner.finish(footers.pdf(), { title: opening.title, language: opening.language })
}

/** The height factor of the charts at each degree of tightness. */
const FLATNESS = [1, 0.8, 0.62]

const drawAt = (opening: Opening, tight: number) =>
  drawCharts(opening.charts, {
    room: opening.flipped ? 'landscape' : 'page',
    locale: opening.locale,
    flatness: FLATNESS[tight]!,
  })

/** More rows than this never fit one page. */
const MAX_ROWS_OF_A_PAGE = 70

/** Sets a report of two pages tighter if it then fits on one page, such as a month. */
function compileToFit(typst: Typst, piece: Piece): SetReport {
  const first = compile(typst, piece)
  const { opening, rows } = piece
  const mayFit =
    first.layout.pageCount === 2 && rows.length <= MAX_ROWS_OF_A_PAGE && opening.newPageAt < 0
  if (mayFit) {
    for (let tight = 1; tight < FLATNESS.length; tight += 1) {
      const tighter = compile(typst, { ...piece, tight, charts: drawAt(opening, tight) })
      if (tighter.layout.pageCount === 1) return tighter
    }
  }
  return keepRowsWithDefinitions(typst, piece, first)
}

const compileLast = (typst: Typst, piece: Piece) =>
  keepRowsWithDefinitions(typst, piece, compile(typst, piece))

/** Moves rows to the last page if it has only definitions, unless that would move the whole table. */
function keepRowsWithDefinitions(typst: Typst, piece: Piece, set: SetReport) {
  const { rowPages, definitionsPage } = set.layout
  const isApart = definitionsPage !== null && rowPages.some((page) => page < definitionsPage)
  const isLong = piece.rows.length > KEPT_ROWS
  return isApart && isLong ? compile(typst, { ...piece, keptRows: KEPT_ROWS }) : set
}

const KEPT_ROWS = 3

/** Adds the full pages of a piece and returns how many rows they hold. The next piece repeats the others. */
async function addFullPages(joiner: PdfJoiner, piece: Piece) {
  // V8 does not see the native memory of the documents, so it would not collect them in time.
  globalThis.gc?.()
  const { layout, pdf } = compile(await openNative(piece), { ...piece, marked: true })
  const lastPage = layout.rowPages.at(-1)!
  joiner.add(pdf(), lastPage - 1)
  const whole = layout.rowPages.indexOf(lastPage)
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
  /** This many of the last rows begin a new page. */
  keptRows?: number
}

function compile(typst: Typst, piece: Piece) {
  const { opening, charts, rows, rowsSet, closing, tight = 0 } = piece
  const totals = rows.length > 0 && closing ? closing.totals : null
  const shown = {
    ...opening,
    charts: opening.charts.map((chart, i) => ({
      title: chart.title,
      alt: describeChart(chart, opening.locale),
      file: `/chart${i}.svg`,
    })),
    logo: opening.logo && { file: `/${logoFile(opening.logo)}` },
    tight,
    fonts: typst.families,
    rows,
    short: shortRows(opening, rows),
    parts: splitIntoPages(opening, rows),
    totals,
    note: closing?.note ?? '',
    first: rowsSet === 0,
    last: closing !== undefined,
    numbered: piece.numbered ?? false,
    marked: piece.marked ?? false,
    footers: piece.footers ?? 0,
    keptRows: piece.keptRows ?? 0,
  }
  const files = new Map([['report.json', Buffer.from(JSON.stringify(shown))]])
  if (opening.logo) files.set(logoFile(opening.logo), Buffer.from(opening.logo.data, 'base64'))
  charts.forEach((svg, i) => files.set(`chart${i}.svg`, Buffer.from(svg)))
  return typst.compile(files)
}

const logoFile = ({ type }: NonNullable<Opening['logo']>) => `logo.${type.split('/')[1]}`

/** The indexes of the rows that begin a new page, including the first row and the end. */
function splitIntoPages({ newPageAt }: Opening, rows: string[][]) {
  const starts = rows.flatMap((row, i) =>
    i > 0 && newPageAt >= 0 && row[newPageAt] !== rows[i - 1]![newPageAt] ? [i] : [],
  )
  return [0, ...starts, rows.length]
}

/** For each row, whether it certainly fits on one line. */
function shortRows(opening: Opening, rows: string[][]) {
  const widths = opening.columns.map(textPoints)
  return rows.map((row) => row.every((cell, i) => maxTextWidth(cell) * opening.scale <= widths[i]!))
}

/** Only one of the two builds is loaded, because loading takes longer than setting a page. */
async function openTagging(piece: Piece) {
  const { openTaggingTypst } = await import('./typst-wasm.ts')
  return openTaggingTypst(TEMPLATE, textOf(piece))
}

let cached: Typst | undefined

/** Each compiler has its own copy of the fonts, so a new one is made only if a new script appears. */
async function openNative(piece: Piece) {
  const text = textOf(piece)
  const isMissing = fontsFor(text).families.some((family) => !cached?.families.includes(family))
  if (cached && !isMissing) return cached
  const { openNativeTypst } = await import('./typst-native.ts')
  return (cached = openNativeTypst(TEMPLATE, text))
}

const textOf = ({ opening, rows, closing }: Piece) => JSON.stringify([opening, rows, closing])

function write(bytes: Buffer) {
  process.stdout.write(bytes)
}

await makePdf()
