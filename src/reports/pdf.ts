import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Chart } from './chart.ts'
import { cellWriter, writeChange, writeFigure, writeMoment, type Change } from './for-people.ts'
import { isFigure, type Cell, type Column, type ReportResult } from './report.ts'

export type PageSize = 'A4' | 'Letter'

/** What the child needs before the rows, all of it ready to be printed. */
export type Opening = {
  paper: 'a4' | 'us-letter'
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

/** Figures, days and times take what they need; texts share the rest. */
export type PrintedColumn = { label: string; right: boolean } & (
  | { points: number }
  | { share: number }
)

/** … and after them. */
export type Closing = { totals: string[] | null; note: string }

/** Of addresses: Node maps 1 GB for itself and each thread of a large machine some more. */
const MOST_MEMORY_BYTES = 3_000_000_000
const MOST_MS = 600_000

/** Set by Typst in a process of its own: see typeset.ts. */
export async function* toPdf(result: ReportResult, pageSize: PageSize): AsyncIterable<Buffer> {
  const child = spawn(...command(), { stdio: ['pipe', 'pipe', 'pipe'], env: environment() })
  const watch = setTimeout(() => child.kill('SIGKILL'), MOST_MS)
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
      child.kill('SIGKILL')
    })
    for await (const bytes of child.stdout) yield bytes
    const [code, signal] = await ended
    if (unread) throw unread
    if (code !== 0) throw new Error(`setting the report failed (${code ?? signal}): ${complaint}`)
  } finally {
    clearTimeout(watch)
    child.kill('SIGKILL')
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
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/bellwether'),
})

async function feed(input: NodeJS.WritableStream, result: ReportResult, pageSize: PageSize) {
  const send = async (message: Opening | Closing | string[][]) => {
    if (!input.write(`${JSON.stringify(message)}\n`)) await once(input, 'drain')
  }
  const { columns } = result
  const write = cellWriter(result)
  const opening = openingOf(result, pageSize)
  const capacity = textWidths(opening).map((points) =>
    Math.max(4, Math.floor(points / POINTS.digit)),
  )
  const set = ({ type }: Column, cell: Cell, i: number) => {
    const written = write(type, cell)
    return type === 'text' ? breakable(toPlain(written), capacity[i]!) : written
  }

  await send(opening)
  let rowCount = 0
  for await (const batch of result.rows) {
    rowCount += batch.length
    await send(batch.map((row) => columns.map((column, i) => set(column, row[i]!, i))))
  }
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

function openingOf(result: ReportResult, pageSize: PageSize): Opening {
  const { report, parameters, currency } = result
  const period = `${parameters.startDate} – ${parameters.endDate}`
  const columns = result.columns.map(toPrinted)
  const flipped = pointsWanted(columns) > POINTS_ACROSS.upright
  return {
    paper: pageSize === 'Letter' ? 'us-letter' : 'a4',
    flipped,
    title: report.reportName,
    business: toPlain(result.businessName),
    footer: toPlain(`${result.businessName} · ${report.reportName} · ${period}`),
    facts: [
      ['Location', toPlain(result.locationName ?? 'All locations')],
      ['Period', period],
      ['Time zone', parameters.timeZone],
      ['Printed', writeMoment(parameters.printedTime, parameters.timeZone)],
    ],
    kpis: result.kpis.map((kpi) => {
      const value = writeFigure(kpi.value, kpi.unit, currency)
      const { text, mood } = writeChange(kpi)
      return { label: kpi.label, value, size: value.length > 10 ? 13 : 17, change: text, mood }
    }),
    charts: result.charts,
    columns,
    definitions: result.kpis.map(({ label, definition }) => [label, definition]),
  }
}

/** Between the margins of the narrower of the two papers. */
const POINTS_ACROSS = { upright: 504, lying: 701 }
/** In the table's size of type: a digit, a letter of a running text, a capital in bold. */
const POINTS = { digit: 4.95, letter: 4.5, label: 5.2, around: 9 }

function toPrinted({ label, width, type }: Column): PrintedColumn {
  if (type === 'text') return { label, right: false, share: width }
  const points = Math.max(width * POINTS.digit, label.length * POINTS.label) + POINTS.around
  return { label, right: isFigure(type), points }
}

/** A table that would be crowded on an upright page lies down. */
const pointsWanted = (columns: PrintedColumn[]) =>
  columns.reduce(
    (sum, column) =>
      sum + ('points' in column ? column.points : column.share * POINTS.letter + POINTS.around),
    0,
  )

/** How wide the text of each column may be. */
export function textWidths({ columns, flipped }: Opening) {
  const fixed = columns.reduce((sum, column) => sum + ('points' in column ? column.points : 0), 0)
  const shares = columns.reduce((sum, column) => sum + ('share' in column ? column.share : 0), 0)
  const rest = (flipped ? POINTS_ACROSS.lying : POINTS_ACROSS.upright) - fixed
  return columns.map(
    (column) =>
      ('points' in column ? column.points : (rest * column.share) / shares) - POINTS.around,
  )
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
/** Signs that turn the direction of what follows could make one name read as another. */
const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g

const toPlain = (text: string) => {
  const plain = text.replace(TURNS, '').replace(CONTROLS, ' ').toWellFormed()
  return plain.length > MOST_CHARACTERS ? `${plain.slice(0, MOST_CHARACTERS)}…` : plain
}
