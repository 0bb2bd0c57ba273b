import { readReasons, REASONS, type Reason } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import { countOtherKinds, listReminders, type Plan } from '../store/planned-triggers.ts'
import type { DescribedObject } from '../store/object-names.ts'
import { canLackPostalAddress } from '../store/postal-addresses.ts'
import { listNames, listSubjects } from '../store/subjects.ts'
import { namedBy } from './explain.ts'
import { checks, refusals } from './match.ts'
import {
  earliestAnchor,
  reportedEvent,
  objectTypeOf,
  pendingEvents,
  pendingObjects,
  planEvent,
  planSavedReminders,
  subjectsFrom,
} from './plan.ts'
import { SendTimes, type SendTimesResult } from './send-times.ts'
import type { SchedulingEvent } from './occurrence.ts'
import { objectIdOf, objectKeyOf, type Subject } from '../store/subject.ts'
import { firesBefore, firingTime, isBefore, isReminder } from './timing.ts'
import { actionsAfterSaving, readWhatIf, Samples, type WhatIf } from './what-if.ts'

export type Forecast = Record<Kind, number> &
  SendTimesResult & { lacksPostalAddress: boolean; samples: Sample[]; partial?: true }

type Kind = 'create' | 'move' | 'cancel' | 'expired' | 'unchanged'
type ForecastChange = {
  change: Exclude<Kind, 'unchanged'>
  from: Temporal.Instant | null
  to: Temporal.Instant | null
}
type Sample = ForecastChange & DescribedObject & { reason: string | null; reasons: Reason[] }

/**
 * Computes how saving a definition would change its triggers. It follows the same rules as planning,
 * but locks and writes nothing.
 */
export async function forecast(db: Db, body: unknown, options: WhatIf): Promise<Forecast> {
  const { before, actions: given, definition } = await readWhatIf(db, body, options)
  const actions = await actionsAfterSaving(db, options.businessId, before, given)
  const tally = new Tally(options)
  const work = { ...options, db, definition, tally }
  const isPendingDone = before ? await forecastPending(work) : true
  const isComplete = isPendingDone && (await forecastNew(work))
  return {
    ...tally.counts,
    ...tally.times.result(),
    lacksPostalAddress: await canLackPostalAddress(db, options.businessId, {
      eventTypeId: definition.eventTypeId,
      emailTemplateIds: actions.map(({ emailTemplateId }) => emailTemplateId),
    }),
    samples: await describeSamples(db, definition, tally.samples),
    ...(isComplete ? {} : { partial: true }),
  }
}

/**
 * Computes how planning stored definitions again would change their triggers. Like that, it adds no reminder
 * whose time has passed.
 */
export async function forecastReplan(
  db: Db,
  definitions: StoredDefinition[],
  options: WhatIf,
): Promise<Record<Kind, number> & { partial?: true }> {
  const tally = new Tally(options)
  for (const definition of definitions) {
    const work = { ...options, db, definition, tally }
    if (!(await forecastPending(work)) || !(await forecastNew(work))) {
      return { ...tally.counts, partial: true }
    }
  }
  return tally.counts
}

type Work = WhatIf & { db: Db; definition: StoredDefinition; tally: Tally }

/** An object whose trigger would change, and why. */
type Affected = {
  subject: Subject
  from: Temporal.Instant | null
  to: Temporal.Instant | null
  reason?: string | null | undefined
  /** Set if the reason is a failed check, so that it can be worded with names instead of ids. */
  checked?: SchedulingEvent | Subject | undefined
}
type Found = Affected & { change: ForecastChange['change'] }

class Tally {
  readonly counts: Record<Kind, number> = {
    create: 0,
    move: 0,
    cancel: 0,
    expired: 0,
    unchanged: 0,
  }
  readonly samples: Samples<Found>
  /** The times of the triggers that would be pending. */
  readonly times = new SendTimes()

  constructor(options: WhatIf) {
    this.samples = new Samples(options)
  }

  add(change: Kind, affected: Affected) {
    this.counts[change] += 1
    const { subject, to } = affected
    if (to && (change === 'create' || change === 'move' || change === 'unchanged')) {
      const { timeZone, clientId: reader } = subject
      this.times.add({ time: to, timeZone, readerTimeZone: timeZone, reader })
    }
    if (change !== 'unchanged') this.addSample(change, affected)
  }

  /** Adds a sample without counting it. */
  addSample(change: ForecastChange['change'], affected: Affected) {
    this.samples.add({ change, ...affected }, change)
  }
}

/** Samples with the names of their objects; their reasons have names instead of ids. */
async function describeSamples(
  db: Db,
  definition: StoredDefinition,
  samples: Samples<Found>,
): Promise<Sample[]> {
  const subjects = samples.shown.map(({ subject }) => subject)
  const [objects, names] = await Promise.all([
    samples.describe(db),
    listNames(db, definition.businessId, subjects),
  ])
  return samples.shown.map(({ change, from, to, reason = null, checked }, i) => {
    const failed = checked && checks(definition, checked, namedBy(names)).find(({ ok }) => !ok)
    const text = failed?.reason ?? reason
    return { ...objects[i]!, change, from, to, reason: text, reasons: readReasons(text) }
  })
}

/** Counts the pending triggers that would move, stay or be cancelled; false if time ran out. */
async function forecastPending(work: Work) {
  await tallyOtherKinds(work)
  const pages = isReminder(work.definition) ? planPendingReminders(work) : planPendingEvents(work)
  for await (const { pending, updates } of pages) {
    tallyUpdates(work.tally, pending, updates)
    if (!work.hasTimeLeft()) return false
  }
  return true
}

/** Pending triggers of another kind of event or object, which the saved definition would cancel. */
async function tallyOtherKinds(work: Work) {
  const { db, businessId, definition, tally, visibility } = work
  const kind = { objectType: objectTypeOf(definition), isReminder: isReminder(definition) }
  const limit = work.offset + work.limit
  const others = await countOtherKinds(db, definition, kind, { visibility, limit })
  tally.counts.cancel += others.count
  for (const { subject, scheduledTime: from } of await withSubjects(db, businessId, others.first)) {
    tally.addSample('cancel', { subject, from, to: null, reason: REASONS.otherEventType })
  }
}

/** A page of pending triggers with their objects, and what planning would change about them. */
type PlannedPage = { pending: PendingTrigger[]; updates: Plan['update'] }
type PendingTrigger = {
  row: { eventTriggerId: number; scheduledTime: Temporal.Instant }
  subject: Subject
  checked: SchedulingEvent | Subject
}

async function* planPendingReminders(work: Work): AsyncGenerator<PlannedPage> {
  const { db, businessId, definition, now } = work
  const objectType = objectTypeOf(definition)
  for await (const ids of pendingObjects(db, definition)) {
    const [subjects, rows] = await Promise.all([
      listSubjects(db, businessId, objectType, ids),
      listReminders(db, businessId, objectType, ids, [definition.eventDefnId]),
    ])
    const byId = new Map(subjects.map((subject) => [objectIdOf(subject), subject]))
    const pending = rows
      .filter((row) => row.status === 'SCHEDULED' || row.status === 'RUNNING')
      .map((row) => {
        const subject = byId.get(objectIdOf(row))!
        return { row, subject, checked: subject }
      })
    yield { pending, updates: planSavedReminders(definition, subjects, rows, now).update }
  }
}

async function* planPendingEvents(work: Work): AsyncGenerator<PlannedPage> {
  const { db, businessId, definition, now } = work
  const objectType = objectTypeOf(definition)
  for await (const rows of pendingEvents(db, definition)) {
    const ofType = rows.map((row) => ({ ...row, objectType }))
    const pending = (await withSubjects(db, businessId, ofType)).map(({ subject, ...row }) => ({
      row,
      subject,
      checked: reportedEvent(row, subject),
    }))
    const updates = pending.flatMap(({ row, subject }) => planEvent(definition, row, subject, now))
    yield { pending, updates }
  }
}

function tallyUpdates(tally: Tally, pending: PendingTrigger[], updates: Plan['update']) {
  const updateOf = new Map(updates.map((update) => [update.eventTriggerId, update]))
  for (const { row, subject, checked } of pending) {
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
    [...byType].map(([objectType, ofType]) =>
      listSubjects(db, businessId, objectType, ofType.map(objectIdOf)),
    ),
  )
  const byKey = new Map(subjects.flat().map((subject) => [objectKeyOf(subject), subject]))
  return rows.flatMap((row) => {
    const subject = byKey.get(objectKeyOf({ ...row, businessId }))
    return subject ? [{ ...row, subject }] : []
  })
}

type ObjectReference = Pick<Subject, 'objectType' | 'objectId' | 'objectUUId'>

/** Counts the reminders that would be new, or that would come too late; false if time ran out. */
async function forecastNew({ db, businessId, definition, tally, now, hasTimeLeft }: Work) {
  if (!definition.active || !isReminder(definition)) return true
  const { eventDefnId } = definition
  const objectType = objectTypeOf(definition)
  const listing = earliestAnchor(definition, objectType, now)
  // Includes objects that begin so soon that the time of their reminder has already passed.
  const from = isBefore(now, listing.from) ? now : listing.from
  for await (const subjects of subjectsFrom(db, businessId, objectType, { ...listing, from })) {
    const ids = subjects.map(objectIdOf)
    const rows =
      eventDefnId === 0 ? [] : await listReminders(db, businessId, objectType, ids, [eventDefnId])
    const known = new Set(rows.map(objectIdOf))
    const byId = new Map(subjects.map((subject) => [objectIdOf(subject), subject]))
    const plan = planSavedReminders(definition, subjects, rows, now)
    for (const { scheduledTime: to, ...row } of plan.insert) {
      tally.add('create', { subject: byId.get(objectIdOf(row))!, from: null, to })
    }
    for (const subject of subjects) {
      if (!known.has(objectIdOf(subject))) tallyTooLate(tally, definition, subject, now)
    }
    if (!hasTimeLeft()) return false
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
  if (!firing || !isBefore(firing.scheduledTime, now) || isBefore(firing.anchorTime, now)) return
  const { scheduledTime: to } = firing
  tally.add('expired', { subject, from: null, to, reason: REASONS.alreadyPast })
}
