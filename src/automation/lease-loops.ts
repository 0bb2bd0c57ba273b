import type { Db } from '../database/database.ts'
import { isDatabaseAway } from '../database/refusals.ts'
import { takeOverEmails } from '../store/email-queue.ts'
import {
  ANY_ATTEMPTS,
  nextDueTime,
  renewTriggerLeases,
  takeOverTriggers,
} from '../store/trigger-queue.ts'
import type { Deliveries } from './deliver.ts'
import type { FireLoops } from './fire-loops.ts'
import { pause, type Loop } from './loop.ts'

type LeaseLoopParts = {
  db: Db
  now(): Temporal.Instant
  leaseSeconds: number
  fireLoops: FireLoops
  deliveries: Deliveries
}

/** Renews the leases of this node's workers that have claimed triggers or mails. */
export function createHeartbeatLoop(parts: LeaseLoopParts): Loop {
  const { db, now, leaseSeconds, fireLoops, deliveries } = parts
  const runOnce = async () => {
    const leaseUntil = now().add({ seconds: leaseSeconds })
    const workers = fireLoops.busyWorkers()
    if (workers.length > 0) await renewTriggerLeases(db, workers, leaseUntil)
    await deliveries.renew(leaseUntil)
    return 0
  }
  return { name: 'heartbeat', runOnce, rest: (stopping) => pause(leaseSeconds * 300, stopping) }
}

/** Takes over the triggers and mails of workers whose lease has expired, on any node. */
export function createTakeoverLoop(parts: LeaseLoopParts): Loop {
  const { db, now, leaseSeconds, fireLoops, deliveries } = parts
  let wasAway = false
  const takeOver = async () => {
    const triggers = await takeOverTriggers(db, now())
    if (triggers > 0) fireLoops.claimFromStart()
    return triggers + (await takeOverEmails(db, now())) + (await deliveries.replanLeftBehind())
  }

  /**
   * Every lease expires during an outage of the database. The first step after it takes over nothing,
   * so that workers can release what they claimed: an outage is no failed attempt.
   */
  const runOnce = async () => {
    try {
      if (!wasAway) return await takeOver()
      await nextDueTime(db, ANY_ATTEMPTS)
      wasAway = false
      return 0
    } catch (error) {
      wasAway ||= isDatabaseAway(error)
      throw error
    }
  }
  return { name: 'takeover', runOnce, rest: (stopping) => pause(leaseSeconds * 250, stopping) }
}
