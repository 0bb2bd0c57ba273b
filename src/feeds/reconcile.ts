import type { Difference } from '../contract/feed.ts'
import { listChangedHere, listEntriesOf, listLiveEntries } from '../store/feed-entries.ts'
import { storeReconciliation } from '../store/feed-pulls.ts'
import { findLastReconciliationOf, findPullSince } from '../store/feed-runs.ts'
import { listAllStatuses } from '../store/statuses.ts'
import {
  addUp,
  differenceOf,
  findMissed,
  isDecided,
  MAX_DIFFERENCES,
  type Compared,
  type Missed,
} from './compare.ts'
import { isCancelled } from './merge.ts'
import {
  openSession,
  pullFeed,
  readKnown,
  type ClaimedPull,
  type PullParts,
  type PullSession,
} from './pull.ts'
import type { FullListing, Resource } from './source.ts'
import type { RunSummary } from './summary.ts'
import { endDecision } from './vanish.ts'

export type ReconcileParts = PullParts & { random(size: number): Buffer }

/** So many unchanged resources are read again: a version can be wrong. */
const SAMPLE = 200
const RETRY_HOURS = 1

/**
 * Compares everything with the source, after a pull of the same claim. What no pull saw is fixed by the
 * code of a pull. `error`: it does not add up even then.
 */
export async function reconcileFeed(
  parts: ReconcileParts,
  claim: ClaimedPull,
  { cursor, nextTime }: { cursor: unknown; nextTime: Temporal.Instant },
) {
  const session = await openSession(parts, claim)
  try {
    const found = await findTwice(session, parts, { ...claim, cursor })
    const differences = await describeMissed(session, found.missed)
    const { compared } = found
    if (found.missed.length > 0 || isSomeBack(compared)) {
      await fix(session, compared, found.missed, found.cursor)
    }
    const live = await listLiveEntries(session.db, session.feed)
    const { sums, absent, unknown } = addUp({ ...compared, live })
    differences.push(...(await describeOthers(session, compared.listing, parts.now())))
    const error = absent.length + unknown.length > 0 ? faultOf(sums, { absent, unknown }) : null
    await session.write(async (tx, { saving: { now } }, state) => {
      const next = error === null ? nextTime : now.add({ hours: RETRY_HOURS })
      await storeReconciliation(tx, session.feed, { error, next })
      await endDecision(tx, session.feed, state, now)
    })
    const counts = countAll(session.summary.counts, sums)
    return { result: { counts, sums, differences: differences.slice(0, MAX_DIFFERENCES) }, error }
  } finally {
    await session.end()
  }
}

/** Whether the source has entries again that a person was asked about. */
const isSomeBack = ({ live, listing: { versions } }: Compared) =>
  live.some((row) => isDecided(row) && !row.isErased && versions.has(row.resourceKey))

type Comparison = { compared: Compared; missed: Missed[]; cursor: unknown }

/** What changes between a pull and the listing was not missed: it counts if a second pull misses it too. */
async function findTwice(
  session: PullSession,
  parts: ReconcileParts,
  claim: ClaimedPull,
): Promise<Comparison> {
  const first = await compare(session, parts)
  if (first.missed.length === 0) return { ...first, cursor: claim.cursor }
  const { cursor } = await pullFeed(parts, claim)
  const second = await compare(session, parts)
  const nameOf = ({ kind, entryKey, field }: Missed) => [kind, entryKey, field].join(' ')
  const before = new Set(first.missed.map(nameOf))
  return {
    compared: second.compared,
    missed: second.missed.filter((missed) => before.has(nameOf(missed))),
    cursor,
  }
}

async function compare(session: PullSession, { random }: ReconcileParts) {
  const { source, account, db, feed } = session
  const listing = await source.list!(account)
  const known = await readKnown(db, source, { feed, cursor: null }, account.now)
  const live = await listLiveEntries(db, feed)
  const read = await readContent(session, listing, {
    isEqual: (key, version) => known.versionOf(key) === version,
    absent: live.filter((row) => !isDecided(row)).map(({ resourceKey }) => resourceKey),
    random,
  })
  const rows = await listEntriesOf(db, feed, {
    resourceKeys: [...read.keys()],
    entryKeys: [...read.values()].flatMap((one) =>
      one === 'GONE' ? [] : one.entries.map(({ key }) => key),
    ),
    ids: [],
  })
  const compared: Compared = { listing, read, live, rows, window: account.window }
  return { compared, missed: findMissed(compared) }
}

type Choice = {
  isEqual(key: string, version: string): boolean
  /** Resources of entries: those that the listing lacks are asked for. */
  absent: string[]
  random(size: number): Buffer
}

/** All contents if the listing has them; else those of other versions, of absent ones, and a sample. */
async function readContent(
  { source, account }: PullSession,
  { versions, resources }: FullListing,
  { isEqual, absent, random }: Choice,
) {
  const read = new Map<string, Resource | 'GONE'>(resources?.map((one) => [one.key, one]))
  if (!source.read) return read
  const asked = new Set(absent.filter((key) => !versions.has(key)))
  if (!resources) {
    const [equal, other] = [[], []] as [string[], string[]]
    for (const [key, version] of versions) (isEqual(key, version) ? equal : other).push(key)
    for (const key of [...other, ...pickSome(equal, SAMPLE, random)]) asked.add(key)
  }
  if (asked.size === 0) return read
  for (const [key, found] of await source.read(account, [...asked])) read.set(key, found)
  return read
}

function pickSome(keys: string[], count: number, random: (size: number) => Buffer) {
  const left = [...keys]
  for (let i = 0; i < Math.min(count, left.length); i += 1) {
    const at = i + (random(6).readUIntBE(0, 6) % (left.length - i))
    ;[left[i], left[at]] = [left[at]!, left[i]!]
  }
  return left.slice(0, count)
}

/** Writes what was missed, as a pull that reads everything does. */
async function fix(
  session: PullSession,
  { listing, read }: Compared,
  missed: Missed[],
  cursor: unknown,
) {
  const { db, source, feed, account } = session
  const keys = new Set(missed.map(({ resourceKey }) => resourceKey))
  const resources = [...keys].flatMap((key) => {
    const found = read.get(key)
    return found && found !== 'GONE' ? [found] : []
  })
  const known = await readKnown(db, source, { feed, cursor }, account.now)
  const complete = { keys: new Set(listing.versions.keys()), window: listing.window }
  await session.apply({ resources, deleted: [] }, { complete, cursor, known })
}

async function describeMissed({ db, feed }: PullSession, missed: Missed[]): Promise<Difference[]> {
  if (missed.length === 0) return []
  const last = await findLastReconciliationOf(db, feed)
  return Promise.all(
    missed.slice(0, MAX_DIFFERENCES).map(async (one) => {
      const changed = one.entry?.changedTime ?? (one.row ? null : one.entry?.createdTime) ?? null
      const since = changed ?? last?.endedTime ?? null
      const feedRunId = await findPullSince(db, feed, since)
      return differenceOf(one, { since, feedRunId })
    }),
  )
}

const CANCEL_THERE = 'Cancel it in the source too, or set its status back here.'
const CANCEL_HERE =
  'It is cancelled in the source. Cancel it here too, or restore it in the source.'
const DECIDE = 'It is not in the source any more: decide whether it is cancelled.'
const KEPT = 'It is not in the source any more. A person decided to keep it.'

/** What people changed here, and what waits for a decision. */
async function describeOthers(
  { db, feed }: PullSession,
  { versions }: FullListing,
  now: Temporal.Instant,
): Promise<Difference[]> {
  const statuses = await listAllStatuses(db, [feed.businessId])
  const changed = await listChangedHere(db, feed, now)
  const here = changed.flatMap(({ status, applied, since, ...row }): Difference[] => {
    const known = statuses.filter(({ objectType }) => objectType === row.objectType)
    const [isHere, isThere] = [isCancelled(status, known), isCancelled(applied, known)]
    if (isHere === isThere) return []
    const todo = isHere ? CANCEL_THERE : CANCEL_HERE
    const values = { field: 'status', source: applied, ours: status, feedRunId: null, todo }
    return [{ kind: 'CHANGED_HERE', ...row, ...values, since: since.epochMilliseconds }]
  })
  const vanished = (await listLiveEntries(db, feed)).filter(
    (row) => isDecided(row) && !row.isErased && !versions.has(row.resourceKey),
  )
  const gone = vanished.map((row) => {
    const { entryKey, title, absentTime: since, isKept } = row
    const nothing = { field: null, source: null, ours: null, entry: undefined }
    const found = { kind: 'VANISHED', entryKey, row, ...nothing } as const
    const todo = isKept ? KEPT : DECIDE
    return { ...differenceOf(found, { since, feedRunId: null }), title, todo }
  })
  return [...here, ...gone]
}

const MAX_KEYS = 5

function faultOf(
  { source, mirrored, held, skipped }: RunSums,
  { absent, unknown }: { absent: string[]; unknown: string[] },
) {
  const some = (keys: string[]) => keys.slice(0, MAX_KEYS).join(', ')
  const parts = [
    `The source has ${source} entries, and ${mirrored + held + skipped} are here.`,
    ...(unknown.length > 0 ? [`Missing here: ${some(unknown)}.`] : []),
    ...(absent.length > 0 ? [`Not in the source: ${some(absent)}.`] : []),
  ]
  return parts.join(' ')
}

type RunSums = ReturnType<typeof addUp>['sums']

/** All entries that were compared. `fixed`: those that the reconciliation wrote. */
function countAll(fixed: RunSummary['counts'], { source, mirrored, held, skipped }: RunSums) {
  const unchanged = mirrored - fixed.mirrored + fixed.unchanged
  return { ...fixed, entries: source, mirrored, held, skipped, unchanged }
}

/** A moment between 02:00 and 05:00 of the next night, by the clock of the business. */
export function nextNight(now: Temporal.Instant, timeZone: string, share: number) {
  const local = now.toZonedDateTimeISO(timeZone)
  const minutes = Math.floor(share * 180)
  const at = (days: number) =>
    local
      .toPlainDate()
      .add({ days })
      .toPlainDateTime({ hour: 2 })
      .add({ minutes })
      .toZonedDateTime(timeZone)
      .toInstant()
  return Temporal.Instant.compare(at(0), now) > 0 ? at(0) : at(1)
}
