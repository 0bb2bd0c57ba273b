import type { Db } from '../database/database.ts'
import { isDatabaseAway } from '../database/postgres-errors.ts'
import { beginServerEpoch, EMAIL_QUEUE, takeOverEmails } from '../store/email-queue.ts'
import {
  deleteUnusedLeases,
  findNextLeaseEnd,
  lockExpiredLeases,
  renewLeases,
} from '../store/queue.ts'
import { takeOverTriggers, TRIGGER_QUEUE } from '../store/trigger-queue.ts'
import type { Deliveries } from './deliver.ts'
import type { FireLoops } from './fire-loops.ts'
import { pause, type Loop } from '../repeat.ts'

type LeaseLoopParts = { db: Db; now(): Temporal.Instant; leaseSeconds: number }

type Workers = { fireLoops: FireLoops; deliveries: Deliveries }

const QUEUES = [TRIGGER_QUEUE, EMAIL_QUEUE]

/** Renews the leases of this node's workers that have claimed triggers or mails. */
export function createHeartbeatLoop(
  { db, now, leaseSeconds }: LeaseLoopParts,
  { fireLoops, deliveries }: Workers,
): Loop {
  const runOnce = async () => {
    const workers = [...fireLoops.busyWorkers(), ...deliveries.busyWorkers()]
    if (workers.length > 0) await renewLeases(db, workers, now().add({ seconds: leaseSeconds }))
    const finished = deliveries.takeFinishedWorkers()
    if (finished.length > 0) await deleteUnusedLeases(db, QUEUES, finished)
    return 0
  }
  return { name: 'heartbeat', runOnce, rest: (stopping) => pause(leaseSeconds * 300, stopping) }
}

/** Takes over the triggers and mails of workers whose lease has expired, on any node. */
export function createTakeoverLoop({ db, now, leaseSeconds }: LeaseLoopParts): Loop {
  // A node may have started just after an outage.
  let mayHaveBeenAway = true
  let restMs = takeoverMs(leaseSeconds)
  const takeOver = async () => {
    await beginServerEpoch(db)
    return db.transaction((tx) => takeOverExpired(tx, now(), leaseSeconds))
  }

  /**
   * Every lease expires during an outage of the database. The first step after it, and after the start
   * of the node, takes over nothing, so that workers can release what they claimed: an outage is not a
   * failed attempt.
   */
  const runOnce = async () => {
    try {
      if (!mayHaveBeenAway) {
        const count = await takeOver()
        restMs = restUntilLeaseEnd(await findNextLeaseEnd(db), now(), leaseSeconds)
        return count
      }
      await beginServerEpoch(db)
      mayHaveBeenAway = false
      restMs = takeoverMs(leaseSeconds)
      return 0
    } catch (error) {
      mayHaveBeenAway ||= isDatabaseAway(error)
      throw error
    }
  }
  return {
    name: 'takeover',
    runOnce,
    rest: (stopping) => pause(restMs, stopping),
  }
}

async function takeOverExpired(tx: Db, now: Temporal.Instant, leaseSeconds: number) {
  const expired = await lockExpiredLeases(tx, now)
  if (expired.length === 0) return 0
  const triggers = await takeOverTriggers(tx, expired, { retrySeconds: leaseSeconds, now })
  const emails = await takeOverEmails(tx, expired, now)
  const workers = expired.map(({ worker }) => worker)
  await deleteUnusedLeases(tx, QUEUES, workers)
  return triggers + emails
}

/** The longest time between the end of a lease and its takeover. */
export const takeoverMs = (leaseSeconds: number) => leaseSeconds * 250

/** Not at once after a lease that has ended: rows of it may be locked. */
function restUntilLeaseEnd(
  end: Temporal.Instant | null,
  now: Temporal.Instant,
  leaseSeconds: number,
) {
  const maxMs = takeoverMs(leaseSeconds)
  const untilEndMs = end ? end.epochMilliseconds - now.epochMilliseconds + 1 : maxMs
  return Math.min(maxMs, Math.max(maxMs / 10, untilEndMs))
}
