import type { Db } from '../database/database.ts'
import { EMAIL_QUEUE } from '../store/email-queue.ts'
import { findNextDueTime } from '../store/queue.ts'
import type { Deliveries } from './deliver.ts'
import { WakeSignal, MAX_REST_MS, restUntilDue } from './loop.ts'
import { type Loop } from '../repeat.ts'

type DeliverLoopParts = { db: Db; now(): Temporal.Instant; deliveries: Deliveries }

/** Begins to send due mails. `queued` wakes the loop when mails were queued. */
export function createDeliverLoop(
  { db, now, deliveries }: DeliverLoopParts,
  queued: WakeSignal,
): Loop {
  const rest = async (stopping: AbortSignal) => {
    // During an outage of the mail server mails are due, but none is claimed.
    if (deliveries.isPaused) return queued.wait(MAX_REST_MS, stopping)
    const next = await findNextDueTime(db, EMAIL_QUEUE)
    const { claimedAt } = deliveries
    await queued.wait(restUntilDue({ next, claimedAt, now: now() }), stopping)
  }
  return { name: 'deliver', runOnce: () => deliveries.begin(), rest }
}
