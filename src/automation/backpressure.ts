import type { Db } from '../database/database.ts'
import { listLongQueues } from '../store/email-queue.ts'

/**
 * Whose mails wait for the mail server in such numbers that more of them would only grow old: until
 * it has taken some, their triggers wait in their place. Asked for each business, so that the long
 * queue of one holds up nobody else.
 */
export class Backpressure {
  readonly #db: Db
  readonly #mostWaiting: number
  #held: ReadonlySet<number> = new Set()
  #askedAt: Temporal.Instant | undefined

  constructor(db: Db, mostWaiting = MOST_WAITING) {
    this.#db = db
    this.#mostWaiting = mostWaiting
  }

  async heldBack(now: Temporal.Instant) {
    const ms = this.#askedAt ? now.epochMilliseconds - this.#askedAt.epochMilliseconds : Infinity
    if (ms < 0 || ms >= ASKED_EVERY_MS) {
      this.#askedAt = now
      this.#held = new Set(await listLongQueues(this.#db, now, this.#mostWaiting))
    }
    return this.#held
  }
}

/** What a busy sender takes within a second or two. */
const MOST_WAITING = 2_000

/** The bound is soft: in between, firing may go beyond it by what it makes in that time. */
export const ASKED_EVERY_MS = 250
