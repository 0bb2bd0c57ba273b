import { writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import type { ReportFormat } from '../../contract/report.ts'
import { lowerPriority } from '../../lower-priority.ts'
import type { Cell, ReportResult, Totals } from '../report.ts'
import { write } from './formats.ts'

/** Everything of a report that is known before its rows. */
export type ReportHead = Omit<ReportResult, 'rows' | 'totals'>

/** The worker thread of `writer-pool.ts`: a head, batches of rows and the totals in, a file out. */
export type Sent =
  | { kind: 'head'; format: Exclude<ReportFormat, 'pdf'>; head: ReportHead; fd: number }
  | { kind: 'rows'; rows: Cell[][] }
  | { kind: 'totals'; totals: Totals }

/** `taken`: another batch can be sent. */
export type Answered =
  | { kind: 'taken' }
  | { kind: 'done'; size: number }
  | { kind: 'error'; message: string }

// Elsewhere the priority would be that of the service.
if (process.platform === 'linux') lowerPriority()

const port = parentPort!
const answer = (message: Answered) => port.postMessage(message)

type Received = Exclude<Sent, { kind: 'head' }>
const received: Received[] = []
let wake: (() => void) | undefined

port.on('message', (message: Sent) => {
  if (message.kind === 'head') return void writeFile(message)
  received.push(message)
  wake?.()
})

async function next(): Promise<Received> {
  while (received.length === 0) {
    await new Promise<void>((resolve) => (wake = resolve))
  }
  return received.shift()!
}

async function writeFile({ format, head, fd }: Extract<Sent, { kind: 'head' }>) {
  let totals: Totals | undefined
  async function* rows() {
    for (;;) {
      const message = await next()
      if (message.kind === 'totals') {
        totals = message.totals
        return
      }
      answer({ kind: 'taken' })
      yield message.rows
    }
  }
  try {
    const result: ReportResult = { ...head, rows: rows(), totals: () => totals! }
    let size = 0
    for await (const bytes of write(format, result, 'A4')) {
      const chunk = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      for (let at = 0; at < chunk.length;)
        at += writeSync(fd, chunk, at, chunk.length - at, size + at)
      size += chunk.length
    }
    answer({ kind: 'done', size })
  } catch (error) {
    answer({
      kind: 'error',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
}
