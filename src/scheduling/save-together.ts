import { Batcher } from '../automation/batcher.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { isDatabaseAway } from '../database/refusals.ts'
import { asStored, listObjectsById, type StoredObject } from '../store/objects.ts'
import type { Visibility } from '../store/visibility.ts'
import { saveEachOnce, saveObject, type Allow } from './save.ts'

export type ToSave = {
  /** The door of the business for this user. */
  db: Db
  businessId: number
  user: string
  visibility: Visibility
  kind: ObjectKind
  body: unknown
  allow?: Allow | undefined
}

/** An object as it is stored now. */
export type Saved = { object: StoredObject; isNew: boolean }

/**
 * Saves what comes at the same moment in one transaction: a round of ten bookings costs the server
 * little more than three by themselves. A lone one goes at once. Only what the same user says of the
 * same kind of object of the same business is shared, so that each is audited and walled as by
 * itself; what is answered is committed; and nobody fails for another's fault.
 */
export class SharedSaves {
  readonly #now: () => Temporal.Instant
  readonly #groups = new Map<string, Group>()

  constructor(now: () => Temporal.Instant) {
    this.#now = now
  }

  /** Throws what is wrong with it, as `saveObject` does. */
  async save(toSave: ToSave): Promise<Saved> {
    const { businessId, user, visibility, kind } = toSave
    const name = JSON.stringify([businessId, user, kind.kind, visibility])
    const group = this.#groups.get(name) ?? this.#begin(name)
    group.members += 1
    try {
      const result = await group.rounds.add(toSave)
      if ('failed' in result) throw result.failed
      return result
    } finally {
      group.members -= 1
      if (group.members === 0) this.#groups.delete(name)
    }
  }

  #begin(name: string): Group {
    const round = (all: ToSave[]) => saveRound(all, this.#now())
    const group = {
      rounds: new Batcher(round, { minItems: LEAST, maxItems: MOST, maxBatches: LANES }),
      members: 0,
    }
    this.#groups.set(name, group)
    return group
  }
}

/** Fewer save little by sharing; more would wait for the slowest of them, and all be tried again. */
const LEAST = 8
const MOST = 32

/** While one round waits for the disk the next is worked out. */
const LANES = 2

type Group = { rounds: Batcher<ToSave, Result>; members: number }
type Result = Saved | { failed: unknown }

async function saveRound(all: ToSave[], now: Temporal.Instant): Promise<Result[]> {
  if (all.length === 1) return [await saveAlone(all[0]!, now)]
  const results = await saveAll(all, now).catch((error: unknown) => {
    // Whether it was committed nobody knows: to save it again might save it twice.
    if (isDatabaseAway(error)) throw error
    // Not one after another: where all wait for the same lock, the last would wait for all of them.
    return Promise.all(all.map((each) => saveAlone(each, now)))
  })
  for (const [place, result] of results.entries()) {
    results[place] = result ?? (await saveAlone(all[place]!, now))
  }
  return results as Result[]
}

/** What names an object that another of them has just written is left for a turn of its own. */
async function saveAll(all: ToSave[], now: Temporal.Instant): Promise<(Result | undefined)[]> {
  const { db, businessId, user, visibility, kind } = all[0]!
  const bodies = all.map(({ body }) => body)
  const allows = all.map(({ allow }) => allow)
  const { outcomes, stored } = await db.transaction(async (tx) => {
    const outcomes = await saveEachOnce(
      tx,
      kind,
      bodies,
      { businessId, user, now, visibility },
      allows,
    )
    const objects = outcomes.flatMap((outcome) =>
      outcome && !outcome.refused ? outcome.object : [],
    )
    return { outcomes, stored: withCommit(readBack(tx, businessId, kind, objects)) }
  })
  const read = await stored
  return outcomes.map((outcome) => {
    if (!outcome) return undefined
    if (outcome.refused) return { failed: outcome.refused }
    return { object: read.get(outcome.object[kind.id])!, isNew: !outcome.before }
  })
}

/** The objects as they are stored now. What that is need not be asked for where it is known. */
async function readBack(tx: Db, businessId: number, kind: ObjectKind, objects: StoredObject[]) {
  const stored = new Map<unknown, StoredObject>()
  const open: (number | string)[] = []
  for (const object of objects) {
    const known = asStored(kind, object)
    if (known) stored.set(object[kind.id], known)
    else open.push(object[kind.id] as number | string)
  }
  const read = open.length > 0 ? await listObjectsById(tx, businessId, kind, open) : []
  for (const object of read) stored.set(object[kind.id], object)
  return stored
}

async function saveAlone({ db, kind, body, allow, ...who }: ToSave, now: Temporal.Instant) {
  try {
    const { object, before, stored } = await db.transaction(async (tx) => {
      const saved = await saveObject(tx, kind, body, { ...who, now }, allow)
      return { ...saved, stored: withCommit(readBack(tx, who.businessId, kind, [saved.object])) }
    })
    return { object: (await stored).get(object[kind.id])!, isNew: !before }
  } catch (failed) {
    return { failed }
  }
}

/** Asked in the same breath as the commit: where it fails that fails too, and tells why. */
function withCommit<T>(answer: Promise<T>) {
  answer.catch(() => {})
  return answer
}
