import type { Db } from '../database/database.ts'
import { listLongQueues } from '../store/email-queue.ts'

/**
 * Finds the businesses whose email queue is so long that more mails would only wait there. Their
 * triggers stay pending until the mail server has accepted some; other businesses are not delayed.
 */
export class Throttle {
  readonly #db: Db
  readonly #maxQueuedEmails: number
  #throttled: ReadonlySet<number> = new Set()
  #readAt: Temporal.Instant | undefined

  constructor(db: Db, maxQueuedEmails = MAX_QUEUED_EMAILS) {
    this.#db = db
    this.#maxQueuedEmails = maxQueuedEmails
  }

  async listThrottled(now: Temporal.Instant) {
    const ms = this.#readAt ? now.epochMilliseconds - this.#readAt.epochMilliseconds : Infinity
    if (ms < 0 || ms >= THROTTLE_READ_EVERY_MS) {
      this.#readAt = now
      this.#throttled = new Set(await listLongQueues(this.#db, now, this.#maxQueuedEmails))
    }
    return this.#throttled
  }
}

/** A busy mail server accepts this many within a second or two. */
const MAX_QUEUED_EMAILS = 2_000

/** The limit is soft: between two reads, firing may exceed it. */
export const THROTTLE_READ_EVERY_MS = 250
