import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError } from '../../errors.ts'
import { hasValues, type Chart } from '../chart.ts'
import {
  layOutColumns,
  maxLettersPerLine,
  isLandscape,
  type Paper,
  type PrintedColumn,
} from './column-widths.ts'
import {
  cellWriters,
  describeScope,
  labelledInHours,
  removeBidiControls,
  writeChange,
  writeFigure,
  writePeriod,
  writeRowCount,
  writeTotal,
  type ChangeText,
} from './format-values.ts'
import { chartsPerRow } from './draw-chart.ts'
import type { Logo, ReportResult } from '../report.ts'
import { wordsOf } from '../words.ts'
import { SUFFIX } from '../../version.ts'

export type PageSize = 'A4' | 'Letter'

/** The message to the worker process before the rows. All values are formatted. */
export type Opening = {
  paper: Paper
  flipped: boolean
  language: string
  locale: string
  /** The colour of the business, and its logo as a file of the worker. */
  accent: string
  logo: Logo | null
  title: string
  business: string
  /** Words of the layout. */
  words: Record<'page' | 'of' | 'definitions' | 'nothing', string>
  footer: string
  facts: [label: string, value: string][]
  /** Sentences about the figures. */
  sentences: string[]
  kpis: { label: string; value: string; size: number; change: string; trend: ChangeText['trend'] }[]
  /** Tiles in a row. */
  perRow: number
  charts: Chart[]
  chartsPerRow: number
  columns: PrintedColumn[]
  /** The scale of the font of the table. */
  scale: number
  /** The column whose values each begin on a new page; -1: none. */
  newPageAt: number
  /** In columns of about the same length. */
  definitions: Definition[][]
}

type Definition = [label: string, definition: string]

/** The message to the worker process after the rows. */
export type Closing = { totals: string[] | null; note: string }

/** The limit of virtual memory. Node alone maps 1 GB. */
const MAX_MEMORY_BYTES = 3_000_000_000
const MAX_RUN_MS = 600_000
const TOO_SLOW =
  'Making the PDF took longer than 10 minutes. Try again later, or print it as CSV or for fewer days.'

/** Typst makes the PDF in a process of its own: see pdf-worker.ts. */
export async function* toPdf(
  result: ReportResult,
  pageSize: PageSize,
  signal?: AbortSignal,
): AsyncIterable<Buffer> {
  const child = spawn(...command(), { stdio: ['pipe', 'pipe', 'pipe'], env: environment() })
  const stop = () => child.kill('SIGKILL')
  let isTooSlow = false
  const timeout = setTimeout(() => {
    isTooSlow = true
    stop()
  }, MAX_RUN_MS)
  signal?.addEventListener('abort', stop)
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  ended.catch(() => {}) // Awaited below; until then it must not count as unhandled.
  let errorOutput = ''
  child.stderr.on(
    'data',
    (bytes: Buffer) => (errorOutput = (errorOutput + String(bytes)).slice(-2_000)),
  )
  child.stdin.on('error', () => {}) // The exit code and stderr give the reason.
  try {
    let readError: Error | undefined
    feed(child.stdin, result, pageSize).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') readError = error
      stop()
    })
    for await (const bytes of child.stdout) yield bytes
    const [code, killedBy] = await ended
    signal?.throwIfAborted()
    if (readError) throw readError
    if (isTooSlow) throw new RequestError(503, TOO_SLOW)
    if (code !== 0) throw new Error(`making the PDF failed (${code ?? killedBy}): ${errorOutput}`)
  } finally {
    clearTimeout(timeout)
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** With a memory limit if the system has prlimit: one report must not use up the machine. */
function command(): [string, string[]] {
  const program = [
    process.execPath,
    '--max-old-space-size=512',
    '--expose-gc',
    // Optimizing the WebAssembly code for one report would cost three times as much as it gains.
    '--liftoff-only',
    '--wasm-lazy-validation',
    // Without it, WebAssembly reserves more virtual memory than the limit.
    '--disable-wasm-trap-handler',
    join(import.meta.dirname, `pdf-worker${SUFFIX}`),
  ]
  const prlimit = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path))
  const [name, ...parts] = prlimit ? [prlimit, `--as=${MAX_MEMORY_BYTES}`, ...program] : program
  return [name!, parts]
}

/** Has none of our settings and secrets. The compile cache saves a third of the time of a short report. */
const environment = () => ({
  PATH: process.env.PATH,
  MALLOC_ARENA_MAX: '2',
  // More threads cost more than they gain here.
  RAYON_NUM_THREADS: '1',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/bellwether'),
})

async function feed(input: NodeJS.WritableStream, given: ReportResult, pageSize: PageSize) {
  const result = { ...given, columns: labelledInHours(given.columns) }
  const send = async (message: Opening | Closing | string[][]) => {
    if (!input.write(`${JSON.stringify(message)}\n`)) await once(input, 'drain')
  }
  const { columns } = result
  const words = wordsOf(result.locale)
  const writers = cellWriters(result)
  let capacity: number[] | undefined
  const open = async (sample: string[][]) => {
    const opening = makeOpening(result, pageSize, sample)
    capacity = opening.columns.map(maxLettersPerLine)
    await send(opening)
  }

  let rowCount = 0
  for await (const batch of result.rows) {
    rowCount += batch.length
    const rows = batch.map((row) =>
      columns.map(({ type }, i) => {
        const written = writers[i]!(row[i]!, row)
        return type === 'text' ? toPlain(written) : written
      }),
    )
    if (!capacity) await open(rows.slice(0, 1_000))
    await send(
      rows.map((row) =>
        row.map((cell, i) => (columns[i]!.type === 'text' ? breakable(cell, capacity![i]!) : cell)),
      ),
    )
  }
  if (!capacity) await open([])
  const totals = result.totals()
  const hasTotals = columns.some(({ total }) => total)
  await send({
    totals: hasTotals
      ? columns.map((column, i) =>
          column.total
            ? writeTotal(column, totals[column.name], words.locale)
            : i === 0
              ? words.say('Total')
              : '',
        )
      : null,
    note: writeRowCount(rowCount, words),
  })
  input.end()
}

/** `sample`: the first rows, which decide the widths of the columns. */
function makeOpening(result: ReportResult, pageSize: PageSize, sample: string[][]): Opening {
  const { report, parameters } = result
  const paper = pageSize === 'Letter' ? 'us-letter' : 'a4'
  const flipped = isLandscape(result.columns, sample)
  const words = wordsOf(result.locale)
  const period = writePeriod(parameters, words)
  const { say } = words
  const values = result.kpis.map((kpi) => writeFigure(kpi, words))
  const { perRow, sizes } = layOutTiles(values, flipped)
  const charts = result.charts.filter(hasValues)
  const laidOut = layOutColumns(result.columns, sample, { paper, flipped })
  return {
    paper,
    flipped,
    language: words.language,
    locale: words.locale,
    accent: result.accentColor ?? ACCENT,
    logo: result.logo,
    words: {
      page: say('Page'),
      of: say('of'),
      definitions: say('What the figures count'),
      nothing: say('Nothing in this period.'),
    },
    title: report.reportName,
    business: toPlain(result.businessName),
    footer: `${shorten(toPlain(result.businessName), 60)} · ${report.reportName} · ${period}`,
    facts: describeScope(result).map(([label, value]) => [label, shorten(toPlain(value), 220)]),
    sentences: result.sentences.map(toPlain),
    perRow,
    kpis: result.kpis.map((kpi, i) => {
      const { text, trend } = writeChange(kpi, result, words)
      return { label: kpi.label, value: values[i]!, size: sizes[i]!, change: text, trend }
    }),
    charts,
    chartsPerRow: chartsPerRow(charts),
    columns: laidOut.columns,
    scale: laidOut.scale,
    newPageAt: result.newPageAt,
    definitions: splitEvenly(result.definitions, flipped ? 3 : 2),
  }
}

/** Pine, unless the business has a colour of its own. */
const ACCENT = '#2f5d50'

/** Tiles in a row of a portrait and a landscape page: with more, most amounts would be set smaller. */
const MAX_TILES = { portrait: 4, landscape: 6 }
const [MIN_TILE_SIZE, MAX_TILE_SIZE] = [8, 14]
/** Long names of a service or person are set smaller than the other values. */
const MIN_SHARED_SIZE = 11

/** How many tiles share a row, and the font size of each value, in points: the same unless it is long. */
export function layOutTiles(values: string[], flipped: boolean) {
  const max = flipped ? MAX_TILES.landscape : MAX_TILES.portrait
  const perRow = Math.ceil(values.length / Math.max(1, Math.ceil(values.length / max)))
  const width = (flipped ? 762 : 515) / perRow - 19
  const own = values.map((value) => Math.floor((10 * width) / (value.length * 0.64)) / 10)
  const shared = Math.min(MAX_TILE_SIZE, ...own.filter((size) => size >= MIN_SHARED_SIZE))
  return { perRow, sizes: own.map((size) => Math.max(MIN_TILE_SIZE, Math.min(shared, size))) }
}

/** Splits definitions into columns, in order. */
function splitEvenly(definitions: Definition[], count: number): Definition[][] {
  if (definitions.length === 0) return []
  const lengthOf = ([label, definition]: Definition) => label.length + definition.length + 20
  const whole = definitions.reduce((sum, one) => sum + lengthOf(one), 0)
  const columns: Definition[][] = Array.from({ length: count }, () => [])
  let before = 0
  for (const one of definitions) {
    const middle = before + lengthOf(one) / 2
    columns[Math.min(count - 1, Math.floor((middle / whole) * count))]!.push(one)
    before += lengthOf(one)
  }
  return columns
}

/** Allows line breaks in words that are longer than a line, preferably after punctuation. */
function breakable(text: string, capacity: number) {
  return text.replace(/\S+/g, (word) => {
    if (word.length <= capacity) return word
    const parts = word.split(/(?<=[-@._/])/)
    return parts.map((part) => cut(part, capacity).join('\u200b')).join('\u200b')
  })
}

function cut(part: string, length: number) {
  if (part.length <= length) return [part]
  const letters = [...new Intl.Segmenter().segment(part)].map(({ segment }) => segment)
  const pieces: string[] = []
  for (let i = 0; i < letters.length; i += length)
    pieces.push(letters.slice(i, i + length).join(''))
  return pieces
}

/** A row must fit on a page, because rows are not split across pages. */
const MAX_CELL_LENGTH = 600
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g

const toPlain = (text: string) => {
  const plain = removeBidiControls(text).replace(CONTROLS, ' ').toWellFormed()
  return shorten(plain, MAX_CELL_LENGTH)
}

const shorten = (text: string, length: number) =>
  text.length > length ? `${[...text].slice(0, length).join('')}…` : text
