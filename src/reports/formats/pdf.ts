import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { showsSomething, type Chart } from '../chart.ts'
import { layOut, lettersAcross, liesDown, type Paper, type PrintedColumn } from './column-widths.ts'
import {
  cellWriter,
  factsOf,
  withoutTurns,
  writeChange,
  writeFigure,
  type Change,
} from './for-people.ts'
import type { ReportResult } from '../report.ts'

export type PageSize = 'A4' | 'Letter'

/** What the child needs before the rows, all of it ready to be printed. */
export type Opening = {
  paper: Paper
  flipped: boolean
  title: string
  business: string
  footer: string
  facts: [label: string, value: string][]
  kpis: { label: string; value: string; size: number; change: string; mood: Change['mood'] }[]
  charts: Chart[]
  columns: PrintedColumn[]
  definitions: [label: string, definition: string][]
}

/** … and after them. */
export type Closing = { totals: string[] | null; note: string }

/** Of addresses: Node maps 1 GB for itself and each thread of a large machine some more. */
const MOST_MEMORY_BYTES = 3_000_000_000
const MOST_MS = 600_000

/** Set by Typst in a process of its own: see typeset.ts. */
export async function* toPdf(
  result: ReportResult,
  pageSize: PageSize,
  signal?: AbortSignal,
): AsyncIterable<Buffer> {
  const child = spawn(...command(), { stdio: ['pipe', 'pipe', 'pipe'], env: environment() })
  const stop = () => child.kill('SIGKILL')
  const watch = setTimeout(stop, MOST_MS)
  signal?.addEventListener('abort', stop)
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  ended.catch(() => {}) // Awaited below; until then it must not pass for unhandled.
  let complaint = ''
  child.stderr.on(
    'data',
    (bytes: Buffer) => (complaint = (complaint + String(bytes)).slice(-2_000)),
  )
  child.stdin.on('error', () => {}) // Its reason stands on stderr and in its exit code.
  try {
    let unread: Error | undefined
    feed(child.stdin, result, pageSize).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') unread = error
      stop()
    })
    for await (const bytes of child.stdout) yield bytes
    const [code, killedBy] = await ended
    signal?.throwIfAborted()
    if (unread) throw unread
    if (code !== 0) throw new Error(`setting the report failed (${code ?? killedBy}): ${complaint}`)
  } finally {
    clearTimeout(watch)
    signal?.removeEventListener('abort', stop)
    stop()
  }
}

/** Under a limit of memory where the system can set one: one report must not take the machine. */
function command(): [string, string[]] {
  const program = [
    process.execPath,
    '--max-old-space-size=512',
    '--expose-gc',
    join(import.meta.dirname, 'typeset.ts'),
  ]
  const prlimit = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path))
  const [name, ...parts] = prlimit ? [prlimit, `--as=${MOST_MEMORY_BYTES}`, ...program] : program
  return [name!, parts]
}

/** Nothing of ours that it does not need; parsing its code is a third of a short report. */
const environment = () => ({
  PATH: process.env.PATH,
  MALLOC_ARENA_MAX: '2',
  // Idle threads that look for work would take more than they give.
  RAYON_NUM_THREADS: '1',
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/bellwether'),
})

async function feed(input: NodeJS.WritableStream, result: ReportResult, pageSize: PageSize) {
  const send = async (message: Opening | Closing | string[][]) => {
    if (!input.write(`${JSON.stringify(message)}\n`)) await once(input, 'drain')
  }
  const { columns } = result
  const write = cellWriter(result)
  let capacity: number[] | undefined
  const open = async (sample: string[][]) => {
    const opening = openingOf(result, pageSize, sample)
    capacity = opening.columns.map(lettersAcross)
    await send(opening)
  }

  let rowCount = 0
  for await (const batch of result.rows) {
    rowCount += batch.length
    const rows = batch.map((row) =>
      columns.map(({ type }, i) => {
        const written = write(type, row[i]!)
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
  const totalled = columns.some(({ total }) => total)
  await send({
    totals: totalled
      ? columns.map(({ name, type, total }, i) =>
          total ? write(type, totals[name] ?? null) : i === 0 ? 'Total' : '',
        )
      : null,
    note: `The previous period is the range of equal length before this one. ${rowCount.toLocaleString('en')} ${rowCount === 1 ? 'row' : 'rows'}.`,
  })
  input.end()
}

/** Columns are as wide as their first rows ask for. */
function openingOf(result: ReportResult, pageSize: PageSize, sample: string[][]): Opening {
  const { report, parameters, currency } = result
  const period = `${parameters.startDate} – ${parameters.endDate}`
  const paper = pageSize === 'Letter' ? 'us-letter' : 'a4'
  const flipped = liesDown(result.columns)
  return {
    paper,
    flipped,
    title: report.reportName,
    business: toPlain(result.businessName),
    footer: `${shorten(toPlain(result.businessName), 60)} · ${report.reportName} · ${period}`,
    facts: factsOf(result).map(([label, value]) => [label, shorten(toPlain(value), 90)]),
    kpis: result.kpis.map((kpi, _, { length }) => {
      const value = writeFigure(kpi.value, kpi.unit, currency)
      const { text, mood } = writeChange(kpi)
      return {
        label: kpi.label,
        value,
        size: value.length > (flipped || length < 4 ? 14 : 10) ? 13 : 17,
        change: text,
        mood,
      }
    }),
    charts: result.charts.filter(showsSomething),
    columns: layOut(result.columns, sample, { paper, flipped }),
    definitions: result.kpis.map(({ label, definition }) => [label, definition]),
  }
}

/** A long word would run into the next column: it may be broken, best where its parts meet. */
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

/** A row must fit on a page: rows are never broken, so that pieces end where pages do. */
const MOST_CHARACTERS = 600
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g

const toPlain = (text: string) => {
  const plain = withoutTurns(text).replace(CONTROLS, ' ').toWellFormed()
  return shorten(plain, MOST_CHARACTERS)
}

const shorten = (text: string, length: number) =>
  text.length > length ? `${[...text].slice(0, length).join('')}…` : text
