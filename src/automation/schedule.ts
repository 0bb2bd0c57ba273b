import {
  EVENT_TYPES,
  eventTypeById,
  type WatchedChange,
  type EventTypeName,
  type ObjectType,
} from '../contract/event-type.ts'
import { REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import {
  readReminders,
  writePlan,
  type NewTrigger,
  type ReminderRow,
} from '../store/planned-triggers.ts'
import type { BulkCall } from './approvals.ts'
import { isOnlyRecorded, refusals } from './match.ts'
import { writeOccurrence, type SchedulingEvent, type StudentAnswer } from './occurrence.ts'
import { planReminders, type Cause } from './reschedule.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import { firingTime, isReminder } from './timing.ts'

/** A saved object, its state before, and the events that the save causes. */
type SavedObject = {
  subject: Subject
  version: number
  /** Undefined for a new object. */
  before: Subject | undefined
  events: EventTypeName[]
  /** What the save changed; empty for a new object. */
  changes: WatchedChange[]
  answer?: StudentAnswer | undefined
}

type ScheduleContext = {
  businessId: number
  now: Temporal.Instant
  history?: boolean
  /** The import that saves these objects. */
  bulkCall?: Pick<BulkCall, 'hold'>
}

type ToSchedule = {
  saved: SavedObject[]
  definitions: StoredDefinition[]
  /** The reminders of saved objects that are not new. */
  reminders: ReminderRow[]
}

/**
 * Writes the triggers of saved objects, and updates their pending reminders. Runs in the transaction
 * that saves the objects, so neither is ever stored without the other.
 */
export async function scheduleTriggers(
  tx: Db,
  { saved, definitions, reminders }: ToSchedule,
  { businessId, now, history, bulkCall }: ScheduleContext,
) {
  const cause: Cause = history ? 'history' : 'saved object'
  const plan = planReminders(saved, definitions, reminders, cause, now)
  for (const object of saved) plan.insert.push(...eventTriggers(object, definitions, now))
  await bulkCall?.hold(tx, plan, now)
  writePlan(tx, businessId, plan, now)
}

/** The reminders of objects whose locks the caller holds, for `scheduleTriggers`. */
export async function readRemindersToPlan(
  tx: Db,
  businessId: number,
  objectType: ObjectType,
  ids: (number | string)[],
  definitions: StoredDefinition[],
) {
  const eventDefnIds = idsOf(definitions.filter(isReminder))
  if (eventDefnIds.length === 0) return []
  return readReminders(tx, businessId, objectType, ids, eventDefnIds)
}

/** A reminder whose time changed when it was due, with its object and definition as they are now. */
export type Moved = {
  subject: Subject
  definition: StoredDefinition
  isOldVersion: boolean
  /** Since when the new time applies, if that is known. */
  since: Temporal.Instant | null
}

/** Plans reminders again whose trigger has ended without firing. */
export async function planAgainFor(tx: Db, moved: Moved[], now: Temporal.Instant) {
  for (const { subject, definition, isOldVersion, since } of moved) {
    const { businessId, objectType } = subject
    const id = objectIdOf(subject)
    const rows = await readReminders(tx, businessId, objectType, [id], [definition.eventDefnId])
    const cause: Cause = isOldVersion ? 'saved definition' : 'saved object'
    const followed = { subject, since: since ?? undefined }
    writePlan(tx, businessId, planReminders([followed], [definition], rows, cause, now), now)
  }
}

/** One trigger for each definition that waits for one of the events. */
function eventTriggers(
  { subject, before, version, events, changes, answer }: SavedObject,
  definitions: StoredDefinition[],
  now: Temporal.Instant,
): NewTrigger[] {
  return events.flatMap((eventType) => {
    const event: SchedulingEvent = {
      eventType,
      subject,
      oldStatus: before?.status ?? null,
      changes,
      ended: before !== undefined && before.status !== subject.status && !subject.live,
      answer,
      happenedAt: now,
    }
    return definitions
      .filter((definition) => waitsFor(definition, eventType))
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
            occurrence: writeOccurrence(event, objectIdOf(subject), version),
            oldStatus: event.oldStatus,
            newStatus: subject.status,
            ...firing,
            ...(isOnlyRecorded(definition, event)
              ? { status: 'EXPIRED', statusReason: REASONS.isPast }
              : { status: 'SCHEDULED', statusReason: null }),
          },
        ]
      })
  })
}

/** Checked first, since most definitions wait for another event. */
const waitsFor = ({ eventTypeId }: StoredDefinition, eventType: EventTypeName) =>
  eventTypeById(eventTypeId)?.eventType === eventType

const TYPES_OF = Map.groupBy(EVENT_TYPES, (type) => type.objectType)

export const typesOf = (objectType: ObjectType): number[] =>
  (TYPES_OF.get(objectType) ?? []).map((type) => type.eventTypeId)

const idsOf = (definitions: StoredDefinition[]) =>
  definitions.map((definition) => definition.eventDefnId)
