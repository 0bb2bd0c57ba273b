import { isBefore } from '../automation/timing.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Database, Db } from '../database/database.ts'
import { saveObjects } from '../scheduling/save.ts'
import { deleteEntriesOfFeed } from '../store/feed-entries.ts'
import { failRequestedRuns } from '../store/feed-runs.ts'
import {
  deactivateFeed,
  listObjectsOfFeed,
  lockFeed,
  lockFeedState,
  type FeedRow,
} from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { BATCH, correcting, feedUser } from './receive.ts'

type Ending = {
  database: Database
  settings: SettingsCache
  user: string
  now(): Temporal.Instant
  onCurrent(tx: Db, current: FeedRow): Promise<void>
}

/**
 * Deletes a feed and its secrets. Its appointments become own ones; with `remove` the upcoming ones are
 * deleted first. If it is interrupted, the next call continues.
 */
export async function endFeed(
  { database, settings, user, now, onCurrent }: Ending,
  feed: FeedRow,
  appointments: 'keep' | 'remove',
) {
  const { businessId, feedId } = feed
  const db = database.forBusiness(businessId, user)
  const ended = await db.transaction(async (tx) => {
    await lockFeedState(tx, feed)
    const current = (await lockFeed(tx, feed))!
    await onCurrent(tx, current)
    if (!current.active) return current
    await failRequestedRuns(tx, current, { error: 'The feed was deleted.', now: now() })
    return deactivateFeed(tx, current, { user, now: now() })
  })
  for (const objectType of ['CALENDAR', 'CLASS_SCHEDULE'] as const) {
    const kind = kindOfObjectType(objectType)
    for (;;) {
      const done = await database
        .forBusiness(businessId, feedUser(feed))
        .transaction(async (tx) => {
          const objects = await listObjectsOfFeed(tx, kind, { businessId, feedId }, BATCH)
          if (objects.length === 0) return 0
          const { saving } = correcting(feed, { settings, now: now() })
          const bodies = objects.map(({ id, startTime, active }) => ({
            [kind.id]: id,
            active: active && (appointments === 'keep' || !isBefore(saving.now, startTime)),
          }))
          const own = { ...saving, history: true, feedId: null }
          const saved = await saveObjects(tx, kind, bodies, own)
          const refused = saved.find((one) => one.refused)?.refused
          if (refused) throw refused
          return objects.length
        })
      if (done === 0) break
    }
  }
  await db.transaction((tx) => deleteEntriesOfFeed(tx, feed))
  return ended
}
