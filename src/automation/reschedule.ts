import { REASONS } from '../contract/reasons.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import type { NewTrigger, Plan, ReminderRow } from '../store/event-triggers.ts'
import { refusals } from './match.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import {
  firingTime,
  firstPlan,
  isBefore,
  isReminder,
  isSameMoment,
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
  /** When it became so, if it could not be planned at once. */
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
  const isNews = () =>
    cause === 'saved definition'
      ? definition.askedSince !== null
      : !firing || !wasAskedFor(definition, before, firing)
  // The object moved while emails of the reminder were being sent, and is not planned yet.
  const owedSince = pending?.replanSince && !isNews() ? pending.replanSince : undefined
  const asOf = since ?? owedSince ?? askedFrom(definition, cause, now)
  const cancel = (reason: string) => {
    if (pending) plan.update.push(cancelled(pending, definition, reason))
  }

  if (pending?.status === 'RUNNING') {
    // Its emails exist: it is planned again when the last of them has ended.
    if (!firing || !isAt(pending, firing) || isOutdated(pending, definition, firing)) {
      plan.replan.push({ eventTriggerId: pending.eventTriggerId, since: asOf })
    }
    return
  }
  if (!firing) return cancel(refused[0] ?? NO_ANCHOR)
  if (existing.some((row) => row !== pending && isAt(row, firing))) return cancel(ALREADY_REMINDED)
  const { version: defnVersion } = definition
  if (pending && isAt(pending, firing)) {
    if (isSameMoment(pending.scheduledTime, firing.scheduledTime)) {
      if (pending.defnVersion === defnVersion) return
      const kept = { defnVersion, status: 'SCHEDULED' as const, statusReason: null }
      plan.update.push({ ...pending, ...kept })
      return
    }
    if (isDueAsPlanned(pending, definition, now)) return
  }
  const isLate = isBefore(firing.scheduledTime, asOf)
  const isRecorded = cause === 'saved object' && (owedSince !== undefined || isNews())
  if (isLate && !isRecorded) return cancel(NEW_TIME_PASSED)
  const planned =
    cause === 'saved definition'
      ? { ...firing, status: 'SCHEDULED' as const, statusReason: null }
      : { ...firing, ...firstPlan(definition, firing, asOf) }
  if (pending) {
    plan.update.push({ eventTriggerId: pending.eventTriggerId, defnVersion, ...planned })
  } else plan.insert.push({ ...reminderOf(definition, subject), ...planned })
}

/**
 * A saved definition counts from when it began to ask for what is not yet planned, however often its
 * plan was interrupted: what came due meanwhile is late, not lost. Planned again for another reason,
 * it counts from now.
 */
function askedFrom({ askedSince }: StoredDefinition, cause: Cause, now: Temporal.Instant) {
  if (cause !== 'saved definition' || !askedSince) return now
  return isBefore(askedSince, now) ? askedSince : now
}

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

/** Its definition counts otherwise since, from the same anchor. */
const isOutdated = (row: ReminderRow, { version }: StoredDefinition, firing: FiringTime) =>
  row.defnVersion !== version && !isSameMoment(row.scheduledTime, firing.scheduledTime)

/** Sent late, so due at another time than the definition's: it only waits for the engine. */
const isDueAsPlanned = (row: ReminderRow, { version }: StoredDefinition, now: Temporal.Instant) =>
  row.defnVersion === version && !isBefore(now, row.scheduledTime)

/**
 * The same reminder was asked for before this save, and its moment passed without it: the
 * definition is younger than the object. What passes in silence is not brought up by a later save.
 */
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
