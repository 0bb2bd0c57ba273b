import type { Clock } from '../../src/clock.ts'

/** A clock that only advances when the test says so. */
export function manualClock(start = '2026-03-02T09:00:00Z'): Clock & {
  advance(by: Temporal.DurationLike): void
  in(span: Temporal.DurationLike): Temporal.Instant
} {
  let now = Temporal.Instant.from(start)
  return {
    now: () => now,
    advance: (by) => void (now = now.add(by)),
    in: (span) => now.add(span),
  }
}
