import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import { countOtherKinds, listReminders, type Plan } from '../store/event-triggers.ts'
import { listSubjects } from '../store/subjects.ts'
import { readAgainst } from './define.ts'
import { refusals } from './match.ts'
import {
  candidates,
  idOf,
  objectOf,
  objectTypeOf,
  pendingEvents,
  pendingObjects,
  planEvent,
  subjectsFrom,
} from './plan.ts'
import { planReminders } from './reschedule.ts'
import type { Subject } from './subject.ts'
import { firesBefore, firingTime, isReminder } from './timing.ts'

export type Forecast = Record<Kind, number> & { samples: Sample[]; partial?: true }

type Kind = 'create' | 'move' | 'cancel' | 'expired' | 'unchanged'
type Sample = {
  change: Exclude<Kind, 'unchanged'>
  objectType: ObjectType
  objectId: number | null
  objectUUId: string | null
  from: Temporal.Instant | null
  to: Temporal.Instant | null
}

export type Asking = {
  businessId: number
  now: Temporal.Instant
  /** Said before each page: is there time for more? */
  goesOn: () => boolean
}

/**
 * What saving a definition would do to its triggers, by the same rules and in the same pages, but
 * nothing is locked and nothing written.
 */
export async function forecast(db: Db, body: unknown, asking: Asking): Promise<Forecast> {
  const { before, wanted } = await readAgainst(db, body, asking)
  const definition = asIfStored(wanted, before, asking.now)
  const tally = new Tally()
  const isDone = await (before ? forecastPending(db, definition, tally, asking) : true)
  const isWhole = isDone && (await forecastAhead(db, definition, tally, asking))
  return { ...tally.counts, samples: tally.samples, ...(isWhole ? {} : { partial: true }) }
}

/** The definition as it would be kept: a new version, which nothing is planned by yet. */
export const asIfStored = (
  wanted: Parameters<typeof candidates>[0],
  before: StoredDefinition | undefined,
  now: Temporal.Instant,
): StoredDefinition => ({
  eventDefnId: 0,
  createdDate: now,
  createdUser: '',
  ...before,
  ...wanted,
  version: (before?.version ?? 0) + 1,
  plannedVersion: before?.plannedVersion ?? 0,
  askedSince: null,
  deletedDate: null,
  modifiedDate: now,
  modifiedUser: '',
})

/** Of each kind of change. */
const MOST_SAMPLES = 10

class Tally {
  readonly counts: Record<Kind, number> = {
    create: 0,
    move: 0,
    cancel: 0,
    expired: 0,
    unchanged: 0,
  }
  readonly samples: Sample[] = []

  add(change: Kind, of: Omit<Sample, 'change'>) {
    this.counts[change] += 1
    if (change !== 'unchanged' && this.counts[change] <= MOST_SAMPLES) {
      this.samples.push({ change, ...of })
    }
  }
}

/** What is pending: it moves, stays or goes. */
async function forecastPending(db: Db, definition: StoredDefinition, tally: Tally, asking: Asking) {
  const { businessId } = definition
  const objectType = objectTypeOf(definition)
  const kind = { objectType, isReminder: isReminder(definition) }
  const others = await countOtherKinds(db, definition, kind, MOST_SAMPLES)
  for (const { objectType, objectId, objectUUId, scheduledTime: from } of others.first) {
    tally.add('cancel', { objectType, objectId, objectUUId, from, to: null })
  }
  tally.counts.cancel = others.count

  if (isReminder(definition)) {
    for await (const ids of pendingObjects(db, definition)) {
      const [subjects, rows] = await Promise.all([
        listSubjects(db, businessId, objectType, ids),
        listReminders(db, businessId, objectType, ids, [definition.eventDefnId]),
      ])
      const pending = rows.filter((row) => row.status === 'SCHEDULED' || row.status === 'RUNNING')
      const plan = planReminders(asFollowed(subjects), [definition], rows, CAUSE, asking.now)
      tallyUpdates(tally, objectType, pending, plan.update)
      if (!asking.goesOn()) return false
    }
    return true
  }
  for await (const rows of pendingEvents(db, definition)) {
    const ids = [...new Set(rows.map(objectOf))]
    const subjects = await listSubjects(db, businessId, objectType, ids)
    const byId = new Map(subjects.map((subject) => [idOf(subject), subject]))
    const update = rows.flatMap((row) =>
      planEvent(definition, row, byId.get(objectOf(row))!, asking.now),
    )
    tallyUpdates(tally, objectType, rows, update)
    if (!asking.goesOn()) return false
  }
  return true
}

const CAUSE = 'saved definition'
const asFollowed = (subjects: Subject[]) => subjects.map((subject) => ({ subject }))

type PendingRow = {
  eventTriggerId: number
  objectId: number | null
  objectUUId: string | null
  scheduledTime: Temporal.Instant
}

function tallyUpdates(
  tally: Tally,
  objectType: ObjectType,
  pending: PendingRow[],
  updates: Plan['update'],
) {
  const updateOf = new Map(updates.map((update) => [update.eventTriggerId, update]))
  for (const { eventTriggerId, objectId, objectUUId, scheduledTime: from } of pending) {
    const update = updateOf.get(eventTriggerId)
    const of = { objectType, objectId, objectUUId, from }
    if (update && update.status !== 'SCHEDULED') tally.add('cancel', { ...of, to: null })
    else if (update && !update.scheduledTime.equals(from)) {
      tally.add('move', { ...of, to: update.scheduledTime })
    } else tally.add('unchanged', { ...of, to: from })
  }
}

/** What lies ahead and has no reminder yet; and what it is too late for. */
async function forecastAhead(db: Db, definition: StoredDefinition, tally: Tally, asking: Asking) {
  if (!definition.active || !isReminder(definition)) return true
  const { businessId, eventDefnId } = definition
  const { now } = asking
  const objectType = objectTypeOf(definition)
  const listing = candidates(definition, objectType, now)
  // Also those that begin so soon that their reminder is past: nobody will be told.
  const from = Temporal.Instant.compare(listing.from, now) > 0 ? now : listing.from
  for await (const subjects of subjectsFrom(db, businessId, objectType, { ...listing, from })) {
    const ids = subjects.map(idOf)
    const rows =
      eventDefnId === 0 ? [] : await listReminders(db, businessId, objectType, ids, [eventDefnId])
    const known = new Set(rows.map(objectOf))
    const plan = planReminders(asFollowed(subjects), [definition], rows, CAUSE, now)
    for (const { objectId, objectUUId, scheduledTime: to } of plan.insert) {
      tally.add('create', { objectType, objectId, objectUUId, from: null, to })
    }
    for (const subject of subjects) {
      if (!known.has(idOf(subject))) tallyTooLate(tally, definition, subject, now)
    }
    if (!asking.goesOn()) return false
  }
  return true
}

function tallyTooLate(
  tally: Tally,
  definition: StoredDefinition,
  subject: Subject,
  now: Temporal.Instant,
) {
  if (!firesBefore(definition) || refusals(definition, subject).length > 0) return
  const firing = firingTime(definition, subject)
  if (!firing || !isPast(firing.scheduledTime, now) || isPast(firing.anchorTime, now)) return
  const { objectType, objectId, objectUUId } = subject
  tally.add('expired', { objectType, objectId, objectUUId, from: null, to: firing.scheduledTime })
}

const isPast = (time: Temporal.Instant, now: Temporal.Instant) =>
  Temporal.Instant.compare(time, now) < 0
