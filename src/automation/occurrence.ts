import { CHANGES, type WatchedChange, type EventTypeName } from '../contract/event-type.ts'
import type { Subject } from '../store/subject.ts'

/** A creation or change of an object, as its trigger stores it. */
type Occurrence = {
  eventType: EventTypeName
  /** For a change event: what changed. */
  changes: readonly WatchedChange[]
  /** The change moved the status to one that is not live. */
  ended: boolean
}

/** An occurrence with its object. Reminders have none: they are planned from the subject alone. */
export type SchedulingEvent = Occurrence & {
  subject: Subject
  /** For `…_CHANGED`: the status before, which may be the same as now. */
  oldStatus: string | null
  /** The moment of the change. */
  happenedAt: Temporal.Instant
}

/**
 * The text that identifies the occurrence of an event: `APPT_CHANGED 17 3 TIME,STATUS ENDED`. An object
 * and its version identify it; the rest is read if the definition is saved before the trigger fires.
 */
export function writeOccurrence(
  { eventType, changes, ended }: Occurrence,
  id: number | string,
  version: number,
) {
  const name = `${eventType} ${id} ${version}`
  if (changes.length === 0) return name
  return `${name} ${changes.join(',')}${ended ? ' ENDED' : ''}`
}

/** A text without changes may stand for any change. */
export function readOccurrence(text: string): Occurrence {
  const [eventType, , , changes, end] = text.split(' ')
  return {
    eventType: eventType as EventTypeName,
    changes: changes ? (changes.split(',') as WatchedChange[]) : CHANGES,
    ended: end === 'ENDED',
  }
}
