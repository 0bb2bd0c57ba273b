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
  removeBidiControls,
  writeChange,
  writeFigure,
  writeTotal,
  type Change,
} from './format-values.ts'
import type { ReportResult } from '../report.ts'

export type PageSize = 'A4' | 'Letter'

/** What the worker process needs before the rows. All values are formatted. */
export type Opening = {
  paper: Paper
  flipped: boolean
  title: string
  business: string
  footer: string
  facts: [label: string, value: string][]
  kpis: { label: string; value: string; size: number; change: string; trend: Change['trend'] }[]
  /** Tiles in a row. */
  perRow: number
  charts: Chart[]
  columns: PrintedColumn[]
  /** The column whose values each begin on a new page; -1: none. */
  newPageAt: number
  definitions: [label: string, definition: string][]
}

/** What the worker process needs after the rows. */
export type Closing = { totals: string[] | null; note: string }

/** Of virtual memory, of which Node alone maps 1 GB. */
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
  child.stdin.on('error', () => {}) // The exit code and stderr tell the reason.
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
    join(import.meta.dirname, 'pdf-worker.ts'),
  ]
  const prlimit = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path))
  const [name, ...parts] = prlimit ? [prlimit, `--as=${MAX_MEMORY_BYTES}`, ...program] : program
  return [name!, parts]
}

/** Without our settings and secrets. The compile cache saves a third of the time of a short report. */
const environment = () => ({
  PATH: process.env.PATH,
  MALLOC_ARENA_MAX: '2',
  // More threads cost more than they gain here.
  RAYON_NUM_THREADS: '1',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/bellwether'),
})

async function feed(input: NodeJS.WritableStream, result: ReportResult, pageSize: PageSize) {
  const send = async (message: Opening | Closing | string[][]) => {
    if (!input.write(`${JSON.stringify(message)}\n`)) await once(input, 'drain')
  }
  const { columns } = result
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
          column.total ? writeTotal(column, totals[column.name]) : i === 0 ? 'Total' : '',
        )
      : null,
    note: `${rowCount.toLocaleString('en')} ${rowCount === 1 ? 'row' : 'rows'}.`,
  })
  input.end()
}

/** `sample`: the first rows, which decide the widths of the columns. */
function makeOpening(result: ReportResult, pageSize: PageSize, sample: string[][]): Opening {
  const { report, parameters, comparison } = result
  const period = `${parameters.startDate} – ${parameters.endDate}`
  const paper = pageSize === 'Letter' ? 'us-letter' : 'a4'
  const flipped = isLandscape(result.columns)
  const tiles = result.kpis.length
  const perRow = tiles <= 5 ? tiles : Math.ceil(tiles / Math.ceil(tiles / 4))
  return {
    paper,
    flipped,
    title: report.reportName,
    business: toPlain(result.businessName),
    footer: `${shorten(toPlain(result.businessName), 60)} · ${report.reportName} · ${period}`,
    facts: describeScope(result).map(([label, value]) => [label, shorten(toPlain(value), 90)]),
    perRow,
    kpis: result.kpis.map((kpi) => {
      const value = writeFigure(kpi.value, kpi.unit, kpi.currency)
      const { text, trend } = writeChange(kpi, comparison)
      return {
        label: kpi.label,
        value,
        size: value.length > (flipped || perRow < 4 ? 14 : 10) ? 13 : 17,
        change: text,
        trend,
      }
    }),
    charts: result.charts.filter(hasValues),
    columns: layOutColumns(result.columns, sample, { paper, flipped }),
    newPageAt: result.newPageAt,
    definitions: result.definitions,
  }
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
