import { createHash } from 'node:crypto'
import { BulkCall } from '../automation/approvals.ts'
import type { InletAnswer, InletBody } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, notFound } from '../errors.ts'
import type { Saving } from '../scheduling/saving.ts'
import { listResources, writeResources, type ResourceRow } from '../store/feed-entries.ts'
import {
  findFeed,
  lockFeedState,
  recordPull,
  type FeedKey,
  type FeedRow,
  type FeedState,
} from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { mirrorResources, type MirrorResult, type Mirroring } from './mirror.ts'
import { compareVersions, isSameContent, readSentEntry, type SentEntry } from './sources/inlet.ts'
import { applyListing, endDecision } from './vanish.ts'

/** Objects are saved in batches of this size. */
export const BATCH = 500

/** After so long without a successful pull, what changed meanwhile is history. */
const MAX_GAP_HOURS = 72

export type Receiving = {
  settings: SettingsCache
  now: Temporal.Instant
  /** A dry run counts instead of holding. */
  bulkCall: Saving['bulkCall']
  isDryRun?: boolean
}

export type Received = InletAnswer & { results: MirrorResult[] }

export const feedUser = ({ name }: Pick<FeedRow, 'name'>) => `feed:${name}`

export const newBulkCall = (feed: FeedRow) =>
  new BulkCall({ businessId: feed.businessId, user: feedUser(feed) }, 'FEED')

/** Stores what a source sent, in the caller's transaction. Faulty entries do not affect the others. */
export async function receiveEntries(
  tx: Db,
  key: FeedKey,
  body: InletBody,
  receiving: Receiving,
): Promise<Received> {
  const state = await lockFeedState(tx, key)
  const feed = await findFeed(tx, key)
  if (!state || !feed?.active) throw notFound('feed', key.feedId)
  requireReceiving(feed, receiving)
  checkListing(body)
  const { sent, refused } = readEntries(body)
  const answer = { accepted: 0, unchanged: 0, old: 0, held: 0, skipped: 0, refused, results: [] }
  const received: Received = answer
  const fresh = await withoutKnown(tx, feed, sent, received)
  const mirroring = mirroringOf(feed, state, receiving)
  for (let at = 0; at < fresh.length; at += BATCH) {
    const some = fresh.slice(at, at + BATCH).map(({ sent: one }) => one)
    received.results.push(await storeSent(tx, some, mirroring))
  }
  for (const { state: became } of received.results.flatMap(({ entries }) => entries)) {
    if (became === 'HELD') received.held += 1
    if (became === 'SKIPPED') received.skipped += 1
  }
  received.accepted = fresh.length
  await finishPull(tx, body, { sent, state }, mirroring, received)
  return received
}

/** Only an INLET that is not a draft and not paused takes entries. */
export function requireReceiving(feed: FeedRow, { isDryRun }: Pick<Receiving, 'isDryRun'> = {}) {
  if (feed.source !== 'INLET')
    throw conflict(`The source ${feed.source} is read, and takes no entries.`)
  if (isDryRun || feed.mode === 'SHADOW' || feed.mode === 'LIVE') return
  const todo =
    feed.mode === 'DRAFT' ? 'Set its mode to SHADOW first.' : 'Set its mode to LIVE to go on.'
  throw conflict(`The feed “${feed.name}” is in mode ${feed.mode} and takes no entries. ${todo}`)
}

function checkListing({ complete }: InletBody) {
  if (!complete || complete.to > complete.from) return
  throw invalid([{ pointer: '/complete/to', detail: 'must be after from' }])
}

type Placed = { sent: SentEntry; index: number }

const MAX_REFUSED = 1_000

function readEntries({ entries }: InletBody) {
  const sent: Placed[] = []
  const refused: InletAnswer['refused'] = []
  for (const [index, given] of entries.entries()) {
    const read = readSentEntry(given)
    if (!('faults' in read)) sent.push({ sent: read, index })
    else {
      for (const { pointer, detail } of read.faults) {
        if (refused.length < MAX_REFUSED)
          refused.push({ index, pointer: `/entries/${index}${pointer}`, detail })
      }
    }
  }
  return { sent, refused }
}

const digestOf = ({ resource }: SentEntry) =>
  createHash('sha256')
    .update(JSON.stringify(resource?.entries ?? null))
    .digest()

const OTHER_CONTENT = 'was sent before with other content: a change needs a higher version'

/** Leaves out what is known already, and refuses another content under a known version. */
async function withoutKnown(tx: Db, feed: FeedRow, sent: Placed[], received: Received) {
  const newest = new Map<string, Placed>()
  const refuse = (index: number) =>
    received.refused.push({ index, pointer: `/entries/${index}/version`, detail: OTHER_CONTENT })
  for (const placed of sent) {
    const earlier = newest.get(placed.sent.key)
    const order = earlier ? compareVersions(placed.sent.version, earlier.sent.version) : 1
    if (order === 0 && isSameContent(placed.sent, earlier!.sent)) received.unchanged += 1
    else if (order === 0) refuse(placed.index)
    else {
      if (earlier) received.old += 1
      if (order > 0) newest.set(placed.sent.key, placed)
    }
  }
  const known = new Map(
    (await listResources(tx, feed, [...newest.keys()])).map((row) => [row.resourceKey, row]),
  )
  return [...newest.values()].filter(({ sent: one, index }) => {
    const stored = known.get(one.key)
    const order = stored ? compareVersions(one.version, stored.version) : 1
    if (order > 0) return true
    if (order < 0) received.old += 1
    else if (digestOf(one).equals(stored!.contentDigest)) received.unchanged += 1
    else refuse(index)
    return false
  })
}

/** How what a source says is written. */
export function mirroringOf(
  feed: FeedRow,
  state: FeedState,
  { settings, now, bulkCall }: Pick<Receiving, 'settings' | 'now' | 'bulkCall'>,
): Mirroring {
  const { businessId, feedId } = feed
  const isBefore = (time: Temporal.Instant | null, limit: Temporal.Instant) =>
    time === null || Temporal.Instant.compare(time, limit) < 0
  const isGap = isBefore(state.successTime, now.subtract({ hours: MAX_GAP_HOURS }))
  // A source that is read from its beginning, because its connection was changed, is another one.
  const isOther =
    feed.source !== 'INLET' &&
    state.cursor === null &&
    isBefore(state.completeTime, state.mappingChangedTime)
  const saving: Saving = {
    businessId,
    user: feedUser(feed),
    now,
    settings,
    feedId,
    ...(bulkCall && { bulkCall }),
  }
  return { feed, saving, isHistory: isGap || isOther }
}

/** Mirroring that is a correction: no events, reminders are planned again. */
export const correcting = (feed: FeedRow, receiving: Omit<Receiving, 'bulkCall'>): Mirroring => ({
  feed,
  saving: {
    businessId: feed.businessId,
    user: feedUser(feed),
    now: receiving.now,
    settings: receiving.settings,
    feedId: feed.feedId,
  },
  isHistory: true,
})

async function storeSent(tx: Db, sent: SentEntry[], mirroring: Mirroring) {
  const { businessId, feedId } = mirroring.feed
  const resources = sent.flatMap(({ resource }) => resource ?? [])
  const deleted = sent.filter(({ resource }) => !resource).map(({ key }) => key)
  const result = await mirrorResources(tx, { resources, deleted }, mirroring)
  await writeResources(
    tx,
    sent.map((one): ResourceRow => ({
      businessId,
      feedId,
      resourceKey: one.key,
      calendar: null,
      version: one.version,
      contentDigest: digestOf(one),
      readAgainTime: null,
    })),
  )
  return result
}

/** Applies a full listing, and records the success. */
async function finishPull(
  tx: Db,
  { complete }: InletBody,
  { sent, state }: { sent: Placed[]; state: FeedState },
  mirroring: Mirroring,
  received: Received,
) {
  const { feed, saving } = mirroring
  if (complete) {
    const keys = new Set([...complete.keys, ...sent.map(({ sent: one }) => one.key)])
    const window = {
      from: Temporal.Instant.fromEpochMilliseconds(complete.from),
      to: Temporal.Instant.fromEpochMilliseconds(complete.to),
    }
    const result = await applyListing(tx, { keys, window, confirmMinutes: 0 }, mirroring, state)
    if (result) received.results.push(result)
  } else await endDecision(tx, feed, state, saving.now)
  await recordPull(tx, feed, { isComplete: Boolean(complete), now: saving.now })
}
