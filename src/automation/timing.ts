import type { Definition } from '../contract/event-definition.ts'
import { eventTypeById } from '../contract/event-type.ts'
import { REASONS } from '../contract/reasons.ts'
import { nominalMinutes, type Offset } from '../contract/offset.ts'
import type { Subject } from '../store/subject.ts'
import { findQuietSpan, type LocalClock } from './quiet-hours.ts'

export type Timing = Offset & Pick<Definition, 'eventTypeId' | 'offsetMode' | 'triggerAnchor'>

/** The properties of a subject that an offset can count from. */
export type AnchorTimes = LocalClock &
  Pick<Subject, 'objectType' | 'startTime' | 'endTime' | 'dueTime' | 'expiresTime' | 'createdDate'>

export type FiringTime = {
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  /** The time that the offset gives, if it falls into quiet hours. */
  quietTime?: Temporal.Instant
}

/**
 * When a definition fires for a subject, and the anchor that the offset counts from: the moment of an
 * event, or a time of the subject for a reminder. Undefined if the subject has no such time.
 */
export function firingTime(
  definition: Timing,
  subject: AnchorTimes,
  happenedAt?: Temporal.Instant,
): FiringTime | undefined {
  if (isReminder(definition)) {
    const anchorTime = anchorOf(definition, subject)
    if (!anchorTime) return undefined
    const time = offsetFrom(anchorTime, definition, subject.timeZone)
    const mustPrecede = firesBefore(definition) ? anchorTime : undefined
    return { anchorTime, ...outsideQuietHours(time, subject, mustPrecede, 'or before') }
  }
  if (!happenedAt) return undefined
  const time = later(happenedAt, offsetFrom(happenedAt, definition, subject.timeZone))
  const { startTime } = subject
  const mustPrecede = startTime && isBefore(time, startTime) ? startTime : undefined
  return { anchorTime: happenedAt, ...outsideQuietHours(time, subject, mustPrecede, 'or at once') }
}

/**
 * The end of quiet hours for a time that falls into them. A reminder that would be useless then is sent
 * before they begin; an event or a late reminder at its time, because it cannot be sent earlier.
 */
function outsideQuietHours(
  time: Temporal.Instant,
  subject: LocalClock,
  mustPrecede: Temporal.Instant | undefined,
  otherwise: 'or before' | 'or at once',
): Pick<FiringTime, 'scheduledTime' | 'quietTime'> {
  const quiet = findQuietSpan(time, subject)
  if (!quiet) return { scheduledTime: time }
  if (!mustPrecede || isBefore(quiet.to, mustPrecede)) {
    return { scheduledTime: quiet.to, quietTime: time }
  }
  if (otherwise === 'or at once') return { scheduledTime: time }
  return { scheduledTime: plus(quiet.from, -BEFORE_QUIET_MS), quietTime: time }
}

/** The time of a reminder that is sent late: the end of quiet hours, if it is still useful then. */
export function notInQuietHours(
  definition: Offset,
  subject: LocalClock,
  { anchorTime, scheduledTime }: FiringTime,
): Temporal.Instant {
  const mustPrecede = firesBefore(definition) ? anchorTime : undefined
  return outsideQuietHours(scheduledTime, subject, mustPrecede, 'or at once').scheduledTime
}

/** How long before quiet hours a mail is sent that would be useless at their end. */
const BEFORE_QUIET_MS = 60_000

/** A trigger or mail that was due before quiet hours may be this late, if many are due at once. */
const LATE_INTO_QUIET_MS = 10 * 60_000

/** The quiet hours into which a trigger or mail was delayed that was due before them. */
function findQuietDelay(dueTime: Temporal.Instant, subject: LocalClock, now: Temporal.Instant) {
  if (!subject.quietHours) return undefined
  if (now.epochMilliseconds - dueTime.epochMilliseconds < LATE_INTO_QUIET_MS) return undefined
  const quiet = findQuietSpan(now, subject)
  return quiet && isBefore(dueTime, quiet.from) ? quiet : undefined
}

/**
 * Until when a trigger waits that was delayed into quiet hours, by an outage or an approval. Undefined
 * if it would be useless then, or if it was planned for this time.
 */
export function quietUntil(
  definition: Timing,
  subject: AnchorTimes,
  { anchorTime, scheduledTime }: FiringTime,
  now: Temporal.Instant,
): Temporal.Instant | undefined {
  const quiet = findQuietDelay(scheduledTime, subject, now)
  if (!quiet) return undefined
  return isOfUse(definition, anchorTime, scheduledTime, quiet.to) ? quiet.to : undefined
}

/** The same for the mail of a trigger, which may wait for the mail server or the end of a pause. */
export function mailQuietUntil(mail: MailTimes, subject: LocalClock, now: Temporal.Instant) {
  const quiet = mail.fireNow ? undefined : findQuietDelay(mail.createdDate, subject, now)
  return quiet && isBefore(quiet.to, usefulUntil(mail)) ? quiet.to : undefined
}

/** True if it fires before its anchor; an offset of 0 counts as after. */
export const firesBefore = (definition: Offset) => nominalMinutes(definition) < 0

/**
 * The first plan of a reminder, when its subject is saved. If its time has already passed it expires,
 * unless `latePolicy` is SEND and its anchor is still ahead.
 */
export function firstPlan(
  definition: Timing & Pick<Definition, 'latePolicy'>,
  { anchorTime, scheduledTime }: FiringTime,
  now: Temporal.Instant,
  subject: LocalClock,
): {
  status: 'SCHEDULED' | 'EXPIRED'
  scheduledTime: Temporal.Instant
  statusReason: string | null
  isLate?: boolean
} {
  if (!isBefore(scheduledTime, now)) {
    return { status: 'SCHEDULED', scheduledTime, statusReason: null }
  }
  if (definition.latePolicy === 'SEND' && isOfUse(definition, anchorTime, now, now)) {
    const sentAt = notInQuietHours(definition, subject, { anchorTime, scheduledTime: now })
    return { status: 'SCHEDULED', scheduledTime: sentAt, statusReason: null, isLate: true }
  }
  return { status: 'EXPIRED', scheduledTime, statusReason: REASONS.bookedLate }
}

/** Is it still useful to fire now? A reminder before its anchor is until then, others for 72 hours. */
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

/** The times of a mail that decide how long it is useful; null if it has no trigger. */
type MailTimes = {
  anchorTime: Temporal.Instant | null
  scheduledTime: Temporal.Instant | null
  fireNow: boolean | null
  createdDate: Temporal.Instant
}

/** Until when a mail is retried: see `isOfUse`. One that a user sent counts from its creation. */
export function usefulUntil({ anchorTime, scheduledTime, fireNow, createdDate }: MailTimes) {
  if (!anchorTime || !scheduledTime || fireNow) return plus(createdDate, MAX_LATE_MS)
  return isBefore(scheduledTime, anchorTime) ? anchorTime : plus(scheduledTime, MAX_LATE_MS)
}

export const isReminder = ({ eventTypeId }: Pick<Timing, 'eventTypeId'>) =>
  eventTypeById(eventTypeId)?.eventCategory === 'REMINDER'

const later = (a: Temporal.Instant, b: Temporal.Instant) => (isBefore(a, b) ? b : a)

/** Ten times faster than Temporal.Instant.compare; planning calls it half a million times. */
export const isBefore = (a: Temporal.Instant, b: Temporal.Instant) =>
  a.epochNanoseconds < b.epochNanoseconds

export const isSameMoment = (a: Temporal.Instant | null, b: Temporal.Instant | null) =>
  a?.epochNanoseconds === b?.epochNanoseconds

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
      return null // disclaimers have no reminders
  }
}

/**
 * Adds months on the zone's calendar, clamped to the month's end, then hours and minutes. CALENDAR
 * adds whole days on the calendar too. Clock changes follow Temporal's `compatible`.
 */
function offsetFrom(anchor: Temporal.Instant, definition: Timing, timeZone: string) {
  const { months, days, elapsedMs } = stepsOf(definition)
  let time = anchor
  // Most offsets are plain hours, which do not need the expensive time zone.
  if (months && days) {
    // Only the final local time is resolved in the zone, not the day in between.
    const local = anchor.toZonedDateTimeISO(timeZone).toPlainDateTime().add(months).add(days)
    time = local.toZonedDateTime(timeZone).toInstant()
  } else if (months ?? days) {
    time = anchor
      .toZonedDateTimeISO(timeZone)
      .add((months ?? days)!)
      .toInstant()
  }
  return elapsedMs === 0 ? time : plus(time, elapsedMs)
}

/** Twice as fast as Temporal's `add` for whole milliseconds. */
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

/** A batch uses the same offset thousands of times; creating its durations is half the cost. */
const steps = new WeakMap<Timing, Steps>()
