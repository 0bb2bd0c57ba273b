/** Only this file reads the time of the machine. All other code gets a Clock or a time as a parameter. */
export type Clock = {
  now(): Temporal.Instant
  /**
   * The database's time at this point of a transaction, for decisions that must never be early. Test
   * clocks do not have it; `now()` is used instead.
   */
  confirm?(readDatabaseTime: () => Promise<Temporal.Instant>): Promise<Temporal.Instant>
  /** Calls the listener after the time was set back. */
  onSetBack?(listener: SetBackListener): void
}

/** `stepMs`: how far the time was set back, never too much. */
export type SetBackListener = (stepMs: number) => void

/**
 * The database's time, never ahead of it. Between two readings the monotonic counter measures the
 * time: the machine's own clock may jump.
 */
export class DatabaseClock implements Clock {
  /** The database's time minus the monotonic counter. */
  #offsetMs = Date.now() - performance.now()
  #isRead = false
  readonly #listeners: SetBackListener[] = []

  now() {
    return Temporal.Instant.fromEpochMilliseconds(Math.floor(this.#offsetMs + performance.now()))
  }

  /** Uses a reading of the database's time that was answered at this moment of the counter. */
  set(databaseMs: number, answeredAt: number) {
    this.#offsetMs = databaseMs - answeredAt
    this.#isRead = true
  }

  /**
   * Reads the database's time. The database took it after the question was sent and before the answer
   * arrived. An estimate outside of these limits is wrong: somebody has set the clock of the database, or
   * the two machines count at different speeds. The new one counts from the answer, so it is never ahead.
   */
  async read(readDatabaseMs: () => Promise<number>) {
    const sentAt = performance.now()
    const databaseMs = await readDatabaseMs()
    const answeredAt = performance.now()
    const aheadMs = this.#offsetMs - (databaseMs - sentAt)
    const isBehind = this.#offsetMs < databaseMs - answeredAt
    if (this.#isRead && aheadMs <= 0 && !isBehind) return
    const isSetBack = this.#isRead && aheadMs > MIN_STEP_MS
    this.set(databaseMs, answeredAt)
    if (isSetBack) for (const listener of this.#listeners) listener(Math.floor(aheadMs))
  }

  async confirm(readDatabaseTime: () => Promise<Temporal.Instant>) {
    let confirmed: Temporal.Instant | undefined
    await this.read(async () => {
      confirmed = await readDatabaseTime()
      return Number(confirmed.epochNanoseconds) / 1e6
    })
    return confirmed!
  }

  onSetBack(listener: SetBackListener) {
    this.#listeners.push(listener)
  }

  /** How far the machine's own clock is from the database's, for `doctor`. */
  machineAheadMs() {
    return Date.now() - this.now().epochMilliseconds
  }
}

/** Less is a correction of the clock, which moves no stored time noticeably. */
const MIN_STEP_MS = 1_000

export const monotonicMs = () => performance.now()

/** Earlier than any stored time. */
export const LONG_AGO = Temporal.Instant.fromEpochMilliseconds(0)

/** This many calendar months earlier, in UTC. */
export const monthsBefore = (now: Temporal.Instant, months: number) =>
  now.toZonedDateTimeISO('UTC').subtract({ months }).toInstant()
