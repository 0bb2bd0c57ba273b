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
import { THINGS } from './things.ts'

const CORRECTABLE = [{ field: 'clientId', kind: 'client' } as const, ...THINGS]

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
  const faults: Fault[] = []
  for (const { field, kind } of CORRECTABLE) {
    const chosen = { kind, id: correction?.[field], pointer: `/correction/${field}` }
    faults.push(...(await faultOfChosen(tx, feed.businessId, chosen)))
  }
  if (faults.length > 0) throw invalid(faults)
  const kept = Object.entries(correction ?? {}).filter(([, value]) => value !== null)
  const corrected = { ...row, correction: kept.length > 0 ? Object.fromEntries(kept) : null }
  const { entries } = await mirrorAgain(tx, [corrected], correcting(feed, { settings, now }))
  return entries[0]!
}

/** A fault unless there is an active object with the id. */
async function faultOfChosen(
  tx: Db,
  businessId: number,
  { kind: name, id, pointer }: { kind: string; id: number | null | undefined; pointer: string },
): Promise<Fault[]> {
  if (id == null) return []
  const kind = objectKind(name)!
  const found = await findObject(tx, businessId, kind, id)
  return found?.active ? [] : [{ pointer, detail: `there is no active ${kind.title} ${id}` }]
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
  const named = { kind: KIND_OF_MATCH[match.kind], id: objectId, pointer: '/objectId' }
  const faults = create ? [] : await faultOfChosen(tx, feed.businessId, named)
  if (faults.length > 0) throw invalid(faults)
  const chosen = create ? await createNamed(tx, match, saving) : objectId
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
