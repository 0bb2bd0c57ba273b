import { readRemindersToPlan, scheduleTriggers, typesOf } from '../automation/schedule.ts'
import { isReminder } from '../automation/timing.ts'
import { objectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import type { PastStatusChange } from '../store/demo-history.ts'
import { lockPlans, type StoredDefinition } from '../store/event-definitions.ts'
import { idIn, lockObjectsForUpdate } from '../store/objects.ts'
import { listSubjects } from '../store/subjects.ts'

/** The demo imports objects with their first status; these are the later ones, and what they affect. */
type Following = {
  businessId: number
  changes: PastStatusChange[]
  /** The definitions that the business had before the demo. */
  own: StoredDefinition[]
  /** These and those of the demo, which only the engine plans, perhaps with the first statuses. */
  definitions: StoredDefinition[]
  now: Temporal.Instant
}

const OBJECTS_AT_ONCE = 500

/** Plans reminders again, after the demo wrote past statuses. */
export async function followPastStatuses(db: Db, following: Following) {
  for (const [object, changes] of Map.groupBy(following.changes, (change) => change.object)) {
    const { objectType } = objectKind(object)!
    const definitions = following.definitions.filter(
      (definition) =>
        isReminder(definition) && typesOf(objectType!).includes(definition.eventTypeId),
    )
    if (definitions.length === 0) continue
    for (let at = 0; at < changes.length; at += OBJECTS_AT_ONCE) {
      const page = changes.slice(at, at + OBJECTS_AT_ONCE)
      await db.transaction((tx) => planPage(tx, { ...following, definitions, changes: page }))
    }
  }
}

async function planPage(tx: Db, { businessId, changes, own, definitions, now }: Following) {
  const kind = objectKind(changes[0]!.object)!
  const objectType = kind.objectType!
  lockPlans(tx, businessId)
  const externalIds = changes.map(({ externalId }) => externalId)
  const named = { ids: [], externalIds, visibility: null }
  const objects = await lockObjectsForUpdate(tx, businessId, kind, named)
  const ids = objects.map((object) => idIn(kind, object))
  const subjects = await listSubjects(tx, businessId, objectType, ids)
  const reminders = await readRemindersToPlan(tx, businessId, objectType, ids, definitions)
  const planned = new Set([...own, ...reminders].map(({ eventDefnId }) => eventDefnId))
  const toPlan = definitions.filter(({ eventDefnId }) => planned.has(eventDefnId))
  const saved = subjects.map((subject) => ({
    subject,
    version: 2, // only read for events, and past statuses cause none
    before: undefined,
    events: [],
    changes: [],
  }))
  await scheduleTriggers(
    tx,
    { saved, definitions: toPlan, reminders },
    { businessId, now, history: true },
  )
}
