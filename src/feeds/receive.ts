import { createHash } from 'node:crypto'
import { BulkCall } from '../automation/approvals.ts'
import type { InletAnswer, InletBody } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, notFound } from '../errors.ts'
import type { Saving } from '../scheduling/saving.ts'
import { isBefore } from '../automation/timing.ts'
import {
  countOtherEntries,
  deleteEndedResources,
  listResources,
  writeResources,
  type ResourceRow,
} from '../store/feed-entries.ts'
import {
  findFeed,
  lockFeedState,
  recordPull,
  type FeedKey,
  type FeedRow,
  type FeedState,
} from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { mirrorResources, type Changes, type MirrorResult, type Mirroring } from './mirror.ts'
import { MAX_RESOURCES, type Entry } from './source.ts'
import { compareVersions, readSentEntry, type SentEntry } from './sources/inlet.ts'
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
  const none = { accepted: 0, unchanged: 0, old: 0, held: 0, skipped: 0 }
  const received: Received = { ...none, refused, results: [] }
  const fresh = await withoutKnown(tx, feed, sent, received)
  await requireRoom(tx, feed, fresh, receiving.now)
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

/** Of a resource that was deleted: of nothing. */
const digestOf = (entries: Entry[] | null = null) =>
  createHash('sha256').update(JSON.stringify(entries)).digest()

const digestOfSent = ({ resource }: SentEntry) => digestOf(resource?.entries)

const OTHER_CONTENT = 'was sent before with other content: a change needs a higher version'

/** Leaves out what is known already, and refuses another content under a known version. */
async function withoutKnown(tx: Db, feed: FeedRow, sent: Placed[], received: Received) {
  const newest = new Map<string, Placed>()
  const refuse = (index: number) =>
    received.refused.push({ index, pointer: `/entries/${index}/version`, detail: OTHER_CONTENT })
  for (const placed of sent) {
    const earlier = newest.get(placed.sent.key)
    const order = earlier ? compareVersions(placed.sent.version, earlier.sent.version) : 1
    const isSame = order === 0 && digestOfSent(placed.sent).equals(digestOfSent(earlier!.sent))
    if (isSame) received.unchanged += 1
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
    else if (digestOfSent(one).equals(stored!.contentDigest)) received.unchanged += 1
    else refuse(index)
    return false
  })
}

/** A full feed still accepts changes and deletions of entries that it has. */
async function requireRoom(tx: Db, feed: FeedRow, fresh: Placed[], now: Temporal.Instant) {
  const keys = fresh.flatMap(({ sent: { key, resource } }) => (resource ? [key] : []))
  const known = new Set((await listResources(tx, feed, keys)).map((row) => row.resourceKey))
  if (keys.every((key) => known.has(key))) return
  const others = await countOtherEntries(tx, feed, { except: keys, now })
  if (others + keys.length <= MAX_RESOURCES) return
  throw conflict(
    `The feed would have more than ${MAX_RESOURCES} entries: send those that are not needed any more with deleted.`,
  )
}

/** How what a source says is written. */
export function mirroringOf(
  feed: FeedRow,
  state: FeedState,
  { settings, now, bulkCall }: Receiving,
): Mirroring {
  const { successTime, completeTime, mappingChangedTime } = state
  const isGap = !successTime || isBefore(successTime, now.subtract({ hours: MAX_GAP_HOURS }))
  // A source that is read from its beginning, because its connection was changed, is another one.
  const isOther =
    feed.source !== 'INLET' &&
    state.cursor === null &&
    (!completeTime || isBefore(completeTime, mappingChangedTime))
  const { saving } = correcting(feed, { settings, now })
  return {
    feed,
    saving: { ...saving, ...(bulkCall && { bulkCall }) },
    isHistory: isGap || isOther,
  }
}

/** Mirroring that is a correction: no events, reminders are planned again. */
export const correcting = (
  feed: FeedRow,
  { settings, now }: Pick<Receiving, 'settings' | 'now'>,
): Mirroring => {
  const { businessId, feedId } = feed
  const saving = { businessId, user: feedUser(feed), now, settings, feedId }
  return { feed, saving, isHistory: true }
}

/** Writes a batch and the versions of its resources. */
export async function storeChanges(tx: Db, changes: Changes, mirroring: Mirroring) {
  const { feed } = mirroring
  const result = await mirrorResources(tx, changes, mirroring)
  const rows = changes.resources.map(({ key, calendar, version, entries, readAgainAt }) => ({
    ...resourceRow(feed, key, version),
    calendar,
    contentDigest: digestOf(entries),
    readAgainTime: readAgainAt,
  }))
  await writeResources(tx, rows)
  await deleteEndedResources(tx, feed, changes.deleted)
  return result
}

const resourceRow = (
  { businessId, feedId }: FeedRow,
  key: string,
  version: string,
): ResourceRow => ({
  businessId,
  feedId,
  resourceKey: key,
  calendar: null,
  version,
  contentDigest: digestOf(),
  readAgainTime: null,
})

/** Of what was deleted the version stays: an older one that comes later is ignored. */
async function storeSent(tx: Db, sent: SentEntry[], mirroring: Mirroring) {
  const resources = sent.flatMap(({ resource }) => resource ?? [])
  const gone = sent.filter(({ resource }) => !resource)
  const deleted = gone.map(({ key }) => key)
  const result = await storeChanges(tx, { resources, deleted }, mirroring)
  await writeResources(
    tx,
    gone.map(({ key, version }) => resourceRow(mirroring.feed, key, version)),
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
