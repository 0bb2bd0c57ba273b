import type { Correction, MatchKind } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { readDirectory } from '../matching/directory.ts'
import { listUidsOfOtherFeeds } from '../store/feed-entries.ts'
import { listMatchesOf, type MatchRow } from '../store/feed-matches.ts'
import type { FeedRow } from '../store/feeds.ts'
import { listAllStatuses } from '../store/statuses.ts'
import type { Mapping } from './map-entry.ts'
import { matchPattern } from './patterns.ts'
import { clientsNamedIn, describeThing } from './persons.ts'
import type { Entry } from './source.ts'
import { windowOf } from './window.ts'

export type ReadMapping = Mapping & { matches: Map<string, MatchRow> }

export const matchName = (kind: MatchKind, key: string) => `${kind} ${key}`

/** Reads what is needed to map these entries. */
export async function readMapping(
  db: Db,
  feed: FeedRow,
  entries: Entry[],
  { corrections, now }: { corrections: Correction[]; now: Temporal.Instant },
): Promise<ReadMapping> {
  const people = entries.flatMap((entry) => clientsNamedIn(entry, titleNamesOf(feed, entry)))
  const things = entries.flatMap(({ service, staff, location, title }) => [
    ...(service ? [describeThing('reason', service)] : []),
    ...feed.rules.flatMap(({ when }) => {
      const name = when.title && title ? matchPattern(when.title, title)?.service : undefined
      return name ? [describeThing('reason', { name })] : []
    }),
    ...(staff ? [describeThing('professional', staff)] : []),
    ...(location ? [describeThing('location', location)] : []),
  ])
  const keys = new Set([
    ...people.map(({ key }) => key),
    ...things.flatMap((thing) => thing?.key ?? []),
    ...entries.flatMap(({ calendar }) => calendar ?? []),
  ])
  const uids = new Set(entries.flatMap(({ uid }) => uid ?? []))
  const [matches, statuses, elsewhere] = await Promise.all([
    listMatchesOf(db, feed, [...keys]),
    listAllStatuses(db, [feed.businessId]),
    listUidsOfOtherFeeds(db, feed, [...uids]),
  ])
  const clientIds = [
    ...matches.flatMap(({ kind, objectId }) => (kind === 'client' ? (objectId ?? []) : [])),
    ...corrections.flatMap(({ clientId }) => clientId ?? []),
  ]
  const described = people.map((person) => person.described)
  const directory = await readDirectory(db, feed.businessId, described, clientIds)
  const byName = new Map(matches.map((match) => [matchName(match.kind, match.matchKey), match]))
  return {
    feed,
    directory,
    matches: byName,
    matchOf: (kind, key) => {
      const match = byName.get(matchName(kind, key))
      return match?.objectId ? { objectId: match.objectId, madeBy: match.madeBy } : undefined
    },
    statusesOf: (objectType) => statuses.filter((status) => status.objectType === objectType),
    isMirroredElsewhere: (uid) => elsewhere.has(uid),
    window: windowOf(feed, now),
    closedUntil: closedUntil(feed, now),
  }
}

const titleNamesOf = ({ rules }: FeedRow, { title }: Entry) =>
  title === null
    ? []
    : rules.flatMap(({ when }) =>
        when.title ? (matchPattern(when.title, title)?.client ?? []) : [],
      )

/** Entries that ended by then are closed; null: none is. */
export const closedUntil = ({ closeAfterHours }: FeedRow, now: Temporal.Instant) =>
  closeAfterHours === null ? null : now.subtract({ hours: closeAfterHours })
