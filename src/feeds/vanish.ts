import type { Db } from '../database/database.ts'
import {
  listAbsentEntries,
  listEntriesOf,
  listLiveEntries,
  markAbsent,
  type ListedEntry,
} from '../store/feed-entries.ts'
import { setHealth, type FeedRow, type FeedState } from '../store/feeds.ts'
import { mirrorGone, type Mirroring, type MirrorResult } from './mirror.ts'
import type { Listing } from './source.ts'
import { isWithin } from './window.ts'

/** If more entries than this disappear at once, it is more often a fault of the source than a cancellation. */
const MIN_LIMIT = 5
const LIMIT_SHARE = 0.1

/** How sure a disappearance is. */
export type Listed = Listing & {
  /** An entry must be absent from a listing that is so much older, too. */
  confirmMinutes: number
  /** Keys that the source could be asked for, and was not, or did not answer. */
  unconfirmed?: Set<string>
}

/**
 * Ends the entries that a full listing lacks. If too many upcoming ones are absent, or the source does not
 * confirm it, none ends: the feed waits for a decision. Entries that come back end the wait.
 */
export async function applyListing(
  tx: Db,
  { keys, window, confirmMinutes, unconfirmed }: Listed,
  mirroring: Mirroring,
  state: FeedState,
): Promise<MirrorResult | undefined> {
  const { feed, saving } = mirroring
  const { now } = saving
  const isUpcoming = ({ startTime }: ListedEntry) =>
    startTime === null || Temporal.Instant.compare(startTime, now) > 0
  const counts = (row: ListedEntry) =>
    (row.state === 'MIRRORED' || row.state === 'HELD') && isUpcoming(row)
  const live = (await listLiveEntries(tx, feed)).filter(({ isErased }) => !isErased)
  const back = live.filter((row) => (row.absentTime || row.isKept) && keys.has(row.resourceKey))
  await markAbsent(tx, feed, back, null)
  const lacking = live.filter(
    (row) => isWithin(window, row.startTime) && !keys.has(row.resourceKey) && !row.isKept,
  )
  const absent = lacking.filter(counts)
  const fresh = absent.filter(({ absentTime }) => !absentTime)
  await markAbsent(tx, feed, fresh, now)
  const limit =
    feed.vanishLimit ?? Math.max(MIN_LIMIT, Math.floor(live.filter(counts).length * LIMIT_SHARE))
  // Once a person is asked, time alone does not decide: entries that began are not counted any more.
  const isAsked = state.health === 'NEEDS_DECISION' && absent.length > 0
  const isUnconfirmed = absent.some(
    ({ objectId, resourceKey }) => objectId !== null && unconfirmed?.has(resourceKey),
  )
  if (absent.length > limit || isAsked || isUnconfirmed) {
    await needDecision(tx, feed, absent.length, now)
    return undefined
  }
  const since = now.subtract({ minutes: confirmMinutes })
  const isSure = (row: ListedEntry) =>
    !counts(row) || Temporal.Instant.compare(row.absentTime ?? now, since) <= 0
  const ids = lacking.filter(isSure).map(({ feedEntryId }) => feedEntryId)
  await setWell(tx, feed, now)
  if (ids.length === 0) return undefined
  const rows = await listEntriesOf(tx, feed, { resourceKeys: [], entryKeys: [], ids })
  return mirrorGone(
    tx,
    rows.map((row) => ({ ...row, absentTime: row.absentTime ?? now })),
    mirroring,
  )
}

const setWell = (tx: Db, feed: FeedRow, now: Temporal.Instant) =>
  setHealth(tx, feed, { health: 'OK', cause: null }, now)

function needDecision(tx: Db, feed: FeedRow, count: number, now: Temporal.Instant) {
  const cause =
    count === 1
      ? '1 upcoming entry is not in the source any more.'
      : `${count} upcoming entries are not in the source any more.`
  return setHealth(tx, feed, { health: 'NEEDS_DECISION', cause }, now)
}

/** The feed is well, unless entries wait for a decision. */
export async function endDecision(
  tx: Db,
  feed: FeedRow,
  { health }: Pick<FeedState, 'health'>,
  now: Temporal.Instant,
) {
  const waiting = health === 'NEEDS_DECISION' ? await listAbsentEntries(tx, feed, now) : []
  if (waiting.length === 0) await setWell(tx, feed, now)
  else await needDecision(tx, feed, waiting.length, now)
}

/** A person decided that the entries that vanished are cancelled, or that they stay. */
export async function decideVanished(tx: Db, decision: 'cancel' | 'keep', mirroring: Mirroring) {
  const { feed, saving } = mirroring
  const absent = await listAbsentEntries(tx, feed, saving.now)
  if (decision === 'cancel') await mirrorGone(tx, absent, mirroring)
  else await markAbsent(tx, feed, absent, null, { isKept: true })
  await setWell(tx, feed, saving.now)
  return absent.length
}
