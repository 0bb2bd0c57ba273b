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
 * Why reminders are planned. An object that was saved may be late for its reminder, and that is
 * recorded; a saved definition and imported history only look ahead.
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

/** How the pending reminders must change to be what the definitions ask for. */
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

/** One definition and one object, and what is known about their reminder. */
type Reminder = Pick<Followed, 'before' | 'since'> & {
  definition: StoredDefinition
  /** Undefined if the definition does not ask for a reminder. */
  firing: FiringTime | undefined
  pending: ReminderRow | undefined
  cause: Cause
  now: Temporal.Instant
}

/**
 * Since when this time of the reminder is asked for; a time before that is late. Example: a definition
 * is saved at 9:00 and planned at 9:10, after a restart. A reminder for 9:05 is not late: it is sent.
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

/** Whether the save is the first to ask for this time of the reminder. */
const isNewTime = ({ definition, before, firing, cause }: Reminder) =>
  cause === 'saved definition'
    ? definition.askedSince !== null
    : !firing || !wasAskedFor(definition, before, firing)

/**
 * The time at which a pending reminder stays if quiet hours or a time zone changed and the new time has
 * passed: the one that its offset gives, or else the one it was planned for. Undefined if another
 * anchor or a saved definition asks for a time that has passed.
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
 * It was planned to be sent late, so not at the time of its definition, and is due or waits for the end
 * of quiet hours.
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

/** Whether the object, as it was before this save, asked for a reminder with the same anchor. */
function wasAskedFor(
  definition: StoredDefinition,
  before: Subject | undefined,
  firing: FiringTime,
) {
  if (!before || refusals(definition, before).length > 0) return false
  const was = firingTime(definition, before)
  return was !== undefined && isSameMoment(was.anchorTime, firing.anchorTime)
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
