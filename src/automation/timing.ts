import type { Definition } from '../contract/event-definition.ts'
import { eventTypeById } from '../contract/event-type.ts'
import { REASONS } from '../contract/reasons.ts'
import { nominalMinutes, type Offset } from '../contract/offset.ts'
import type { Subject } from './subject.ts'

/** What of a definition says when it fires. */
export type Timing = Offset & Pick<Definition, 'eventTypeId' | 'offsetMode' | 'triggerAnchor'>

/** What of a subject a firing may be counted from. */
export type AnchorTimes = Pick<
  Subject,
  'objectType' | 'timeZone' | 'startTime' | 'endTime' | 'dueTime' | 'expiresTime' | 'createdDate'
>

export type Firing = { anchorTime: Temporal.Instant; scheduledTime: Temporal.Instant }

/**
 * When a definition fires for a subject, and the moment that it is counted from: of an event, the
 * happening; of a reminder, a time of the subject. None where there is nothing to count from.
 */
export function firingTime(
  definition: Timing,
  subject: AnchorTimes,
  happenedAt?: Temporal.Instant,
): Firing | undefined {
  if (isReminder(definition)) {
    const anchorTime = anchorOf(definition, subject)
    if (!anchorTime) return undefined
    return { anchorTime, scheduledTime: offsetFrom(anchorTime, definition, subject.timeZone) }
  }
  if (!happenedAt) return undefined
  const scheduledTime = offsetFrom(happenedAt, definition, subject.timeZone)
  return { anchorTime: happenedAt, scheduledTime: later(happenedAt, scheduledTime) }
}

/** Does it fire before the moment it is counted from? One at that very moment fires after it. */
export const firesBefore = (definition: Offset) => nominalMinutes(definition) < 0

/**
 * What becomes of a reminder that is planned for the first time, when its subject is saved: one
 * whose moment has passed is not sent, unless its definition says so and what it announces has not
 * begun.
 */
export function firstPlan(
  definition: Timing & Pick<Definition, 'latePolicy'>,
  { anchorTime, scheduledTime }: Firing,
  now: Temporal.Instant,
): {
  status: 'SCHEDULED' | 'EXPIRED'
  scheduledTime: Temporal.Instant
  statusReason: string | null
} {
  if (!isBefore(scheduledTime, now)) {
    return { status: 'SCHEDULED', scheduledTime, statusReason: null }
  }
  if (definition.latePolicy === 'SEND' && isOfUse(definition, anchorTime, now, now)) {
    return { status: 'SCHEDULED', scheduledTime: now, statusReason: null }
  }
  return { status: 'EXPIRED', scheduledTime, statusReason: REASONS.bookedLate }
}

/** Is it still worth firing now? A reminder before something, until that begins; else for 72 hours. */
export function isOfUse(
  definition: Pick<Timing, 'eventTypeId' | keyof Offset>,
  anchorTime: Temporal.Instant,
  scheduledTime: Temporal.Instant,
  now: Temporal.Instant,
): boolean {
  if (isReminder(definition) && firesBefore(definition)) {
    return isBefore(now, anchorTime)
  }
  return now.epochMilliseconds - scheduledTime.epochMilliseconds <= MAX_LATE_MS
}

const MAX_LATE_MS = 72 * 60 * 60 * 1000

export const isReminder = ({ eventTypeId }: Pick<Timing, 'eventTypeId'>) =>
  eventTypeById(eventTypeId)?.eventCategory === 'REMINDER'

const later = (a: Temporal.Instant, b: Temporal.Instant) => (isBefore(a, b) ? b : a)

/** As Temporal compares them, at a tenth of the price: a plan does so half a million times. */
export const isBefore = (a: Temporal.Instant, b: Temporal.Instant) =>
  a.epochNanoseconds < b.epochNanoseconds

export const isSameMoment = (a: Temporal.Instant, b: Temporal.Instant) =>
  a.epochNanoseconds === b.epochNanoseconds

function anchorOf(definition: Timing, subject: AnchorTimes): Temporal.Instant | null {
  switch (subject.objectType) {
    case 'CALENDAR':
    case 'CLASS_SCHEDULE':
      return definition.triggerAnchor === 'END' ? subject.endTime : subject.startTime
    case 'RECALL':
      return subject.dueTime
    case 'INVITATION':
      return firesBefore(definition) ? subject.expiresTime : subject.createdDate
    case 'DISCLAIMER':
      return null // there is no reminder of disclaimers
  }
}

/**
 * Months on the calendar of the zone, clamped to the month's end, then hours and minutes. CALENDAR
 * counts whole days on the calendar too. A wall time that a clock change skips becomes the later
 * one, one that comes twice the earlier: Temporal's `compatible`.
 */
function offsetFrom(anchor: Temporal.Instant, definition: Timing, timeZone: string) {
  const { months, days, elapsedMs } = stepsOf(definition)
  let time = anchor
  // Most offsets are plain hours: they need no zone, which is what costs.
  if (months && days) {
    // Only where both lead to is looked up in the zone, not the day in between.
    const wall = anchor.toZonedDateTimeISO(timeZone).toPlainDateTime().add(months).add(days)
    time = wall.toZonedDateTime(timeZone).toInstant()
  } else if (months ?? days) {
    time = anchor
      .toZonedDateTimeISO(timeZone)
      .add((months ?? days)!)
      .toInstant()
  }
  return elapsedMs === 0 ? time : plus(time, elapsedMs)
}

/** As Temporal adds it, at half the price where the moment is one of whole milliseconds. */
function plus(time: Temporal.Instant, ms: number) {
  if (time.epochNanoseconds % 1_000_000n !== 0n) return time.add({ milliseconds: ms })
  return Temporal.Instant.fromEpochMilliseconds(time.epochMilliseconds + ms)
}

type Steps = {
  months: Temporal.Duration | undefined
  days: Temporal.Duration | undefined
  elapsedMs: number
}

function stepsOf(definition: Timing): Steps {
  const known = steps.get(definition)
  if (known) return known

  const { triggerMonths, triggerHours, triggerMinutes, offsetMode } = definition
  const days = offsetMode === 'CALENDAR' ? Math.trunc(triggerHours / 24) : 0
  const minutes = (triggerHours - days * 24) * 60 + triggerMinutes
  const made = {
    months: triggerMonths === 0 ? undefined : Temporal.Duration.from({ months: triggerMonths }),
    days: days === 0 ? undefined : Temporal.Duration.from({ days }),
    elapsedMs: minutes * 60_000,
  }
  steps.set(definition, made)
  return made
}

/** A batch asks for the same offset thousands of times; making its durations is half the cost. */
const steps = new WeakMap<Timing, Steps>()
