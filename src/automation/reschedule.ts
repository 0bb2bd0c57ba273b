import { REASONS } from '../contract/reasons.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import type { NewTrigger, Plan, ReminderRow } from '../store/planned-triggers.ts'
import { refusals } from './match.ts'
import { isQuietEnd } from './quiet-hours.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import {
  firingTime,
  firstPlan,
  isBefore,
  isReminder,
  isSameMoment,
  notInQuietHours,
  type FiringTime,
} from './timing.ts'

/**
 * Why reminders are planned. If a saved object is too late for its reminder, that is recorded. A saved
 * definition and imported history only plan future reminders.
 */
export type Cause = 'saved object' | 'saved definition' | 'history'

/** An object as it is now, and as it was before the save; new ones have no `before`. */
export type Followed = {
  subject: Subject
  before?: Subject | undefined
  /** When it changed, if it could not be planned at once. */
  since?: Temporal.Instant | undefined
}

type Planning = { plan: Plan; cause: Cause; now: Temporal.Instant }

/** Computes how pending reminders must change to match the definitions. */
export function planReminders(
  followed: Followed[],
  definitions: StoredDefinition[],
  rows: ReminderRow[],
  cause: Cause,
  now: Temporal.Instant,
): Plan {
  const plan: Plan = { insert: [], update: [], replan: [] }
  const rowsOf = Map.groupBy(rows, (row) => reminderKey(row.eventDefnId, row))
  for (const definition of definitions.filter(isReminder)) {
    for (const object of followed) {
      const existing = rowsOf.get(reminderKey(definition.eventDefnId, object.subject)) ?? []
      planReminder(definition, object, existing, { plan, cause, now })
    }
  }
  return plan
}

function planReminder(
  definition: StoredDefinition,
  { subject, before, since }: Followed,
  existing: ReminderRow[],
  { plan, cause, now }: Planning,
) {
  const refused = refusals(definition, subject)
  const firing = refused.length === 0 ? firingTime(definition, subject) : undefined
  const pending = existing.find((row) => row.status === 'SCHEDULED' || row.status === 'RUNNING')
  const reminder = { definition, before, since, firing, pending, cause, now }
  const cancel = (reason: string) => {
    if (pending) plan.update.push(cancelled(pending, definition, reason))
  }

  if (pending?.status === 'RUNNING') {
    // Its mails exist: it is planned again when the last of them has ended.
    if (!firing || !isAt(pending, firing) || isOutdated(pending, definition, firing)) {
      const { eventTriggerId } = pending
      plan.replan.push({ eventTriggerId, since: askedSince(reminder) })
    }
    return
  }
  if (!firing) return cancel(refused[0] ?? NO_ANCHOR)
  if (existing.some((row) => row !== pending && isAt(row, firing))) return cancel(ALREADY_REMINDED)
  const { version: defnVersion } = definition
  if (pending && isAt(pending, firing)) {
    if (isSameMoment(pending.scheduledTime, firing.scheduledTime)) {
      if (pending.defnVersion === defnVersion) return
      plan.update.push({ ...pending, defnVersion, ...SCHEDULED })
      return
    }
    if (isPlannedLate(pending, definition, firing, { now, subject })) return
  }
  const from = askedSince(reminder)
  const isLate = isBefore(firing.scheduledTime, from)
  const isDropped = isLate && !isLatenessRecorded(reminder)
  const keptTime =
    isDropped && pending && timeToKeep(pending, definition, firing, { from, subject })
  if (isDropped && !keptTime) return cancel(NEW_TIME_PASSED)
  if (keptTime && isSameMoment(keptTime, pending.scheduledTime)) {
    if (pending.defnVersion === defnVersion) return
  }
  const planned =
    keptTime || cause === 'saved definition'
      ? { ...firing, scheduledTime: keptTime || firing.scheduledTime, ...SCHEDULED }
      : { ...firing, ...firstPlan(definition, firing, from, subject) }
  if (pending) {
    plan.update.push({ eventTriggerId: pending.eventTriggerId, defnVersion, ...planned })
  } else plan.insert.push({ ...reminderOf(definition, subject), ...planned })
}

/** The reminder of one definition for one object, and its present state. */
type Reminder = Pick<Followed, 'before' | 'since'> & {
  definition: StoredDefinition
  /** Undefined if the definition requires no reminder. */
  firing: FiringTime | undefined
  pending: ReminderRow | undefined
  cause: Cause
  now: Temporal.Instant
}

/**
 * Since when this time of the reminder is required; an earlier time is late. Example: a definition is
 * saved at 9:00 and planned at 9:10, after a restart. A reminder for 9:05 is not late: it is sent.
 */
function askedSince(reminder: Reminder): Temporal.Instant {
  const { definition, since, pending, cause, now } = reminder
  if (since) return since
  // The object moved while mails of the reminder were being sent, and is not planned yet.
  if (pending?.replanSince && !isNewTime(reminder)) return pending.replanSince
  const ofDefinition = cause === 'saved definition' ? definition.askedSince : null
  return ofDefinition && isBefore(ofDefinition, now) ? ofDefinition : now
}

/**
 * Whether a late reminder is recorded, as EXPIRED or to be sent at once, instead of dropped. Example: a
 * booking for tomorrow is too late for a reminder two days before, which is EXPIRED. A definition that
 * is saved after the booking records nothing, and neither does a later change of the booking's note.
 */
const isLatenessRecorded = (reminder: Reminder) =>
  reminder.cause === 'saved object' && isNewTime(reminder)

/** Whether this save is the first that requires this time of the reminder. */
const isNewTime = ({ definition, before, firing, cause }: Reminder) =>
  cause === 'saved definition'
    ? definition.askedSince !== null
    : !firing || !wasRequired(definition, before, firing)

/**
 * The time that a pending reminder keeps if quiet hours or a time zone changed and its new time has
 * passed: the one that its offset gives, or else the one it was planned for. Undefined if the anchor
 * changed, or if the definition changed and the time that its offset gives has passed too.
 */
function timeToKeep(
  pending: ReminderRow,
  definition: StoredDefinition,
  firing: FiringTime,
  { from, subject }: { from: Temporal.Instant; subject: Subject },
) {
  if (!isAt(pending, firing)) return undefined
  if (firing.quietTime && !isBefore(firing.quietTime, from)) return firing.quietTime
  if (pending.defnVersion !== definition.version) return undefined
  return notInQuietHours(definition, subject, { ...firing, scheduledTime: pending.scheduledTime })
}

const SCHEDULED = { status: 'SCHEDULED', statusReason: null } as const

const NO_ANCHOR = REASONS.noAnchor
const ALREADY_REMINDED = REASONS.alreadyReminded
const NEW_TIME_PASSED = REASONS.newTimePassed

const cancelled = (row: ReminderRow, definition: StoredDefinition, statusReason: string) => ({
  eventTriggerId: row.eventTriggerId,
  defnVersion: definition.version,
  anchorTime: row.anchorTime,
  scheduledTime: row.scheduledTime,
  status: 'CANCELLED' as const,
  statusReason,
})

const isAt = (row: ReminderRow, firing: FiringTime) =>
  isSameMoment(row.anchorTime, firing.anchorTime)

/** Its definition was saved since, with another offset from the same anchor. */
const isOutdated = (row: ReminderRow, { version }: StoredDefinition, firing: FiringTime) =>
  row.defnVersion !== version && !isSameMoment(row.scheduledTime, firing.scheduledTime)

/**
 * It was planned to be sent late, not at the time that its definition gives, and is due or waits for
 * the end of quiet hours.
 */
const isPlannedLate = (
  row: ReminderRow,
  { version }: StoredDefinition,
  firing: FiringTime,
  { now, subject }: { now: Temporal.Instant; subject: Subject },
) =>
  row.defnVersion === version &&
  (!isBefore(now, row.scheduledTime) ||
    (isBefore(firing.scheduledTime, now) && isQuietEnd(row.scheduledTime, subject)))

/** Whether the object before this save required a reminder with the same anchor. */
function wasRequired(
  definition: StoredDefinition,
  before: Subject | undefined,
  firing: FiringTime,
) {
  if (!before || refusals(definition, before).length > 0) return false
  const firingBefore = firingTime(definition, before)
  return firingBefore !== undefined && isSameMoment(firingBefore.anchorTime, firing.anchorTime)
}

const reminderOf = (definition: StoredDefinition, subject: Subject) =>
  ({
    eventDefnId: definition.eventDefnId,
    defnVersion: definition.version,
    objectType: subject.objectType,
    objectId: subject.objectId,
    objectUUId: subject.objectUUId,
    occurrence: null,
    oldStatus: null,
    newStatus: null,
  }) satisfies Partial<NewTrigger>

const reminderKey = (eventDefnId: number, object: Pick<Subject, 'objectId' | 'objectUUId'>) =>
  `${eventDefnId} ${objectIdOf(object)}`
