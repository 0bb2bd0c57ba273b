import type { Correction } from '../contract/feed.ts'
import { objectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, notFound, type Fault } from '../errors.ts'
import { bodyOfDescribed } from '../matching/creation.ts'
import { readPerson } from '../matching/people.ts'
import { saveObject } from '../scheduling/save.ts'
import type { Saving } from '../scheduling/saving.ts'
import { findEntry } from '../store/feed-entries.ts'
import { findMatch, writeMatches, type MatchRow } from '../store/feed-matches.ts'
import { lockFeedState, requestRemap, type FeedRow } from '../store/feeds.ts'
import { findObject } from '../store/objects.ts'
import { mirrorAgain } from './mirror.ts'
import { correcting } from './receive.ts'

const KINDS = {
  clientId: 'client',
  professionalId: 'professional',
  reasonId: 'reason',
  locationId: 'location',
}

/** Stores what a person decided about one entry, and applies it at once. */
export async function correctEntry(
  tx: Db,
  feed: FeedRow,
  { entryId, correction }: { entryId: number; correction: Correction | null },
  { settings, now }: Pick<Saving, 'settings' | 'now'>,
) {
  await lockFeedState(tx, feed)
  const row = await findEntry(tx, feed, entryId)
  if (!row) throw notFound('entry', entryId)
  if (row.isErased) throw conflict('The client of this entry was erased. It cannot be corrected.')
  if (row.state === 'GONE') throw conflict('The entry is not in the source any more.')
  await requireActive(tx, feed.businessId, correction)
  const kept = Object.entries(correction ?? {}).filter(([, value]) => value !== null)
  const corrected = { ...row, correction: kept.length > 0 ? Object.fromEntries(kept) : null }
  const { entries } = await mirrorAgain(tx, [corrected], correcting(feed, { settings, now }))
  return entries[0]!
}

async function requireActive(tx: Db, businessId: number, correction: Correction | null) {
  const faults: Fault[] = []
  for (const [property, name] of Object.entries(KINDS)) {
    const id = correction?.[property as keyof typeof KINDS]
    if (id == null) continue
    const kind = objectKind(name)!
    const found = await findObject(tx, businessId, kind, id)
    if (found?.active) continue
    faults.push({
      pointer: `/correction/${property}`,
      detail: `there is no active ${kind.title} ${id}`,
    })
  }
  if (faults.length > 0) throw invalid(faults)
}

const KIND_OF_MATCH = {
  calendar: 'professional',
  staff: 'professional',
  service: 'reason',
  location: 'location',
  client: 'client',
} as const

/** Stores which object a person means, or creates one. All entries of the feed are mapped again afterwards. */
export async function correctMatch(
  tx: Db,
  feed: FeedRow,
  {
    feedMatchId,
    objectId,
    create,
  }: { feedMatchId: number; objectId: number | null; create: boolean },
  saving: Saving,
): Promise<MatchRow> {
  await lockFeedState(tx, feed)
  const match = await findMatch(tx, feed, feedMatchId)
  if (!match) throw notFound('match', feedMatchId)
  const kind = objectKind(KIND_OF_MATCH[match.kind])!
  const chosen = create ? await createNamed(tx, match, saving) : objectId
  if (chosen !== null && !create) {
    const found = await findObject(tx, feed.businessId, kind, chosen)
    if (!found?.active) {
      throw invalid([
        { pointer: '/objectId', detail: `there is no active ${kind.title} ${chosen}` },
      ])
    }
  }
  const by = { modifiedDate: saving.now, modifiedUser: saving.user }
  await writeMatches(tx, [{ ...match, ...by, objectId: chosen, madeBy: 'PERSON', applied: {} }])
  await requestRemap(tx, feed)
  return (await findMatch(tx, feed, feedMatchId))!
}

async function createNamed(tx: Db, { kind: matched, name, matchKey }: MatchRow, saving: Saving) {
  const kind = KIND_OF_MATCH[matched]
  const address = /^<(.+)>$/.exec(matchKey)?.[1] ?? ''
  const { firstName, lastName, emailAddress } = readPerson(name)
  const described = {
    kind,
    name,
    emailAddress: address || emailAddress,
    firstName,
    lastName,
    phone: '',
  }
  const { object } = await saveObject(tx, objectKind(kind)!, bodyOfDescribed(described), saving)
  return object[`${kind}Id`] as number
}
