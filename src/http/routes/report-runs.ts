import type { Clock } from '../../clock.ts'
import type { ReportFormat } from '../../contract/report.ts'
import type { Database, Db } from '../../database/database.ts'
import { RequestError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { printToFile, type PrintedFile } from '../../reports/file.ts'
import type { Order } from '../../reports/order.ts'
import type { PageSize } from '../../reports/formats/pdf.ts'
import {
  deleteRunsBefore,
  insertRunPart,
  updateRun,
  type ReportRun,
} from '../../store/report-runs.ts'
import type { Slot, WorkQueue } from '../../work-queue.ts'

type Surroundings = {
  database: Database
  clock: Clock
  log: Log
  queue: WorkQueue
  pageSize: PageSize
}

type Work = { order: Order; format: ReportFormat; rowsTotal: number }

const KEPT = { hours: 24 }
const BYTES_IN_A_PART = 262_144
const BEAT_MS = 2_000

/** Prints in the background what somebody will fetch later. */
export class ReportRuns {
  readonly #surroundings: Surroundings
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Stores a run and prints it in the background. Refused with 429 if the queue is full. */
  async start(businessId: number, insert: () => Promise<ReportRun>, work: Work) {
    const slot = this.#surroundings.queue.reserve({ businessId, signal: this.#stopping.signal })
    const run = await insert().catch((error: unknown) => {
      slot.release()
      throw error
    })
    const printed = this.#print(businessId, run.runId, slot, work).finally(() => {
      slot.release()
      this.#running.delete(printed)
    })
    this.#running.add(printed)
    return run
  }

  async stop() {
    this.#stopping.abort(new RequestError(503, 'The node was stopped; ask again.'))
    await Promise.all(this.#running)
  }

  async #print(businessId: number, runId: number, slot: Slot, { order, format, rowsTotal }: Work) {
    const { database, clock, log, pageSize } = this.#surroundings
    const db = database.forBusiness(businessId, 'SYSTEM')
    let rowsDone = 0
    let status: 'QUEUED' | 'RUNNING' = 'QUEUED'
    const say = (more: Omit<Parameters<typeof updateRun>[2], 'runId' | 'rowsDone' | 'rowsTotal'>) =>
      updateRun(db, businessId, { runId, rowsDone, rowsTotal, ...more }, clock.now())
    const beat = setInterval(() => void say({ status }).catch(() => {}), BEAT_MS)
    try {
      await deleteRunsBefore(db, businessId, clock.now().subtract(KEPT))
      const { signal } = this.#stopping
      await slot.granted
      status = 'RUNNING'
      await say({ status })
      const file = await printToFile(database.reportsOf(businessId), order, {
        format,
        pageSize,
        signal,
        onProgress: (rowsRead) => (rowsDone = rowsRead),
      })
      await keep(db, businessId, runId, file)
      await say({ status: 'COMPLETED', fileSize: file.size })
    } catch (error) {
      const known = error instanceof RequestError
      if (!known) log.error({ err: error, runId }, 'a report run failed')
      const failure = known ? error.message : 'Something went wrong on our side; the log has it.'
      await say({ status: 'FAILED', failure }).catch(() => {})
    } finally {
      clearInterval(beat)
    }
  }
}

async function keep(db: Db, businessId: number, runId: number, { handle, size }: PrintedFile) {
  try {
    for (let part = 0, at = 0; at < size; part++) {
      const bytes = Buffer.alloc(Math.min(BYTES_IN_A_PART, size - at))
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, at)
      if (bytesRead !== bytes.length) throw new Error('the printed file is shorter than it was')
      await insertRunPart(db, businessId, runId, part, bytes)
      at += bytesRead
    }
  } finally {
    await handle.close()
  }
}
