import { Batcher } from '../automation/batcher.ts'
import { isDatabaseAway } from '../database/postgres-errors.ts'
import {
  readBodies,
  readWithCommit,
  saveAlone,
  saveRound,
  type Saved,
  type ToSave,
} from './save.ts'

/**
 * Concurrent saves of the same user, kind, business and visibility share one transaction: ten bookings
 * cost the server little more than three alone. Each is audited as if it were alone.
 */
export class SharedSaves {
  readonly #now: () => Temporal.Instant
  readonly #groups = new Map<string, Group>()

  constructor(now: () => Temporal.Instant) {
    this.#now = now
  }

  /** Throws if the object is refused, as `saveAlone` does. */
  async save(toSave: ToSave): Promise<Saved> {
    const { businessId, user, kind, visibility = null } = toSave
    const name = JSON.stringify([businessId, user, kind.kind, visibility])
    const group = this.#groups.get(name) ?? this.#openGroup(name)
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

  #openGroup(name: string): Group {
    const round = (all: ToSave[]) => saveTogether(all, this.#now())
    const limits = {
      minItems: MIN_SHARED,
      maxItems: MAX_SHARED,
      maxBatches: MAX_TRANSACTIONS,
    }
    const group = { rounds: new Batcher(round, limits), members: 0 }
    this.#groups.set(name, group)
    return group
  }
}

/** Fewer saves gain little. More would wait for the slowest, and be repeated if one fails. */
const MIN_SHARED = 8
const MAX_SHARED = 32

/** While one transaction waits for the disk, the next is prepared. */
const MAX_TRANSACTIONS = 2

type Group = { rounds: Batcher<ToSave, Result>; members: number }
type Result = Saved | { failed: unknown }

async function saveTogether(all: ToSave[], now: Temporal.Instant): Promise<Result[]> {
  const tryAlone = (toSave: ToSave): Promise<Result> =>
    saveAlone(toSave, now).catch((failed: unknown) => ({ failed }))
  if (all.length === 1) return [await tryAlone(all[0]!)]
  const results = await saveAll(all, now).catch((error: unknown) => {
    // The transaction may have been committed: saving again could save everything twice.
    if (isDatabaseAway(error)) throw error
    // Concurrently: in sequence, the last one could wait for the locks of all others.
    return Promise.all(all.map(tryAlone))
  })
  const complete: Result[] = []
  for (const [i, result] of results.entries()) {
    complete.push(result === 'again' ? await tryAlone(all[i]!) : result)
  }
  return complete
}

async function saveAll(all: ToSave[], now: Temporal.Instant): Promise<(Result | 'again')[]> {
  const { db, kind, body: _body, allow: _allow, ...who } = all[0]!
  const saving = { ...who, now }
  const bodies = all.map(({ body }) => body)
  const allows = all.map(({ allow }) => allow)
  const { results, stored } = await db.transaction(async (tx) => {
    const requests = readBodies(kind, bodies, saving, allows)
    const results = await saveRound(tx, kind, requests, saving)
    const objects = results.flatMap((result) =>
      typeof result === 'string' || result.refused ? [] : result.object,
    )
    return { results, stored: readWithCommit(tx, kind, objects) }
  })
  const objects = await stored
  return results.map((result) => {
    if (typeof result === 'string') return 'again'
    if (result.refused) return { failed: result.refused }
    return { object: objects.get(result.object[kind.id])!, isNew: !result.before }
  })
}
