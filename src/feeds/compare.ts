import { isSame } from '../contract/json.ts'
import type { Difference } from '../contract/feed.ts'
import type { EntryRow, ListedEntry } from '../store/feed-entries.ts'
import type { Entry, FullListing, Resource } from './source.ts'
import { storeEntry } from './stored-entry.ts'
import { isWithin, type Window } from './window.ts'

/*
 * Compares everything that a source has with what is stored. Pure: reconcile.ts reads both sides.
 */

export type Compared = {
  listing: FullListing
  /** The content of resources: all of them, or those that were read to check them. */
  read: Map<string, Resource | 'GONE'>
  /** All entries that the source had. */
  live: ListedEntry[]
  /** Those of the resources that were read, with their content. */
  rows: EntryRow[]
  window: Window
}

export type MissedKind = 'MISSED_CREATE' | 'MISSED_CHANGE' | 'MISSED_DELETE'

/** What no pull saw. */
export type Missed = {
  kind: MissedKind
  resourceKey: string
  entryKey: string
  entry: Entry | undefined
  row: ListedEntry | undefined
  field: string | null
  source: string | null
  ours: string | null
}

/** What an entry is known by, and what says nothing about the appointment. */
const NOT_COMPARED = new Set(['key', 'uid', 'organizer', 'createdTime', 'changedTime'])

/** All that the pulls did not see. */
export function findMissed({ listing, read, live, rows, window }: Compared): Missed[] {
  const rowOf = new Map(rows.map((row) => [row.entryKey, row]))
  const liveOf = new Map(live.map((row) => [row.entryKey, row]))
  const missed: Missed[] = []
  const present = new Set<string>()
  const unclear = new Set<string>()
  for (const resource of read.values()) {
    if (resource === 'GONE') continue
    const { key: resourceKey, entries } = resource
    if (isUnreadable(resource)) unclear.add(resourceKey)
    for (const entry of entries) {
      present.add(entry.key)
      const known = liveOf.get(entry.key)
      if (known?.isErased) continue
      // One that moved out of the window was in it.
      if (!isIn(window, entry.start) && !(known && isIn(window, known.startTime))) continue
      // One UID in two resources: the other one counts.
      if (known && known.resourceKey !== resourceKey && isListed(listing, known)) continue
      const row = known && rowOf.get(entry.key)
      const same = { resourceKey, entryKey: entry.key, entry, row }
      if (row) missed.push(...changesOf(entry, row).map((change) => ({ ...same, ...change })))
      else missed.push({ ...same, kind: 'MISSED_CREATE', field: null, source: null, ours: null })
    }
  }
  for (const row of live) {
    const { entryKey, resourceKey } = row
    const found = read.get(resourceKey)
    const isGone =
      found === 'GONE' ||
      (found ? !unclear.has(resourceKey) && !present.has(entryKey) : !isListed(listing, row))
    if (!isGone || isDecided(row) || !isIn(window, row.startTime)) continue
    if (!isIn(listing.window, row.startTime) || present.has(entryKey)) continue
    const nothing = { entry: undefined, field: null, source: null, ours: null }
    missed.push({ kind: 'MISSED_DELETE', resourceKey, entryKey, row, ...nothing })
  }
  return missed
}

/** A person was asked, or decided, or its client was erased. */
export const isDecided = ({ isErased, isKept, absentTime }: ListedEntry) =>
  isErased || isKept || absentTime !== null

const isListed = ({ versions }: FullListing, { resourceKey }: ListedEntry) =>
  versions.has(resourceKey)

const isUnreadable = ({ entries }: Resource) =>
  entries.some(({ problem }) => problem?.state === 'HELD')

/** Entries without a start are in every window. */
const isIn = (window: Window | null, time: Temporal.Instant | null) =>
  time === null || isWithin(window, time)

function changesOf(entry: Entry, row: EntryRow) {
  const now = storeEntry(entry)
  const changed = Object.keys(now).filter(
    (name) => !NOT_COMPARED.has(name) && !isSame(now[name] ?? null, row.source[name] ?? null),
  )
  return changed.map((field) => ({
    kind: 'MISSED_CHANGE' as const,
    field,
    source: inWords(now[field]),
    ours: inWords(row.source[field]),
  }))
}

const MAX_WORDS = 500

function inWords(value: unknown) {
  if (value === null || value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.slice(0, MAX_WORDS)
}

/** How the entries add up. `absent` and `unknown` have the keys that only one side has. */
export function addUp({ listing, read, live, window }: Omit<Compared, 'rows'>) {
  const counts = { source: 0, mirrored: 0, held: 0, skipped: 0 }
  const ours = new Map<string, ListedEntry>()
  const theirs = new Set<string>()
  const erased = new Set<string>()
  const unclear = new Set<string>()
  for (const [key, resource] of read) {
    if (resource === 'GONE') continue
    if (isUnreadable(resource)) unclear.add(key)
    for (const entry of resource.entries) if (isIn(window, entry.start)) theirs.add(entry.key)
  }
  for (const row of live) {
    const { entryKey, resourceKey } = row
    if (row.isErased) erased.add(entryKey)
    if (!isIn(window, row.startTime)) continue
    const isUnread = !read.has(resourceKey) && isListed(listing, row)
    if (isUnread || unclear.has(resourceKey)) theirs.add(entryKey)
    if (!isDecided(row) || theirs.has(entryKey)) ours.set(entryKey, row)
  }
  for (const key of erased) {
    ours.delete(key)
    theirs.delete(key)
  }
  counts.source = theirs.size
  for (const { state } of ours.values()) {
    if (state === 'MIRRORED') counts.mirrored += 1
    if (state === 'HELD') counts.held += 1
    if (state === 'SKIPPED') counts.skipped += 1
  }
  return {
    sums: counts,
    absent: [...ours.keys()].filter((key) => !theirs.has(key)),
    unknown: [...theirs].filter((key) => !ours.has(key)),
  }
}

type Found = Omit<Missed, 'kind' | 'resourceKey'> & Pick<Difference, 'kind'>

/** At most so many differences are stored. */
export const MAX_DIFFERENCES = 1_000

/** A difference as it is stored. */
export const differenceOf = (
  { kind, entryKey, entry, row, field, source, ours }: Found,
  { since, feedRunId }: { since: Temporal.Instant | null; feedRunId: number | null },
): Difference => ({
  kind,
  entryId: row?.feedEntryId ?? null,
  key: entryKey,
  title: entry && !entry.isPrivate ? entry.title : null,
  objectType: row?.objectType ?? null,
  objectId: row?.objectId ?? null,
  field,
  source: source ?? (field === null && entry?.start ? String(entry.start) : null),
  ours: ours ?? (field === null && row?.startTime ? String(row.startTime) : null),
  since: since?.epochMilliseconds ?? null,
  feedRunId,
  todo: null,
})
