import type { FeedHealth } from '../contract/feed.ts'
import type { Database, Db } from '../database/database.ts'
import { pause, type Loop } from '../repeat.ts'
import { markLateFeeds, takeHealthChanges, type HealthChange } from '../store/feed-health.ts'
import { failInterruptedDryRuns } from '../store/feed-runs.ts'
import { listFeedSummaries } from '../store/feeds.ts'

const WHAT_TO_DO: Record<FeedHealth, string | null> = {
  OK: null,
  LATE: 'Check that the source answers, and that a node runs the engine.',
  FAILING: 'Check the source. The feed tries again by itself.',
  NEEDS_LOGIN: 'Enter the credential of the account again.',
  NEEDS_DECISION:
    'Look into the source. Then cancel the appointments (POST /feed/{feedId}/vanished/cancel) or keep them (…/keep).',
  KEY_MISSING: 'Set SECRET_KEY as it was, or enter the credential again.',
}

/** A feed is LATE after so many intervals without a success. */
export const LATE_INTERVALS = 3

const CHECKED_EVERY_MS = 15_000

export type HealthParts = {
  database: Database
  now(): Temporal.Instant
  /** For the log. */
  onHealth?: ((change: HealthChange) => void) | undefined
}

/**
 * Finds feeds that are late and dry runs whose process died, and reports each change of health once. The
 * notices are those of the engine.
 */
export const createHealthLoop = ({ database: { engine }, now, onHealth }: HealthParts): Loop => ({
  name: 'feed health',
  runOnce: async () => {
    await markLateFeeds(engine, now())
    await failInterruptedDryRuns(engine, now())
    for (const change of await takeHealthChanges(engine)) onHealth?.(change)
    return 0
  },
  rest: (stopping) => pause(CHECKED_EVERY_MS, stopping),
})

/** What to do about a feed that is not well. */
export const todoOf = (health: FeedHealth) => WHAT_TO_DO[health]

const HELD_DAYS = 7

/** The feeds of a business, as the start page shows them. */
export async function summarizeFeeds(db: Db, businessId: number, now: Temporal.Instant) {
  const heldUntil = now.add({ hours: 24 * HELD_DAYS })
  const rows = await listFeedSummaries(db, businessId, { now, heldUntil })
  return rows.map(({ healthSince, healthCause, sums, checkedTime, ...feed }) => ({
    ...feed,
    since: healthSince,
    cause: healthCause,
    todo: todoOf(feed.health),
    sentence:
      sums && checkedTime
        ? { all: sums.mirrored, skipped: sums.skipped, held: sums.held, checkedTime }
        : null,
  }))
}
