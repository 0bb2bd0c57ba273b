import { notifyOfCancelledHere, type NoticeMails } from '../automation/notices.ts'
import type { Database, Db } from '../database/database.ts'
import { pause, type Loop } from '../repeat.ts'
import { listEntries, listEntriesOfTime, type EntryRow } from '../store/feed-entries.ts'
import {
  findFeed,
  lockFeedState,
  setRemapAfter,
  takeFeedOfTime,
  type FeedKey,
  type FeedRow,
  type FeedState,
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
  while (await remapPage(db, key, { settings, now: now() }, listAfter));
}

type Page = { settings: SettingsCache; now: Temporal.Instant }

/** Maps a page of entries again, in a transaction. Returns whether there are more. */
const remapPage = (
  db: Db,
  key: FeedKey,
  page: Page,
  list: (tx: Db, feed: FeedRow, state: FeedState, now: Temporal.Instant) => Promise<EntryRow[]>,
) =>
  db.transaction(async (tx) => {
    const state = await lockFeedState(tx, key)
    const feed = await findFeed(tx, key)
    if (!state || !feed?.active) return false
    const rows = await list(tx, feed, state, page.now)
    if (rows.length > 0) await mirrorAgain(tx, rows, correcting(feed, page))
    return rows.length === BATCH
  })

/** The next entries after a change of the mapping. */
async function listAfter(tx: Db, feed: FeedRow, { remapAfter }: FeedState) {
  if (remapAfter === null) return []
  const rows = await listEntries(tx, feed, { after: remapAfter, limit: BATCH })
  await setRemapAfter(tx, feed, rows.length < BATCH ? null : rows.at(-1)!.feedEntryId)
  return rows
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
    while (await remapPage(db, key, { ...parts, now }, listOfTime));
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

/** Entries that ended a while ago, or that the horizon has reached. */
async function listOfTime(tx: Db, feed: FeedRow, _state: FeedState, now: Temporal.Instant) {
  const statuses = await listAllStatuses(tx, [feed.businessId])
  const live = statuses.filter(({ objectType, outcome }) => {
    const ofType = statuses.filter((one) => one.objectType === objectType)
    return outcome === 'PENDING' && closingStatus(feed, ofType) !== undefined
  })
  return listEntriesOfTime(tx, feed, {
    live: live.map(({ objectType, status }) => `${objectType} ${status}`),
    closedUntil: closedUntil(feed, now),
    from: now,
    to: windowOf(feed, now).to,
    limit: BATCH,
  })
}
