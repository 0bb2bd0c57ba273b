import { EVENT_TYPES, type EventTypeName, type ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { listDefinitionsOfTypes, type StoredDefinition } from '../store/event-definitions.ts'
import { lockReminders, writePlan, type NewTrigger } from '../store/event-triggers.ts'
import { listSubjects } from '../store/subjects.ts'
import { refusals } from './match.ts'
import { planReminders, type Cause, type Followed } from './reschedule.ts'
import type { SchedulingEvent, Subject } from './subject.ts'
import { firingTime } from './timing.ts'

/** A saved object, what it was before, and the events that this is. */
export type SavedObject = {
  id: number | string
  version: number
  /** What matching looks at, as it was; unset for a new object. */
  before: Partial<Subject> | undefined
  events: EventTypeName[]
}

type Saving = { businessId: number; now: Temporal.Instant; history?: boolean }

/**
 * Writes the triggers of everything that was saved, and lets pending reminders follow. Runs in the
 * transaction that saves the objects, so neither is ever stored without the other.
 */
export async function scheduleTriggers(
  tx: Db,
  objectType: ObjectType,
  saved: SavedObject[],
  { businessId, now, history }: Saving,
) {
  const ids = saved.map((object) => object.id)
  const asked = listDefinitionsOfTypes(tx, businessId, typesOf(objectType))
  // One object is read along with the definitions; of a thousand it is worth knowing what for.
  if (saved.length > 1 && (await asked).length === 0) return
  const [definitions, subjects] = await Promise.all([
    asked,
    listSubjects(tx, businessId, objectType, ids),
  ])
  if (definitions.length === 0) return
  const isKnown = saved.some((object) => object.before)
  const rows = isKnown
    ? await lockReminders(tx, businessId, objectType, ids, idsOf(definitions))
    : []

  const byId = new Map(subjects.map((subject) => [subject.objectId ?? subject.objectUUId, subject]))
  const followed = saved.map(({ id, before }): Followed => {
    const subject = byId.get(id)!
    return { subject, before: before && { ...subject, ...before } }
  })
  const cause: Cause = history ? 'history' : 'saved object'
  const plan = planReminders(followed, definitions, rows, cause, now)
  saved.forEach((object, i) =>
    plan.insert.push(...eventTriggers(object, followed[i]!, definitions, now)),
  )
  await writePlan(tx, businessId, plan, now)
}

/** A reminder whose time moved when it was due, with the object and definition as they are now. */
export type Moved = { subject: Subject; definition: StoredDefinition; isOldVersion: boolean }

/** Plans reminders again whose row has ended without firing. */
export async function planAgainFor(tx: Db, moved: Moved[], now: Temporal.Instant) {
  for (const { subject, definition, isOldVersion } of moved) {
    const { businessId, objectType } = subject
    const id = subject.objectId ?? subject.objectUUId!
    const rows = await lockReminders(tx, businessId, objectType, [id], [definition.eventDefnId])
    const cause: Cause = isOldVersion ? 'saved definition' : 'saved object'
    await writePlan(
      tx,
      businessId,
      planReminders([{ subject }], [definition], rows, cause, now),
      now,
    )
  }
}

/** One trigger for each definition that asks for one of the events. */
function eventTriggers(
  { id, version, events }: SavedObject,
  { subject, before }: Followed,
  definitions: StoredDefinition[],
  now: Temporal.Instant,
): NewTrigger[] {
  return events.flatMap((eventType) => {
    const event: SchedulingEvent = {
      eventType,
      subject,
      oldStatus: before?.status ?? null,
      happenedAt: now,
    }
    return definitions
      .filter((definition) => refusals(definition, event).length === 0)
      .flatMap((definition): NewTrigger[] => {
        const firing = firingTime(definition, subject, now)
        if (!firing) return []
        return [
          {
            eventDefnId: definition.eventDefnId,
            defnVersion: definition.version,
            objectType: subject.objectType,
            objectId: subject.objectId,
            objectUUId: subject.objectUUId,
            occurrence: `${eventType} ${id} ${version}`,
            oldStatus: event.oldStatus,
            newStatus: subject.status,
            ...firing,
            status: 'SCHEDULED',
            statusReason: null,
          },
        ]
      })
  })
}

const TYPES_OF = Map.groupBy(EVENT_TYPES, (type) => type.objectType)

export const typesOf = (objectType: ObjectType) =>
  (TYPES_OF.get(objectType) ?? []).map((type) => type.eventTypeId)

const idsOf = (definitions: StoredDefinition[]) =>
  definitions.map((definition) => definition.eventDefnId)
