import { REASONS } from '../contract/reasons.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import type { ClaimedTrigger, Ending } from '../store/trigger-queue.ts'
import { CAME_LATE } from '../store/queue-health.ts'
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

/** How a trigger ends that does not fire, or when it is due again. */
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
  if (trigger.fireNow) return 'fire'
  if (isReminder(definition)) {
    const asked = firingTime(definition, subject)
    // The time zone may have changed and the plan not be complete yet: nothing fires early.
    const isOther = asked && !isTimeOf(trigger, asked)
    const isEarly = isOther && Temporal.Instant.compare(asked.scheduledTime, now) > 0
    const isOld = trigger.defnVersion < definition.version
    const isMoved =
      !asked?.anchorTime.equals(trigger.anchorTime) || isEarly || (isOld && isOther === true)
    if (isMoved) return { status: 'CANCELLED', statusReason: REASONS.timeChanged, isMoved }
  } else if (trigger.defnVersion < definition.version) {
    const [again] = planEvent(
      definition,
      { ...trigger, occurrence: trigger.occurrence! },
      subject,
      now,
    )
    const isAhead = again && Temporal.Instant.compare(again.scheduledTime, now) > 0
    if (again && (again.status !== 'SCHEDULED' || isAhead)) {
      return { status: again.status, statusReason: again.statusReason, plan: again }
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

/** One that must leave before quiet hours may keep its own time, if they were set too late for that. */
const isTimeOf = ({ scheduledTime }: ClaimedTrigger, asked: FiringTime) =>
  isSameMoment(scheduledTime, asked.scheduledTime) ||
  (isBefore(asked.scheduledTime, scheduledTime) &&
    isSameMoment(scheduledTime, asked.quietTime ?? null))

/** Quiet hours that were set after the trigger of an event was planned count too. */
function planAroundQuietHours(
  { occurrence, anchorTime, defnVersion }: ClaimedTrigger,
  definition: StoredDefinition,
  subject: Subject,
  now: Temporal.Instant,
): Decision | undefined {
  if (occurrence === null || !subject.quietHours) return undefined
  const asked = firingTime(definition, subject, anchorTime)
  if (!asked?.quietTime || Temporal.Instant.compare(asked.scheduledTime, now) <= 0) return undefined
  const { scheduledTime } = asked
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
  return `${CAME_LATE}${lateness(trigger, now)} late; the mail was no longer useful`
}

function lateness({ scheduledTime, releasedTime }: ClaimedTrigger, now: Temporal.Instant) {
  const dueTime = releasedTime ?? scheduledTime
  const minutes = Math.round((now.epochMilliseconds - dueTime.epochMilliseconds) / 60_000)
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
