import { REASONS, reasonText } from '../contract/reasons.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import type { ClaimedTrigger, Ending } from '../store/trigger-queue.ts'
import { refusalsAtFiring } from './match.ts'
import { planEvent } from './plan.ts'
import type { Subject } from '../store/subject.ts'
import {
  firingTime,
  isBefore,
  isOfUse,
  isReminder,
  isSameMoment,
  quietUntil,
  type FiringTime,
} from './timing.ts'

/** How a trigger that does not fire ends, or when it is due again. */
export type Decision = Pick<Ending, 'status' | 'statusReason'> &
  Partial<Pick<Ending, 'plan' | 'notBefore'>> & { isMoved?: boolean }

/** Does the trigger still match its definition, is it due, and is it still useful? */
export function decide(
  trigger: ClaimedTrigger,
  definition: StoredDefinition,
  subject: Subject,
  now: Temporal.Instant,
): 'fire' | Decision {
  const [refusal] = refusalsAtFiring(definition, subject)
  if (refusal) return { status: 'CANCELLED', statusReason: refusal }
  if (isReminder(definition) !== (trigger.occurrence === null)) {
    return { status: 'CANCELLED', statusReason: REASONS.otherEventType }
  }
  if (trigger.isExpired) return { status: 'EXPIRED', statusReason: REASONS.beforeRestore }
  if (trigger.fireNow) return 'fire'
  if (isReminder(definition)) {
    const expected = firingTime(definition, subject)
    // After a change of the time zone, the plan may not be complete yet: nothing may fire early.
    const isOther = expected && !isTimeOf(trigger, expected)
    const isEarly = isOther && Temporal.Instant.compare(expected.scheduledTime, now) > 0
    const isOld = trigger.defnVersion < definition.version
    const isMoved =
      !expected?.anchorTime.equals(trigger.anchorTime) || isEarly || (isOld && isOther === true)
    if (isMoved) return { status: 'CANCELLED', statusReason: REASONS.timeChanged, isMoved }
  } else if (trigger.defnVersion < definition.version) {
    const [replanned] = planEvent(
      definition,
      { ...trigger, occurrence: trigger.occurrence! },
      subject,
      now,
    )
    const isAhead = replanned && Temporal.Instant.compare(replanned.scheduledTime, now) > 0
    if (replanned && (replanned.status !== 'SCHEDULED' || isAhead)) {
      return { status: replanned.status, statusReason: replanned.statusReason, plan: replanned }
    }
  }
  const planned = planAroundQuietHours(trigger, definition, subject, now)
  if (planned) return planned
  // The clock was set back after the claim: the trigger is not due yet.
  if (Temporal.Instant.compare(trigger.scheduledTime, now) > 0) {
    return { status: 'SCHEDULED', statusReason: null }
  }
  if (!isOfUse(definition, trigger.anchorTime, trigger.scheduledTime, now)) {
    return { status: 'EXPIRED', statusReason: uselessReason(trigger, definition, now) }
  }
  const notBefore = quietUntil(definition, subject, trigger, now)
  if (notBefore) return { status: 'SCHEDULED', statusReason: null, notBefore }
  return 'fire'
}

/** A reminder that should fire before quiet hours keeps its own time if they were set too late. */
const isTimeOf = ({ scheduledTime }: ClaimedTrigger, expected: FiringTime) =>
  isSameMoment(scheduledTime, expected.scheduledTime) ||
  (isBefore(expected.scheduledTime, scheduledTime) &&
    isSameMoment(scheduledTime, expected.quietTime ?? null))

/** Applies quiet hours that were set after the event trigger was planned. */
function planAroundQuietHours(
  { occurrence, anchorTime, defnVersion }: ClaimedTrigger,
  definition: StoredDefinition,
  subject: Subject,
  now: Temporal.Instant,
): Decision | undefined {
  if (occurrence === null || !subject.quietHours) return undefined
  const expected = firingTime(definition, subject, anchorTime)
  if (!expected?.quietTime || Temporal.Instant.compare(expected.scheduledTime, now) <= 0)
    return undefined
  const { scheduledTime } = expected
  const plan = { defnVersion, anchorTime, scheduledTime }
  return { status: 'SCHEDULED', statusReason: null, plan }
}

/** A trigger that became useless while it waited for approval was not late because of the service. */
function uselessReason(
  trigger: ClaimedTrigger,
  definition: StoredDefinition,
  now: Temporal.Instant,
) {
  const { anchorTime, scheduledTime, releasedTime } = trigger
  if (releasedTime && !isOfUse(definition, anchorTime, scheduledTime, releasedTime)) {
    return REASONS.uselessWhileHeld
  }
  return latenessReason(trigger, now)
}

function latenessReason({ scheduledTime, releasedTime }: ClaimedTrigger, now: Temporal.Instant) {
  const dueTime = releasedTime ?? scheduledTime
  const minutes = Math.round((now.epochMilliseconds - dueTime.epochMilliseconds) / 60_000)
  return minutes < 120
    ? reasonText('lateMinutes', { count: minutes })
    : reasonText('lateHours', { count: Math.round(minutes / 60) })
}
