import type { Clock } from '../../clock.ts'
import type { ReportFormat } from '../../contract/report.ts'
import type { Database } from '../../database/database.ts'
import { RequestError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { deleteOldFiles, storeFile } from '../../report-delivery/stored-files.ts'
import { printToFile } from '../../reports/print-to-file.ts'
import type { PrintJob } from '../../reports/print-request.ts'
import type { PageSize } from '../../reports/formats/pdf.ts'
import { updateRun } from '../../store/report-runs.ts'
import type { Slot, WorkQueue } from '../../work-queue.ts'

type Services = {
  database: Database
  clock: Clock
  log: Log
  queue: WorkQueue
  pageSize: PageSize
}

type Work = { job: PrintJob; format: ReportFormat; rowsTotal: number }

const HEARTBEAT_MS = 2_000

/** Prints reports in the background; clients fetch the files later. */
export class ReportRuns {
  readonly #services: Services
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(services: Services) {
    this.#services = services
  }

  /** Reserves a slot in the queue; the caller must release it if no run starts. 429 if the queue is full. */
  reserve(businessId: number) {
    return this.#services.queue.reserve({ businessId, signal: this.#stopping.signal })
  }

  /** Prints a stored run in the background. */
  start({ businessId, runId }: { businessId: number; runId: number }, slot: Slot, work: Work) {
    const printed = this.#print(businessId, runId, slot, work).finally(() => {
      slot.release()
      this.#running.delete(printed)
    })
    this.#running.add(printed)
  }

  async stop() {
    this.#stopping.abort(new RequestError(503, 'The node was stopped. Request the report again.'))
    await Promise.all(this.#running)
  }

  async #print(businessId: number, runId: number, slot: Slot, { job, format, rowsTotal }: Work) {
    const { database, clock, log, pageSize } = this.#services
    const db = database.forBusiness(businessId, 'SYSTEM')
    let rowsDone = 0
    let status: 'QUEUED' | 'RUNNING' = 'QUEUED'
    const update = (
      more: Omit<Parameters<typeof updateRun>[2], 'runId' | 'rowsDone' | 'rowsTotal'>,
    ) => updateRun(db, businessId, { runId, rowsDone, rowsTotal, ...more }, clock.now())
    const heartbeat = setInterval(() => void update({ status }).catch(() => {}), HEARTBEAT_MS)
    try {
      await deleteOldFiles(db, businessId, clock.now())
      const { signal } = this.#stopping
      await slot.granted
      status = 'RUNNING'
      await update({ status })
      const file = await printToFile(database.reportsOf(businessId), job, {
        format,
        pageSize,
        signal,
        onProgress: (rowsRead) => (rowsDone = rowsRead),
      })
      await storeFile(db, { businessId, runId }, file)
      await update({ status: 'COMPLETED', fileSize: file.size })
    } catch (error) {
      const known = error instanceof RequestError
      if (!known) log.error({ err: error, runId }, 'printing a report failed')
      const failure = known ? error.message : 'The service has failed. Its log has the details.'
      await update({ status: 'FAILED', failure }).catch(() => {})
    } finally {
      clearInterval(heartbeat)
    }
  }
}
