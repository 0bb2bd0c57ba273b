import { notifyOfCancelledHere, type NoticeMails } from '../automation/notices.ts'
import type { Database, Db } from '../database/database.ts'
import { pause, type Loop } from '../repeat.ts'
import { listEntries, listEntriesOfTime } from '../store/feed-entries.ts'
import {
  findFeed,
  lockFeedState,
  setRemapAfter,
  takeFeedOfTime,
  type FeedKey,
} from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { listAllStatuses } from '../store/statuses.ts'
import { closingStatus } from './map-entry.ts'
import { closedUntil } from './mapping.ts'
import { mirrorAgain } from './mirror.ts'
import { BATCH, correcting, feedUser } from './receive.ts'
import { windowOf } from './window.ts'

type RemapParts = { database: Database; settings: SettingsCache; now(): Temporal.Instant }

/**
 * Maps the entries of a feed again, after its rules, matches or defaults were changed. Each page is a
 * transaction. If interrupted, the next change of the mapping continues.
 */
export async function remapFeed({ database, settings, now }: RemapParts, key: FeedKey) {
  const feed = await findFeed(database.forBusiness(key.businessId, 'SYSTEM'), key)
  if (!feed) return
  const db = database.forBusiness(key.businessId, feedUser(feed))
  while (await db.transaction((tx) => remapPage(tx, key, { settings, now: now() })));
}

/** Returns whether there are more. */
async function remapPage(
  tx: Db,
  key: FeedKey,
  parts: { settings: SettingsCache; now: Temporal.Instant },
) {
  const state = await lockFeedState(tx, key)
  const feed = await findFeed(tx, key)
  if (!feed?.active || state?.remapAfter == null) return false
  const rows = await listEntries(tx, feed, { after: state.remapAfter, limit: BATCH })
  await mirrorAgain(tx, rows, correcting(feed, parts))
  const isDone = rows.length < BATCH
  await setRemapAfter(tx, feed, isDone ? null : rows.at(-1)!.feedEntryId)
  return !isDone
}

const EVERY_MINUTES = 15
const REST_MS = 15_000

/**
 * Maps entries again that time alone changes: they ended a while ago, or the horizon has reached them.
 * Tells people about those that were cancelled here and not in the source.
 */
export const createTimeLoop = (parts: RemapParts & NoticeMails): Loop => ({
  name: 'feed time',
  runOnce: async () => {
    const now = parts.now()
    const before = now.subtract({ minutes: EVERY_MINUTES })
    const key = await takeFeedOfTime(parts.database.engine, { now, before })
    if (!key) return 0
    const feed = await findFeed(parts.database.forBusiness(key.businessId, 'SYSTEM'), key)
    if (!feed) return 1
    const db = parts.database.forBusiness(key.businessId, feedUser(feed))
    while (await db.transaction((tx) => remapOfTime(tx, key, { ...parts, now })));
    // Mails about the appointments of other modes are not sent.
    if (feed.mode === 'LIVE') {
      await db.transaction(async (tx) => {
        await lockFeedState(tx, feed)
        await notifyOfCancelledHere(tx, parts, feed)
      })
    }
    return 1
  },
  rest: (stopping) => pause(REST_MS, stopping),
})

/** Returns whether there are more. */
async function remapOfTime(
  tx: Db,
  key: FeedKey,
  parts: { settings: SettingsCache; now: Temporal.Instant },
) {
  await lockFeedState(tx, key)
  const feed = await findFeed(tx, key)
  if (!feed?.active) return false
  const statuses = await listAllStatuses(tx, [feed.businessId])
  const live = statuses.filter(({ objectType, outcome }) => {
    const ofType = statuses.filter((one) => one.objectType === objectType)
    return outcome === 'PENDING' && closingStatus(feed, ofType) !== undefined
  })
  const rows = await listEntriesOfTime(tx, feed, {
    live: live.map(({ objectType, status }) => `${objectType} ${status}`),
    closedUntil: closedUntil(feed, parts.now),
    from: parts.now,
    to: windowOf(feed, parts.now).to,
    limit: BATCH,
  })
  if (rows.length > 0) await mirrorAgain(tx, rows, correcting(feed, parts))
  return rows.length === BATCH
}
