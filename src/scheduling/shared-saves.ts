import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { SharedTransactions } from '../database/shared-transactions.ts'
import { readStored, type StoredObject } from '../store/objects.ts'
import { saveObjects } from './save.ts'
import type { Allow, Saving } from './saving.ts'

/** An object to be saved in a transaction that it may share. */
export type ToSave = Omit<Saving, 'now'> & {
  /** Bound to the business and the user. */
  db: Db
  kind: ObjectKind
  body: unknown
  allow?: Allow | undefined
}

/** An object as it is stored now. */
export type Saved = { object: StoredObject; isNew: boolean }

/** Concurrent saves of the same user, kind, business and visibility. Each is audited as if it were alone. */
export const sharedSaves = (now: () => Temporal.Instant) =>
  new SharedTransactions<ToSave, Saved>({
    groupOf: ({ businessId, user, kind, visibility = null }) =>
      JSON.stringify([businessId, user, kind.kind, visibility]),
    work: async (tx, all) => {
      const { db: _db, kind, body: _body, allow: _allow, ...who } = all[0]!
      const bodies = all.map(({ body }) => body)
      const allows = all.map(({ allow }) => allow)
      const outcomes = await saveObjects(tx, kind, bodies, { ...who, now: now() }, allows)
      const objects = outcomes.flatMap((outcome) => (outcome.refused ? [] : outcome.object))
      // Read in the same round trip as the commit. Only valid once that has succeeded.
      const stored = readStored(tx, kind, objects)
      return outcomes.map(async (outcome) => {
        if (outcome.refused) throw outcome.refused
        return { object: (await stored).get(outcome.object)!, isNew: !outcome.before }
      })
    },
  })

export type SharedSaves = ReturnType<typeof sharedSaves>
