/** Ends a rest early. A hint between two rests ends the next one. */
export class WakeSignal {
  #wake: (() => void) | undefined
  #isGiven = false

  wake() {
    this.#isGiven = true
    this.#wake?.()
  }

  async wait(ms: number, stopping: AbortSignal) {
    if (ms > 0 && !this.#isGiven && !stopping.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
    }
    this.#isGiven = false
  }
}

type Due = {
  /** When the next row is due; null: no row is pending. */
  next: Temporal.Instant | null
  /** When rows were last claimed. */
  claimedAt: Temporal.Instant | undefined
  now: Temporal.Instant
}

/** The time until a row is due, at most `MAX_REST_MS`. */
export function restUntilDue({ next, claimedAt, now }: Due) {
  if (!next) return MAX_REST_MS
  const wasDue = claimedAt && Temporal.Instant.compare(next, claimedAt) <= 0
  if (wasDue) return LOCKED_REST_MS
  return Math.min(MAX_REST_MS, Math.max(0, next.epochMilliseconds - now.epochMilliseconds))
}

/** Hints may be missed, so no loop rests longer than this. */
export const MAX_REST_MS = 1_000

/** A row that was due at the last claim and is still free is locked by another transaction. */
const LOCKED_REST_MS = 100
