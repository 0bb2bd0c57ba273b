import { pause, type Loop } from '../repeat.ts'
import { isDatabaseAway, isTooSlow } from '../database/postgres-errors.ts'
import {
  beginAttempt,
  findDueSchedule,
  forgetAttempt,
  listBusinessesWithDueSchedules,
  recordFailedAttempt,
} from '../store/report-schedules.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import { failRun, findDueRun, runSchedule, ScheduleChanged, type RunParts } from './run-schedule.ts'

type LoopParts = RunParts & {
  /** Random bytes for the names of the workers of this node. */
  random(size: number): Buffer
  leaseSeconds: number
  onError(error: unknown): void
}

/** How many scheduled reports a node prints concurrently, each for another business. */
const LOOPS = 2
const REST_MS = 3_000
const MAX_CANDIDATES = 20
const MAX_ATTEMPTS = 5

/** Run report schedules that are due. A business has one schedule run at a time, on all nodes. */
export function createReportScheduleLoops(parts: LoopParts): Loop[] {
  // Shared by the loops, so that businesses are served in turn.
  const served = { businessId: 0 }
  return Array.from({ length: LOOPS }, () => createLoop(parts, served))
}

function createLoop(parts: LoopParts, served: { businessId: number }): Loop {
  const { database, now, leaseSeconds, onError } = parts
  const worker = parts.random(9).toString('base64url')

  const claim = (businessId: number) => {
    const moment = now()
    const leaseUntil = moment.add({ seconds: leaseSeconds })
    const work = { name: workName(businessId), worker }
    return claimWork(database.engine, work, { now: moment, leaseUntil })
  }

  /** Renews the lease while the work runs. */
  const runClaimed = async (businessId: number, stopping: AbortSignal) => {
    const renewing = setInterval(() => void claim(businessId).catch(onError), leaseSeconds * 300)
    try {
      return await runNextSchedule(parts, businessId, stopping)
    } finally {
      clearInterval(renewing)
      await releaseWork(database.engine, { name: workName(businessId), worker })
    }
  }

  const runOnce = async (stopping = new AbortController().signal) => {
    const due = { now: now(), after: served.businessId, limit: MAX_CANDIDATES }
    for (const businessId of await listBusinessesWithDueSchedules(database.engine, due)) {
      if (!(await claim(businessId))) continue
      served.businessId = businessId
      return runClaimed(businessId, stopping)
    }
    return 0
  }
  return { name: 'report-schedules', runOnce, rest: (stopping) => pause(REST_MS, stopping) }
}

const workName = (businessId: number) => `report schedules of business ${businessId}`

/** Returns 0 if another worker has run the schedule that was due. */
async function runNextSchedule(parts: LoopParts, businessId: number, stopping: AbortSignal) {
  const db = parts.database.forBusiness(businessId, 'SYSTEM')
  const row = await findDueSchedule(db, businessId, parts.now())
  const due = row && (await findDueRun(db, row, parts.now()))
  if (!row) return 0
  if (!due) return 1
  const attempt = row.state.attempts + 1
  if (attempt > MAX_ATTEMPTS) {
    const last = row.state.lastError ?? 'the node stopped while it printed the report'
    await unlessChanged(
      failRun(parts, due, `Gave up after ${MAX_ATTEMPTS} failed attempts: ${last}`),
    )
    return 1
  }
  if (!(await beginAttempt(db, row))) return 1
  try {
    await unlessChanged(runSchedule(parts, due, stopping))
  } catch (error) {
    if (stopping.aborted || isDatabaseAway(error)) {
      await forgetAttempt(db, row)
      if (stopping.aborted) return 0
      throw error
    }
    parts.onError(error)
    const retryTime = parts.now().add({ minutes: attempt ** 2 })
    await recordFailedAttempt(db, row, { error: describeError(error), retryTime })
  }
  return 1
}

/** For users. The error itself may contain data, so only the log has it. */
const describeError = (error: unknown) =>
  isTooSlow(error)
    ? 'the database took too long; choose a shorter range'
    : 'printing failed; the log of the service has the details'

/** Ignores that the schedule was saved meanwhile: the next iteration reads it again. */
async function unlessChanged(work: Promise<void>) {
  try {
    await work
  } catch (error) {
    if (!(error instanceof ScheduleChanged)) throw error
  }
}
