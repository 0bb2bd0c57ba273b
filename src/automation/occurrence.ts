import type { ClassAnswer } from '../contract/fields.ts'
import { CHANGES, type WatchedChange, type EventTypeName } from '../contract/event-type.ts'
import type { Subject } from '../store/subject.ts'

/** A creation or change of an object, as its trigger stores it. */
type Occurrence = {
  eventType: EventTypeName
  /** For a change event: what changed. */
  changes: readonly WatchedChange[]
  /** The change moved the status to one that is not live. */
  ended: boolean
  /** For a change that is the answer of a student. */
  answer?: StudentAnswer | undefined
}

/** A class keeps the last answer of each student; the occurrence says which one it tells. */
export type StudentAnswer = Pick<ClassAnswer, 'clientId' | 'answer'>

/** An occurrence with its object. Reminders have none: they are planned from the subject alone. */
export type SchedulingEvent = Occurrence & {
  subject: Subject
  /** For `…_CHANGED`: the status before, which may be the same as now. */
  oldStatus: string | null
  /** The moment of the change. */
  happenedAt: Temporal.Instant
}

/**
 * The text that identifies the occurrence of an event: `APPT_CHANGED 17 3 TIME,STATUS ENDED`, or
 * `CLASS_SCHEDULE_CHANGED 8 2 STUDENTS,ANSWER CANCELLED:5` for an answer of client 5. An object and its
 * version identify it; the rest is read when the trigger fires, or its definition is saved before.
 */
export function writeOccurrence(
  { eventType, changes, ended, answer }: Occurrence,
  id: number | string,
  version: number,
) {
  const name = `${eventType} ${id} ${version}`
  if (changes.length === 0) return name
  const answered = answer ? ` ${answer.answer}:${answer.clientId}` : ''
  return `${name} ${changes.join(',')}${ended ? ' ENDED' : ''}${answered}`
}

/** A text without changes may stand for any change. */
export function readOccurrence(text: string): Occurrence {
  const [eventType, , , changes, ...rest] = text.split(' ')
  const [answer, clientId] = rest.at(-1)?.split(':') ?? []
  return {
    eventType: eventType as EventTypeName,
    changes: changes ? (changes.split(',') as WatchedChange[]) : CHANGES,
    ended: rest[0] === 'ENDED',
    ...(clientId && {
      answer: { answer: answer as StudentAnswer['answer'], clientId: Number(clientId) },
    }),
  }
}
