/** Only this file reads the time of the machine. All other code gets a Clock or a time as a parameter. */
export type Clock = {
  now(): Temporal.Instant
  /**
   * The database's time at this point of a transaction, for decisions that must never be early. Test
   * clocks do not have it; `now()` is used instead.
   */
  confirm?(readDatabaseTime: () => Promise<Temporal.Instant>): Promise<Temporal.Instant>
}

/**
 * The database's time, never ahead of it. Between two readings the monotonic counter measures the
 * time: the machine's own clock may jump.
 */
export class DatabaseClock implements Clock {
  /** The database's time minus the monotonic counter. */
  #offsetMs = Date.now() - performance.now()

  now() {
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(this.#offsetMs + performance.now()))
  }

  /**
   * Uses a reading of the database's time. The database took it before the answer arrived, so counting
   * from the answer can only be late.
   */
  set(databaseMs: number, answeredAt: number) {
    this.#offsetMs = databaseMs - answeredAt
  }

  /** No reading is ahead of the database, so the highest of a few is the closest. */
  async synchronise(readDatabaseMs: () => Promise<number>) {
    let closest = Number.NEGATIVE_INFINITY
    for (let reading = 0; reading < READINGS; reading += 1) {
      closest = Math.max(closest, (await readDatabaseMs()) - performance.now())
    }
    this.#offsetMs = closest
  }

  /** If the database's time was set back, or this machine counts too fast, the clock follows at once. */
  async confirm(readDatabaseTime: () => Promise<Temporal.Instant>) {
    const expected = this.now()
    const confirmed = await readDatabaseTime()
    const isAhead = Temporal.Instant.compare(expected, confirmed) > 0
    if (isAhead) this.set(confirmed.epochMilliseconds, performance.now())
    return confirmed
  }

  /** How far the machine's own clock is from the database's, for `doctor`. */
  machineAheadMs() {
    return Date.now() - this.now().epochMilliseconds
  }
}

const READINGS = 3

export const monotonicMs = () => performance.now()

/** Earlier than any stored time. */
export const LONG_AGO = Temporal.Instant.fromEpochMilliseconds(0)

/** This many calendar months earlier, in UTC. */
export const monthsBefore = (now: Temporal.Instant, months: number) =>
  now.toZonedDateTimeISO('UTC').subtract({ months }).toInstant()
