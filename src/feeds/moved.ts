import type { EntryRow } from '../store/feed-entries.ts'
import { addressOf } from './persons.ts'
import type { Entry } from './source.ts'
import { readStoredEntry } from './stored-entry.ts'

/** One side of a move; `start` orders the occurrences of a series. */
type Side = { uid: string | null; startMs: number; people: string; title: string | null }
type Vanished = Side & { feedEntryId: number }
type Appeared = Side & { key: string }

/**
 * Which entries under new keys continue stored ones that vanished in the same pull: the occurrences of a
 * series that was moved as a whole, a series that was split in two, and entries of sources that make new
 * keys at every export. Without it, each would be cancelled and booked again.
 */
export function pairMoved(
  vanishedRows: EntryRow[],
  appearedEntries: Entry[],
  now: Temporal.Instant,
) {
  const pairs = new Map<string, number>()
  let vanished = vanishedRows.flatMap((row): Vanished[] =>
    row.objectId === null || row.isErased
      ? []
      : [{ ...sideOf(readStoredEntry(row.source)), feedEntryId: row.feedEntryId }],
  )
  let appeared = appearedEntries
    .filter(({ problem, start }) => !problem && start)
    .map((entry): Appeared => ({ ...sideOf(entry), key: entry.key }))
  const pair = (nameOf: (side: Side) => string | null, match: typeof inOrder) => {
    const groups = Map.groupBy(appeared, nameOf)
    for (const [name, gone] of Map.groupBy(vanished, nameOf)) {
      if (name === null) continue
      for (const [{ feedEntryId }, { key }] of match(gone, groups.get(name) ?? [])) {
        pairs.set(key, feedEntryId)
      }
    }
    const used = new Set(pairs.values())
    vanished = vanished.filter(({ feedEntryId }) => !used.has(feedEntryId))
    appeared = appeared.filter(({ key }) => !pairs.has(key))
  }
  pair(({ uid }) => uid, inOrder)
  pair(({ people, startMs }) => (people ? `${people} ${startMs}` : null), sameCount)
  // What has begun took place: only upcoming entries move to another time.
  pair(
    ({ people, title, startMs }) =>
      people && title && startMs > now.epochMilliseconds ? JSON.stringify([people, title]) : null,
    sameCount,
  )
  return pairs
}

function sideOf(entry: Entry): Side {
  const people = [...entry.clients, ...entry.attendees].map(
    (person) => addressOf(person) ?? person.key ?? `${person.firstName} ${person.lastName}`,
  )
  const all = [...people, ...entry.addressesInText].toSorted()
  return {
    uid: entry.uid,
    startMs: entry.start?.epochMilliseconds ?? 0,
    people: all.length > 0 ? all.join(' ') : (entry.title ?? ''),
    title: entry.title,
  }
}

/** Beyond this difference of counts, the first of each side are paired. */
const MAX_SHIFT = 60

const byStart = <S extends Side>(sides: S[]) => sides.toSorted((a, b) => a.startMs - b.startMs)

/** Pairs in the order of time. If one side has more, the shift with the smallest total change counts. */
function inOrder(gone: Vanished[], come: Appeared[]): [Vanished, Appeared][] {
  const [a, b] = [byStart(gone), byStart(come)]
  const isMoreGone = a.length > b.length
  const [more, fewer] = isMoreGone ? [a, b] : [b, a]
  const shifts = Array.from(
    { length: Math.min(more.length - fewer.length, MAX_SHIFT) + 1 },
    (_, i) => i,
  )
  const costOf = (shift: number) =>
    fewer.reduce((sum, { startMs }, i) => sum + Math.abs(startMs - more[i + shift]!.startMs), 0)
  const best = shifts.reduce((least, shift) => (costOf(shift) < costOf(least) ? shift : least), 0)
  const count = fewer.length
  const chosen = (sides: unknown[]) => (sides === more ? best : 0)
  return Array.from({ length: count }, (_, i) => [a[i + chosen(a)]!, b[i + chosen(b)]!])
}

/** Two clients' series with one title must not be mixed: only equal counts are paired. */
const sameCount = (gone: Vanished[], come: Appeared[]) =>
  gone.length === come.length ? inOrder(gone, come) : []
