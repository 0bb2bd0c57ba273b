import type { Database, Db } from '../database/database.ts'
import { listEntries } from '../store/feed-entries.ts'
import { findFeed, lockFeedState, setRemapAfter, type FeedKey } from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { mirrorAgain } from './mirror.ts'
import { correcting, feedUser } from './receive.ts'

const PAGE = 500

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
  const rows = await listEntries(tx, feed, { after: state.remapAfter, limit: PAGE })
  await mirrorAgain(tx, rows, correcting(feed, parts))
  const isDone = rows.length < PAGE
  await setRemapAfter(tx, feed, isDone ? null : rows.at(-1)!.feedEntryId)
  return !isDone
}
