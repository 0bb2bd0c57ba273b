import {
  WATCHED,
  type WatchedChange,
  type EventTypeName,
  type ObjectType,
} from '../contract/event-type.ts'
import type { ClassAnswer } from '../contract/fields.ts'
import { isSame } from '../contract/json.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import { ofKind, type StoredObject } from '../store/objects.ts'

type Causes = { created?: EventTypeName; changed?: EventTypeName }

/** The event that each kind of object causes when it is first saved, and when it changes. */
export const CAUSES: Record<ObjectType, Causes> = {
  CALENDAR: { created: 'APPT_CREATED', changed: 'APPT_CHANGED' },
  CLASS_SCHEDULE: { created: 'CLASS_SCHEDULE_CREATED', changed: 'CLASS_SCHEDULE_CHANGED' },
  INVITATION: { created: 'INVITE_CREATED', changed: 'INVITE_CHANGED' },
  RECALL: {},
  DISCLAIMER: { created: 'DISCLAIMER_CREATED', changed: 'DISCLAIMER_CHANGED' },
}

/** The events that a save causes, and what it changed. Deleting an object causes none. */
export function eventsOf(
  objectType: ObjectType,
  before: StoredObject | undefined,
  after: StoredObject,
): { events: EventTypeName[]; changes: WatchedChange[]; answer?: ClassAnswer | undefined } {
  const { created, changed } = CAUSES[objectType]
  if (!after.active) return NONE
  if (!before) return created ? { events: [created], changes: [] } : NONE
  const changes: WatchedChange[] = []
  for (const [property, change] of Object.entries(WATCHED[objectType])) {
    if (changes.includes(change)) continue
    if (!isSame(members(before[property]), members(after[property]))) changes.push(change)
  }
  if (!changed || changes.length === 0) return NONE
  const completed =
    objectType === 'INVITATION' && before.status !== 'COMPLETED' && after.status === 'COMPLETED'
  const lesson = ofKind('classSchedule', kindOfObjectType(objectType), after)
  const answer = changes.includes('ANSWER') ? lesson?.answers.at(-1) : undefined
  return { events: completed ? [changed, 'INVITE_COMPLETED'] : [changed], changes, answer }
}

const NONE = { events: [], changes: [] }

/** The order of a class's students does not matter. */
const members = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value)
