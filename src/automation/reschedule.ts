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
      const pending = existing.find((row) => row.status === 'SCHEDULED' || row.status === 'RUNNING')
      planReminder({ ...object, definition, existing, pending, cause, now }, plan)
    }
  }
  return plan
}

/** The reminder of one definition for one object, and its present state. */
type Reminder = Followed & {
  definition: StoredDefinition
  existing: ReminderRow[]
  pending: ReminderRow | undefined
  cause: Cause
  now: Temporal.Instant
}

/** One that the definition requires, at this time. */
type RequiredReminder = Reminder & { firing: FiringTime }

function planReminder(reminder: Reminder, plan: Plan) {
  const { definition, subject, pending } = reminder
  const refused = refusals(definition, subject)
  const firing = refused.length === 0 ? firingTime(definition, subject) : undefined
  if (pending?.status === 'RUNNING') {
    // Its mails exist: it is planned again when the last of them has ended.
    if (!firing || !isAt(pending, firing) || isOutdated(pending, definition, firing)) {
      plan.replan.push({
        eventTriggerId: pending.eventTriggerId,
        since: askedSince(reminder, firing),
      })
    }
    return
  }
  const decision = firing
    ? decide({ ...reminder, firing })
    : { cancel: refused[0] ?? REASONS.noAnchor }
  if (decision) applyDecision(decision, reminder, plan)
}

/** What becomes of a required reminder; undefined if it stays as it is. */
type Decision = { cancel: string } | Planned | undefined
type Planned = Pick<FiringTime, 'anchorTime' | 'scheduledTime'> & ReturnType<typeof firstPlan>

/** The first case that applies decides. */
const CASES: [name: string, applies: Rule<boolean>, decide: Rule<Decision>][] = [
  ['was reminded of this anchor', wasReminded, () => ({ cancel: REASONS.alreadyReminded })],
  ['is planned for this time', isPlannedNow, ({ firing }) => ({ ...firing, ...SCHEDULED })],
  ['was planned to be sent late', isPlannedLate, () => undefined],
  ['is in time', (reminder) => !isLate(reminder), planFirst],
  ['is late, which is recorded', isLatenessRecorded, planFirst],
  ['is late', () => true, keepTime],
]

type Rule<Result> = (reminder: RequiredReminder) => Result

function decide(reminder: RequiredReminder) {
  const [, , decideCase] = CASES.find(([, applies]) => applies(reminder))!
  return decideCase(reminder)
}

function wasReminded({ existing, pending, firing }: RequiredReminder) {
  return existing.some((row) => row !== pending && isAt(row, firing))
}

function isPlannedNow({ pending, firing }: RequiredReminder) {
  return isAt(pending, firing) && isSameMoment(pending.scheduledTime, firing.scheduledTime)
}

/**
 * It was planned to be sent late, not at the time that its definition gives, and is due or waits for
 * the end of quiet hours.
 */
function isPlannedLate({ definition, firing, now, pending, subject }: RequiredReminder) {
  if (!isAt(pending, firing) || pending.defnVersion !== definition.version) return false
  const isDue = !isBefore(now, pending.scheduledTime)
  return (
    isDue || (isBefore(firing.scheduledTime, now) && isQuietEnd(pending.scheduledTime, subject))
  )
}

const isLate = (reminder: RequiredReminder) =>
  isBefore(reminder.firing.scheduledTime, askedSince(reminder, reminder.firing))

function planFirst({ firing, ...reminder }: RequiredReminder): Planned {
  if (reminder.cause === 'saved definition') return { ...firing, ...SCHEDULED }
  const { definition, subject } = reminder
  return { ...firing, ...firstPlan(definition, firing, askedSince(reminder, firing), subject) }
}

function applyDecision(decision: NonNullable<Decision>, reminder: Reminder, plan: Plan) {
  const { definition, subject, pending } = reminder
  const { version: defnVersion } = definition
  if ('cancel' in decision) {
    if (!pending) return
    const { eventTriggerId, anchorTime, scheduledTime } = pending
    const cancelled = { status: 'CANCELLED' as const, statusReason: decision.cancel }
    plan.update.push({ eventTriggerId, defnVersion, anchorTime, scheduledTime, ...cancelled })
  } else if (!pending) {
    plan.insert.push({ ...reminderOf(definition, subject), ...decision })
  } else if (!isUnchanged(pending, definition, decision)) {
    plan.update.push({ eventTriggerId: pending.eventTriggerId, defnVersion, ...decision })
  }
}

const isUnchanged = (pending: ReminderRow, { version }: StoredDefinition, planned: Planned) =>
  planned.status === 'SCHEDULED' &&
  pending.defnVersion === version &&
  isAt(pending, planned) &&
  isSameMoment(pending.scheduledTime, planned.scheduledTime)

/**
 * Since when this time of the reminder is required; an earlier time is late. Example: a definition is
 * saved at 9:00 and planned at 9:10, after a restart. A reminder for 9:05 is not late: it is sent.
 */
function askedSince(reminder: Reminder, firing: FiringTime | undefined): Temporal.Instant {
  const { definition, since, pending, cause, now } = reminder
  if (since) return since
  // The object moved while mails of the reminder were being sent, and is not planned yet.
  if (pending?.replanSince && !isNewTime(reminder, firing)) return pending.replanSince
  const ofDefinition = cause === 'saved definition' ? definition.askedSince : null
  return ofDefinition && isBefore(ofDefinition, now) ? ofDefinition : now
}

/**
 * Whether a late reminder is recorded, as EXPIRED or to be sent at once, instead of dropped. Example: a
 * booking for tomorrow is too late for a reminder two days before, which is EXPIRED. A definition that
 * is saved after the booking records nothing, and neither does a later change of the booking's note.
 */
function isLatenessRecorded(reminder: RequiredReminder) {
  return reminder.cause === 'saved object' && isNewTime(reminder, reminder.firing)
}

/** Whether this save is the first that requires this time of the reminder. */
const isNewTime = ({ definition, before, cause }: Reminder, firing: FiringTime | undefined) =>
  cause === 'saved definition'
    ? definition.askedSince !== null
    : !firing || !wasRequired(definition, before, firing)

/**
 * The time that a pending reminder keeps if quiet hours or a time zone changed and its new time has
 * passed: the one that its offset gives, or else the one it was planned for. It is cancelled if the anchor
 * changed, or if the definition changed and the time that its offset gives has passed too.
 */
function keepTime({ firing, ...reminder }: RequiredReminder): Decision {
  const { definition, pending, subject } = reminder
  const passed = { cancel: REASONS.newTimePassed }
  if (!isAt(pending, firing)) return passed
  if (firing.quietTime && !isBefore(firing.quietTime, askedSince(reminder, firing))) {
    return { ...firing, scheduledTime: firing.quietTime, ...SCHEDULED }
  }
  if (pending.defnVersion !== definition.version) return passed
  const planned = { ...firing, scheduledTime: pending.scheduledTime }
  return { ...firing, scheduledTime: notInQuietHours(definition, subject, planned), ...SCHEDULED }
}

const SCHEDULED = { status: 'SCHEDULED', statusReason: null } as const

const isAt = (
  row: ReminderRow | undefined,
  { anchorTime }: Pick<FiringTime, 'anchorTime'>,
): row is ReminderRow => row !== undefined && isSameMoment(row.anchorTime, anchorTime)

/** Its definition was saved since, with another offset from the same anchor. */
const isOutdated = (row: ReminderRow, { version }: StoredDefinition, firing: FiringTime) =>
  row.defnVersion !== version && !isSameMoment(row.scheduledTime, firing.scheduledTime)

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
