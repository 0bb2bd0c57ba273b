import type { FeedRow } from '../store/feeds.ts'

/** The times in `[from, to)`. */
export type Window = { from: Temporal.Instant; to: Temporal.Instant }

/** The days that a feed mirrors. */
export const windowOf = (
  { historyDays, horizonDays }: Pick<FeedRow, 'historyDays' | 'horizonDays'>,
  now: Temporal.Instant,
): Window => ({
  from: now.subtract({ hours: 24 * historyDays }),
  to: now.add({ hours: 24 * horizonDays }),
})

/** More than the 72 hours after which what a pull finds is history. */
const AHEAD = { hours: 96 }

/**
 * What sources list: a little more than is mirrored. What the horizon reaches is known before, so that it
 * is not taken for a new booking.
 */
export const listedWindow = ({ from, to }: Window): Window => ({ from, to: to.add(AHEAD) })

/** Whether the time is known and in the window; without a window every time is. */
export const isWithin = (window: Window | null, time: Temporal.Instant | null) =>
  !window ||
  (time !== null &&
    Temporal.Instant.compare(time, window.from) >= 0 &&
    Temporal.Instant.compare(time, window.to) < 0)
