/** The only reader of the machine's time: everything else is handed a Clock or a moment. */
export type Clock = { now(): Temporal.Instant }

/**
 * The database's time. A machine's clock may jump; what counts between two readings of the
 * database is the monotonic counter, which does not.
 */
export class DatabaseClock implements Clock {
  #epochMs = Date.now()
  #readAt = performance.now()

  now() {
    const elapsed = performance.now() - this.#readAt
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(this.#epochMs + elapsed))
  }

  /** Takes over a reading. The counter was read when the question left and when the answer came. */
  set(databaseMs: number, askedAt: number, answeredAt: number) {
    this.#epochMs = databaseMs
    this.#readAt = (askedAt + answeredAt) / 2
  }

  /** How far the machine's own clock is from the database's, for `doctor`. */
  machineAheadMs() {
    return Date.now() - this.now().epochMilliseconds
  }
}

export const monotonicMs = () => performance.now()
