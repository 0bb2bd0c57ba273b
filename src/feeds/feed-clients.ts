import { objectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { bodyOfDescribed } from '../matching/creation.ts'
import { saveObjects } from '../scheduling/save.ts'
import type { Saving } from '../scheduling/saving.ts'
import { writeMatches, type NewMatch } from '../store/feed-matches.ts'
import { lockObjectsForUpdate } from '../store/objects.ts'
import type { FeedRow } from '../store/feeds.ts'
import type { Mapped } from './map-entry.ts'
import { matchName, type ReadMapping } from './mapping.ts'
import type { NamedClient } from './persons.ts'

const CLIENT = objectKind('client')!
const PROPERTIES = [
  'firstName',
  'lastName',
  'emailAddress',
  'phone',
  'language',
  'timeZone',
] as const

/** The properties of a new client, as the source states them. */
function bodyOf({ described, person }: NamedClient): Record<string, string> {
  const { language, timeZone } = person
  return {
    ...(bodyOfDescribed(described) as Record<string, string>),
    ...(language && { language }),
    ...(timeZone && { timeZone }),
  }
}

const newMatch = ({ businessId, feedId }: FeedRow, { user, now }: Saving) => ({
  businessId,
  feedId,
  modifiedDate: now,
  modifiedUser: user,
})

/** That the feed set these properties of a client. */
const clientMatch = (
  { key, described }: NamedClient,
  objectId: number,
  applied: Record<string, string>,
) => {
  const name = described.name || described.emailAddress
  return { kind: 'client', matchKey: key, name, objectId, madeBy: 'FEED', applied } as const
}

/**
 * Creates the clients that entries name and nobody is. They are added to the mapping. Returns why a client
 * was refused, by its key.
 */
export async function createClients(
  tx: Db,
  mapping: ReadMapping,
  missing: NamedClient[],
  saving: Saving,
): Promise<Map<string, string>> {
  const clients = [...new Map(missing.map((client) => [client.key, client])).values()]
  const refused = new Map<string, string>()
  if (clients.length === 0) return refused
  const outcomes = await saveObjects(tx, CLIENT, clients.map(bodyOf), saving)
  const matches = clients.flatMap((client, i): NewMatch[] => {
    const outcome = outcomes[i]!
    if (outcome.refused) {
      refused.set(client.key, outcome.refused.message)
      return []
    }
    const id = outcome.object.clientId as number
    const match = clientMatch(client, id, bodyOf(client))
    const emailAddress = client.described.emailAddress || null
    const unknown = { externalId: null, timeZone: null, durationMinutes: null }
    mapping.directory.add('client', { id, name: match.name, emailAddress, ...unknown })
    return [{ ...newMatch(mapping.feed, saving), ...match }]
  })
  await storeMatches(tx, mapping, matches)
  return refused
}

/** Stores matches, and lets the mapping know them. */
async function storeMatches(tx: Db, mapping: ReadMapping, matches: NewMatch[]) {
  await writeMatches(tx, matches)
  for (const match of matches) {
    mapping.matches.set(matchName(match.kind, match.matchKey), { feedMatchId: 0, ...match })
  }
}

/** Stores what the entries name, unless it is known. */
export async function storeNamed(tx: Db, mapping: ReadMapping, mapped: Mapped[], saving: Saving) {
  const matches = new Map<string, NewMatch>()
  for (const { kind, key, name, objectId, madeBy } of mapped.flatMap(({ named }) => named)) {
    const known = mapping.matches.get(matchName(kind, key))
    if (known && (known.madeBy === 'PERSON' || known.objectId === objectId)) continue
    const match = { matchKey: key, name: name.slice(0, 300), objectId, madeBy, applied: {} }
    matches.set(matchName(kind, key), { ...newMatch(mapping.feed, saving), kind, ...match })
  }
  await storeMatches(tx, mapping, [...matches.values()])
}

/** Updates properties of clients that this feed set itself and that no person has changed since. */
export async function updateClients(
  tx: Db,
  mapping: ReadMapping,
  mapped: Mapped[],
  saving: Saving,
) {
  const stale = new Map<number, { client: NamedClient; applied: Record<string, string> }>()
  for (const client of mapped.flatMap(({ clients }) => clients)) {
    const match = mapping.matches.get(matchName('client', client.key))
    if (!match?.objectId || match.madeBy !== 'FEED') continue
    const stated = bodyOf(client)
    const isStale = PROPERTIES.some((name) => stated[name] && stated[name] !== match.applied[name])
    if (isStale) stale.set(match.objectId, { client, applied: match.applied })
  }
  if (stale.size === 0) return
  const { businessId } = mapping.feed
  const ids = [...stale.keys()]
  const current = await lockObjectsForUpdate(tx, businessId, CLIENT, {
    ids,
    externalIds: [],
    visibility: null,
  })
  const updates = current.map((object) => {
    const { client, applied } = stale.get(object.clientId as number)!
    const stated = bodyOf(client)
    const changed = PROPERTIES.filter(
      (name) =>
        stated[name] &&
        stated[name] !== applied[name] &&
        (object[name] ?? undefined) === applied[name],
    )
    return { object, client, applied: { ...applied, ...stated }, changed, stated }
  })
  const bodies = updates.map(({ object, changed, stated }) => ({
    clientId: object.clientId,
    ...Object.fromEntries(changed.map((name) => [name, stated[name]])),
  }))
  await saveObjects(tx, CLIENT, bodies, saving)
  const matches = updates.map(({ object, client, applied }) => ({
    ...newMatch(mapping.feed, saving),
    ...clientMatch(client, object.clientId as number, applied),
  }))
  await storeMatches(tx, mapping, matches)
}
