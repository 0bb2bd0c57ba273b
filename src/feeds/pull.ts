import type { Database, Db } from '../database/database.ts'
import {
  deleteEndedResources,
  endReadingAgain,
  listAbsentEntries,
  listEntriesOf,
  listLiveEntries,
  listResourceVersions,
} from '../store/feed-entries.ts'
import { storePullEnd } from '../store/feed-pulls.ts'
import { findFeed, lockFeedState, type FeedRow, type FeedState } from '../store/feeds.ts'
import type { SettingsCache } from '../store/settings.ts'
import { REPLICA_SECONDS } from './hooks.ts'
import type { Changes, Mirroring } from './mirror.ts'
import { pairMoved } from './moved.ts'
import { BATCH, feedUser, mirroringOf, newBulkCall, storeChanges } from './receive.ts'
import { accountOf, readSecret, type SourceAccess } from './source-access.ts'
import type { Listing, PulledPart, Resource, Source, SourceAccount } from './source.ts'
import { RunSummary } from './summary.ts'
import { applyListing, endDecision } from './vanish.ts'
import { isWithin, listedWindow, windowOf } from './window.ts'

export type PullParts = {
  database: Database
  settings: SettingsCache
  access: SourceAccess
  now(): Temporal.Instant
}

/** A pull that a worker has claimed. */
export type ClaimedPull = {
  feed: FeedRow
  pullNumber: number
  cursor: unknown
  /** What `next_pull_time` is while the pull runs. */
  before(): Temporal.Instant
  /** When the feed is pulled again after a success. */
  next: Temporal.Instant
  /** When it is reconciled next, or was to be. */
  reconcileTime: Temporal.Instant
  /** Without a success by then, it is LATE. */
  lateTime: Temporal.Instant
  signal: AbortSignal
}

/** Another worker pulls the feed, or it is paused or deleted: nothing of this pull may be written any more. */
export class PullSuperseded extends Error {}

/** An entry that its source cannot be asked for must be absent from two listings. */
const CONFIRM_MINUTES = 10
/** If more are absent, a person decides instead of the source. */
const MAX_ASKED = 500

/**
 * Reads the changes of a source and writes them in batches; the cursor is stored with the last one. A
 * first pull writes while it reads. Later ones read everything first, because a resource that left one
 * place may be in another.
 */
export async function pullFeed(parts: PullParts, claim: ClaimedPull) {
  const session = await openSession(parts, claim)
  const { db, source, account } = session
  const known = await readKnown(db, source, claim, account.now)
  try {
    const read: PulledPart = { resources: [], deleted: [] }
    const pulling = source.pull!(account, known)
    let step = await pulling.next()
    for (; !step.done; step = await pulling.next()) {
      read.resources.push(...step.value.resources)
      read.deleted.push(...step.value.deleted)
      if (!known.isFirst) continue
      for (const resources of takeBatches(read.resources, { all: false })) {
        await session.writeBatch({ resources, deleted: [] })
      }
    }
    const { cursor, complete } = step.value
    await session.apply(read, { complete, cursor, known })
    return { summary: session.summary, cursor }
  } finally {
    await session.end()
  }
}

/** What was known of the resources before. */
export type Known = Awaited<ReturnType<typeof readKnown>>

/** How a claimed feed is read and written. */
export class PullSession {
  readonly summary = new RunSummary()
  readonly db: Db
  readonly source: Source
  readonly account: SourceAccount
  readonly #parts: PullParts
  readonly #claim: ClaimedPull
  readonly #bulkCall: ReturnType<typeof newBulkCall>

  constructor(parts: PullParts, claim: ClaimedPull, reading: { db: Db; account: SourceAccount }) {
    this.#parts = parts
    this.#claim = claim
    this.#bulkCall = newBulkCall(claim.feed)
    this.db = reading.db
    this.account = reading.account
    this.source = parts.access.sources.find(claim.feed.source)
  }

  get feed() {
    return this.#claim.feed
  }

  /** One transaction, unless the pull was superseded. */
  write(work: (tx: Db, mirroring: Mirroring, state: FeedState) => Promise<unknown>) {
    const { settings, now } = this.#parts
    return this.db.transaction(async (tx) => {
      const state = await lockFeedState(tx, this.feed)
      const current = await findFeed(tx, this.feed)
      const isPulled = current?.active && (current.mode === 'SHADOW' || current.mode === 'LIVE')
      if (state?.pullNumber !== this.#claim.pullNumber || !isPulled) throw new PullSuperseded()
      const receiving = { settings, now: now(), bulkCall: this.#bulkCall }
      await work(tx, mirroringOf(current, state, receiving), state)
    })
  }

  async writeBatch(changes: Changes) {
    await this.write(async (tx, mirroring) =>
      this.summary.add(await storeChanges(tx, changes, mirroring)),
    )
    await this.#bulkCall.renew(this.db, this.#parts.now())
  }

  /** Writes what was read, and then what a full listing lacks, with the cursor. */
  async apply(
    read: PulledPart,
    { complete, cursor, known }: { complete: Listing | null; cursor: unknown; known: Known },
  ) {
    const { db, source, account, feed, summary } = this
    const listing = complete && (await askForAbsent(db, { source, account, feed }, complete, read))
    const moved = known.isFirst
      ? new Map<string, number>()
      : await findMoved({ db, feed, now: account.now }, read, listing)
    for (const resources of takeBatches(read.resources, { all: true })) {
      await this.writeBatch({ resources, deleted: [], moved })
    }
    await this.write(async (tx, mirroring, state) => {
      const { deleted } = read
      if (deleted.length > 0) {
        summary.add(await storeChanges(tx, { resources: [], deleted, moved }, mirroring))
      }
      if (listing) {
        const confirmMinutes = source.read ? 0 : CONFIRM_MINUTES
        const ended = await applyListing(tx, { ...listing, confirmMinutes }, mirroring, state)
        if (ended) summary.add(ended)
        const left = known.keys.filter((key) => !listing.keys.has(key))
        await deleteEndedResources(tx, feed, left)
      } else await endDecision(tx, feed, state, mirroring.saving.now)
      if (known.again.size > 0) {
        const before = account.now.subtract({ seconds: REPLICA_SECONDS })
        await endReadingAgain(tx, feed, [...known.again], before)
      }
      const { before, next, reconcileTime, lateTime } = this.#claim
      const planned = { before: before(), next, reconcileTime, lateTime }
      await storePullEnd(tx, feed, { cursor, now: mirroring.saving.now, ...planned })
    })
  }

  end() {
    return this.#bulkCall.end(this.db, this.#parts.now())
  }
}

export async function openSession(parts: PullParts, claim: ClaimedPull) {
  const { feed, signal } = claim
  const db = parts.database.forBusiness(feed.businessId, feedUser(feed))
  return new PullSession(parts, claim, { db, account: await openAccount(parts, db, feed, signal) })
}

/** The account of a feed with its secret, as this node reads it. */
export async function openAccount(
  { database, access, now }: PullParts,
  db: Db,
  feed: FeedRow,
  signal: AbortSignal,
) {
  const secret = await readSecret(database.engine, access.secrets, feed)
  return accountOf(db, feed, { secret, now: now(), signal })
}

/** What was read before. */
export async function readKnown(
  db: Db,
  source: Source,
  { feed, cursor }: Pick<ClaimedPull, 'feed' | 'cursor'>,
  now: Temporal.Instant,
) {
  const resources = await listResourceVersions(db, feed)
  const byKey = new Map(resources.map((row) => [row.resourceKey, row.version]))
  const isDue = (time: Temporal.Instant | null) =>
    time !== null && Temporal.Instant.compare(time, now) <= 0
  const again = resources.filter(({ readAgainTime }) => isDue(readAgainTime))
  // An unchanged file would not be listed, and so would never confirm that an entry is absent.
  const isConfirming = !source.read && (await listAbsentEntries(db, feed, now)).length > 0
  return {
    cursor: isConfirming ? null : cursor,
    versionOf: (key: string) => byKey.get(key),
    again: new Set(again.map(({ resourceKey }) => resourceKey)),
    isFirst: resources.length === 0,
    keys: resources.map(({ resourceKey }) => resourceKey),
  }
}

/** Takes batches of at most 500 entries; a resource is never divided. Not `all`: only full batches. */
export function* takeBatches(resources: Resource[], { all }: { all: boolean }) {
  for (;;) {
    let entries = 0
    const at = resources.findIndex(({ entries: { length } }, i) => {
      entries += length
      return entries > BATCH && i > 0
    })
    if (at < 0 && (!all || resources.length === 0)) return
    yield resources.splice(0, at < 0 ? resources.length : at)
  }
}

type Reading = { source: Source; account: SourceAccount; feed: FeedRow }

/** Asks for what a full listing lacks. What the source still has is added to what was read. */
async function askForAbsent(
  db: Db,
  { source, account, feed }: Reading,
  { keys, window }: Listing,
  read: PulledPart,
): Promise<Listing & { unconfirmed: Set<string> }> {
  const unconfirmed = new Set<string>()
  if (!source.read) return { keys, window, unconfirmed }
  for (const { isErased, resourceKey, startTime } of await listLiveEntries(db, feed)) {
    const isAbsent = !keys.has(resourceKey) && isWithin(window, startTime)
    if (isAbsent && !isErased) unconfirmed.add(resourceKey)
  }
  if (unconfirmed.size === 0 || unconfirmed.size > MAX_ASKED) return { keys, window, unconfirmed }
  const there: string[] = []
  for (const [key, found] of await source.read(account, [...unconfirmed])) {
    unconfirmed.delete(key)
    if (found === 'GONE') continue
    read.resources.push(found)
    there.push(key)
  }
  return { keys: new Set([...keys, ...there]), window, unconfirmed }
}

/** The entries under new keys that continue stored ones. */
async function findMoved(
  { db, feed, now }: { db: Db; feed: FeedRow; now: Temporal.Instant },
  read: PulledPart,
  listing: Listing | null,
) {
  // Sources do not list what is outside of these days: it has not vanished.
  const listed = listedWindow(windowOf(feed, now))
  const lacking = listing
    ? (await listLiveEntries(db, feed)).filter(({ resourceKey }) => !listing.keys.has(resourceKey))
    : []
  const changed = new Set(read.resources.map(({ key }) => key))
  const deleted = new Set([...read.deleted, ...lacking.map(({ resourceKey }) => resourceKey)])
  const entries = read.resources.flatMap((resource) => resource.entries)
  const rows = await listEntriesOf(db, feed, {
    resourceKeys: [...changed, ...deleted],
    entryKeys: entries.map(({ key }) => key),
    ids: [],
  })
  const present = new Set(entries.map(({ key }) => key))
  const stored = new Set(rows.map(({ entryKey }) => entryKey))
  return pairMoved(
    rows.filter(
      (row) =>
        row.state !== 'GONE' && !present.has(row.entryKey) && isWithin(listed, row.startTime),
    ),
    entries.filter(({ key }) => !stored.has(key)),
    now,
  )
}
