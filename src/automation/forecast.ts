import type { ObjectType } from '../contract/event-type.ts'
import { REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import { countOtherKinds, listReminders, OTHER_EVENT, type Plan } from '../store/event-triggers.ts'
import { readObjectNames, type ObjectNames } from '../store/object-names.ts'
import type { Sight } from '../store/objects.ts'
import { listSubjects } from '../store/subjects.ts'
import { readAgainst } from './define.ts'
import { isSeen, nameOfSample } from './forecast-samples.ts'
import { checks, refusals } from './match.ts'
import {
  candidates,
  eventOf,
  idOf,
  objectOf,
  objectTypeOf,
  pendingEvents,
  pendingObjects,
  planEvent,
  subjectsFrom,
} from './plan.ts'
import { planReminders } from './reschedule.ts'
import { SendTimes, type SendTimesResult } from './send-times.ts'
import { keyOf, type SchedulingEvent, type Subject } from './subject.ts'
import { firesBefore, firingTime, isReminder } from './timing.ts'

export type Forecast = Record<Kind, number> &
  SendTimesResult & { samples: Sample[]; partial?: true }

type Kind = 'create' | 'move' | 'cancel' | 'expired' | 'unchanged'
type Change = {
  change: Exclude<Kind, 'unchanged'>
  from: Temporal.Instant | null
  to: Temporal.Instant | null
}
type Sample = Change &
  ObjectNames & {
    objectType: ObjectType
    objectId: number | null
    objectUUId: string | null
    reason: string | null
  }

export type Asking = {
  businessId: number
  now: Temporal.Instant
  /** Called after each page: is there time for more? */
  goesOn: () => boolean
  /** The objects that the caller may see; only these are shown as samples. */
  sight: Sight
  /** How many samples to show. */
  limit: number
}

/**
 * What saving a definition would do to its triggers, by the same rules and in the same pages, but
 * nothing is locked and nothing written.
 */
export async function forecast(db: Db, body: unknown, asking: Asking): Promise<Forecast> {
  const { before, wanted } = await readAgainst(db, body, asking)
  const definition = asIfStored(wanted, before, asking.now)
  const tally = new Tally(asking)
  const isDone = await (before ? forecastPending(db, definition, tally, asking) : true)
  const isWhole = isDone && (await forecastAhead(db, definition, tally, asking))
  return {
    ...tally.counts,
    ...tally.times.result(),
    samples: await describe(db, definition, tally.samples),
    ...(isWhole ? {} : { partial: true }),
  }
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

/** An object that a change concerns, and why. */
type Concerned = {
  subject: Subject
  from: Temporal.Instant | null
  to: Temporal.Instant | null
  reason?: string | null | undefined
  /** Set if the reason is one of the checks, which can name what they looked at. */
  checked?: SchedulingEvent | Subject | undefined
}
type Found = Concerned & { change: Change['change'] }

class Tally {
  readonly counts: Record<Kind, number> = {
    create: 0,
    move: 0,
    cancel: 0,
    expired: 0,
    unchanged: 0,
  }
  readonly samples: Found[] = []
  /** Of the triggers that would be pending. */
  readonly times = new SendTimes()
  readonly #shown = { create: 0, move: 0, cancel: 0, expired: 0 }
  readonly #limit: number
  readonly #sight: Sight

  constructor({ limit, sight }: Pick<Asking, 'limit' | 'sight'>) {
    this.#limit = limit
    this.#sight = sight
  }

  add(change: Kind, concerned: Concerned) {
    this.counts[change] += 1
    const { subject, to } = concerned
    if (to && (change === 'create' || change === 'move' || change === 'unchanged')) {
      const { timeZone, clientId: reader } = subject
      this.times.add({ time: to, timeZone, readerTimeZone: timeZone, reader })
    }
    if (change !== 'unchanged') this.show(change, concerned)
  }

  /** Keeps a sample without counting it. */
  show(change: Change['change'], concerned: Concerned) {
    if (this.#shown[change] >= this.#limit || !isSeen(concerned.subject, this.#sight)) return
    this.#shown[change] += 1
    this.samples.push({ change, ...concerned })
  }
}

/** The samples with names, and with reasons in which names stand for ids. */
async function describe(db: Db, definition: StoredDefinition, found: Found[]): Promise<Sample[]> {
  const subjects = found.map(({ subject }) => subject)
  const namesOf = await readObjectNames(db, definition.businessId, subjects)
  return found.map(({ change, subject, from, to, reason = null, checked }) => {
    const { objectType, objectId, objectUUId } = subject
    const names = namesOf(subject)
    const failed =
      checked && checks(definition, checked, nameOfSample(names)).find((check) => !check.ok)
    return {
      change,
      objectType,
      objectId,
      objectUUId,
      from,
      to,
      reason: failed?.reason ?? reason,
      ...names,
    }
  })
}

/** What is pending: it moves, stays or goes. */
async function forecastPending(db: Db, definition: StoredDefinition, tally: Tally, asking: Asking) {
  const { businessId } = definition
  const objectType = objectTypeOf(definition)
  const kind = { objectType, isReminder: isReminder(definition) }
  const others = await countOtherKinds(db, definition, kind, asking.limit)
  tally.counts.cancel = others.count
  for (const { subject, scheduledTime: from } of await withSubjects(db, businessId, others.first)) {
    tally.show('cancel', { subject, from, to: null, reason: OTHER_EVENT })
  }

  if (isReminder(definition)) {
    for await (const ids of pendingObjects(db, definition)) {
      const [subjects, rows] = await Promise.all([
        listSubjects(db, businessId, objectType, ids),
        listReminders(db, businessId, objectType, ids, [definition.eventDefnId]),
      ])
      const pending = rows.filter((row) => row.status === 'SCHEDULED' || row.status === 'RUNNING')
      const plan = planReminders(asFollowed(subjects), [definition], rows, CAUSE, asking.now)
      const byId = new Map(subjects.map((subject) => [idOf(subject), subject]))
      const affected = pending.map((row) => {
        const subject = byId.get(objectOf(row))!
        return { row, subject, checked: subject }
      })
      tallyUpdates(tally, affected, plan.update)
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
    const affected = rows.map((row) => {
      const subject = byId.get(objectOf(row))!
      return { row, subject, checked: eventOf(row, subject) }
    })
    tallyUpdates(tally, affected, update)
    if (!asking.goesOn()) return false
  }
  return true
}

const CAUSE = 'saved definition'
const asFollowed = (subjects: Subject[]) => subjects.map((subject) => ({ subject }))

type Affected = {
  row: { eventTriggerId: number; scheduledTime: Temporal.Instant }
  subject: Subject
  checked: SchedulingEvent | Subject
}

function tallyUpdates(tally: Tally, affected: Affected[], updates: Plan['update']) {
  const updateOf = new Map(updates.map((update) => [update.eventTriggerId, update]))
  for (const { row, subject, checked } of affected) {
    const { eventTriggerId, scheduledTime: from } = row
    const update = updateOf.get(eventTriggerId)
    if (update && update.status !== 'SCHEDULED') {
      tally.add('cancel', { subject, from, to: null, reason: update.statusReason, checked })
    } else if (update && !update.scheduledTime.equals(from)) {
      tally.add('move', { subject, from, to: update.scheduledTime })
    } else tally.add('unchanged', { subject, from, to: from })
  }
}

/** Rows about objects of any type, each with its object. */
async function withSubjects<Row extends ObjectReference>(db: Db, businessId: number, rows: Row[]) {
  const byType = Map.groupBy(rows, (row) => row.objectType)
  const subjects = await Promise.all(
    [...byType].map(([objectType, some]) =>
      listSubjects(db, businessId, objectType, some.map(objectOf)),
    ),
  )
  const byKey = new Map(subjects.flat().map((subject) => [keyOf(subject), subject]))
  return rows.flatMap((row) => {
    const subject = byKey.get(keyOf(row))
    return subject ? [{ ...row, subject }] : []
  })
}

type ObjectReference = Pick<Subject, 'objectType' | 'objectId' | 'objectUUId'>

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
    const byId = new Map(subjects.map((subject) => [idOf(subject), subject]))
    const plan = planReminders(asFollowed(subjects), [definition], rows, CAUSE, now)
    for (const { scheduledTime: to, ...row } of plan.insert) {
      tally.add('create', { subject: byId.get(objectOf(row))!, from: null, to })
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
  tally.add('expired', {
    subject,
    from: null,
    to: firing.scheduledTime,
    reason: REASONS.alreadyPast,
  })
}

const isPast = (time: Temporal.Instant, now: Temporal.Instant) =>
  Temporal.Instant.compare(time, now) < 0
