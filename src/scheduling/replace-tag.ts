import type { ObjectKind } from '../contract/objects.ts'
import type { TagChangeResult } from '../contract/tag.ts'
import type { Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { lockPlans } from '../store/event-definitions.ts'
import { idIn, lockObjectsForUpdate, type StoredObject } from '../store/objects.ts'
import { listPendingOfTag, listTaggedIds, TAGGED_KINDS } from '../store/tags.ts'
import { saveObjects } from './save.ts'
import type { Saving } from './saving.ts'

/** A value of a tag, and what replaces it; null: nothing. */
export type TagChange = { name: string; value: string; newValue: string | null }

/** One transaction changes so many objects, so that bookings do not wait for long. */
const PAGE = 100
const MAX_OBJECTS = 1_000

type Replacing = { change: TagChange; saving: Saving }

/**
 * Replaces a value of a tag in the objects that have it, by ordinary saves of a page of one kind each: a
 * repeated request continues.
 */
export async function replaceTag(db: Db, replacing: Replacing): Promise<TagChangeResult> {
  return { ...(await replacePages(db, replacing)), create: 0, cancel: 0 }
}

/**
 * Rolls the same saves back, and counts the triggers that they add and cancel. All pages are one transaction:
 * a reminder can depend on the tags of a client and of its appointment.
 */
export function planTagChange(db: Db, replacing: Replacing): Promise<TagChangeResult> {
  const { change, saving } = replacing
  return runAndRollBack(db, async (tx) => {
    const before = await listPendingOfTag(tx, saving.businessId, change.name)
    const total = await replacePages(tx, replacing)
    const after = await listPendingOfTag(tx, saving.businessId, change.name)
    return {
      ...total,
      create: after.difference(before).size,
      cancel: before.difference(after).size,
    }
  })
}

async function replacePages(db: Db, { change, saving }: Replacing) {
  const total = { changed: 0, refused: 0, isComplete: true }
  for (const kind of TAGGED_KINDS) {
    let after: number | string | null = null
    for (;;) {
      // Refused objects do not count: they keep the value, so a repeated request meets them again.
      const limit = Math.min(PAGE, MAX_OBJECTS - total.changed)
      const ids = await listTaggedIds(db, saving.businessId, kind, {
        ...change,
        after,
        limit: Math.max(1, limit),
      })
      const last = ids.at(-1)
      if (last === undefined) break
      if (limit === 0) return { ...total, isComplete: false }
      const page = await db.transaction((tx) => replacePage(tx, kind, ids, { change, saving }))
      total.changed += page.changed
      total.refused += page.refused
      after = last
    }
  }
  return total
}

async function replacePage(
  tx: Db,
  kind: ObjectKind,
  ids: (number | string)[],
  { change, saving }: Replacing,
) {
  const { businessId } = saving
  // The locks of a save, in its order.
  if (kind.objectType) lockPlans(tx, businessId)
  const objects = await lockObjectsForUpdate(tx, businessId, kind, {
    ids,
    externalIds: [],
    visibility: saving.visibility ?? null,
  })
  const bodies = objects
    .filter((object) => tagsIn(object)[change.name]?.includes(change.value))
    .map((object) => ({
      [kind.id]: idIn(kind, object),
      tags: withReplacedValue(tagsIn(object), change),
    }))
  const outcomes = await saveObjects(tx, kind, bodies, saving)
  const refused = outcomes.filter((outcome) => outcome.refused).length
  return { changed: outcomes.length - refused, refused }
}

type Tags = Record<string, string[]>

const tagsIn = (object: StoredObject) => object.tags as Tags

/** A tag without values is removed, and a value is not repeated. */
function withReplacedValue(tags: Tags, { name, value, newValue }: TagChange): Tags {
  const values = tags[name]!.flatMap((one) => (one === value ? (newValue ?? []) : one))
  const { [name]: _, ...others } = tags
  return values.length === 0 ? others : { ...others, [name]: [...new Set(values)] }
}
