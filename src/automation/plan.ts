import { randomUUID } from 'node:crypto'
import { LONG_AGO } from '../clock.ts'
import { REASONS } from '../contract/reasons.ts'
import type { Definition } from '../contract/event-definition.ts'
import { eventTypeById, type ObjectType } from '../contract/event-type.ts'
import { nominalMinutes } from '../contract/offset.ts'
import type { Database, Db } from '../database/database.ts'
import {
  findDefinition,
  lockDefinitionsForShare,
  lockPlans,
  markPlanned,
  waitForBookings,
  type DefinitionKey,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import {
  listOtherKinds,
  listPendingEvents,
  listPendingObjects,
  readReminders,
  writePlan,
  type EventRow,
  type OtherKind,
  type Plan,
  type ReminderRow,
} from '../store/planned-triggers.ts'
import {
  listSubjectIds,
  listSubjectsFrom,
  lockObjectsForShare,
  lockSubjectsForUpdate,
  type Anchor,
  type SubjectCursor,
} from '../store/subjects.ts'
import { pagesOf } from '../store/pages.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import { isOnlyRecorded, refusals } from './match.ts'
import { readOccurrence, type SchedulingEvent } from './occurrence.ts'
import { planReminders } from './reschedule.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import { firingTime, isReminder } from './timing.ts'

/**
 * Objects per page: bookings wait for the locks of a page. A page that is not full is the last one,
 * because bookings plan the objects that they add.
 */
const PAGE = 500

export type Planned = { created: number; updated: number }

/** A plan that stops for this long is continued by another worker. */
const PLAN_LEASE_SECONDS = 10

/**
 * Updates the triggers of a saved definition to match it, in pages and while bookings continue: each
 * page is a transaction. One worker at a time plans a definition. Returns undefined if another worker is
 * planning it, if its plan is complete, or if it was saved again or `signal` stopped the plan.
 */
export async function planDefinition(
  database: Database,
  { businessId, eventDefnId }: DefinitionKey,
  now: () => Temporal.Instant,
  signal?: AbortSignal,
): Promise<Planned | undefined> {
  const { engine } = database
  const claim = { name: `plan ${businessId} ${eventDefnId}`, worker: randomUUID() }
  const extendLease = () => {
    const moment = now()
    const leaseUntil = moment.add({ seconds: PLAN_LEASE_SECONDS })
    return claimWork(engine, claim, { now: moment, leaseUntil })
  }
  if (!(await extendLease())) return undefined
  try {
    return await planInPages(database, { businessId, eventDefnId }, now, async () => {
      if (signal?.aborted || !(await extendLease())) throw new Stopped()
    })
  } catch (error) {
    if (error instanceof Stopped) return undefined
    throw error
  } finally {
    await releaseWork(engine, claim)
  }
}

/** The definition was saved again, another worker has taken over, or the node stops. */
class Stopped extends Error {}

async function planInPages(
  database: Database,
  { businessId, eventDefnId }: DefinitionKey,
  now: () => Temporal.Instant,
  beforePage: () => Promise<void>,
): Promise<Planned | undefined> {
  const db = database.forBusiness(businessId, 'SYSTEM')
  const definition = await findDefinition(db, businessId, eventDefnId)
  if (!definition || definition.plannedVersion >= definition.version) return undefined
  // After this, bookings that read an older version have committed.
  await db.transaction((tx) => waitForBookings(tx, businessId))

  const planned: Planned = { created: 0, updated: 0 }
  const page: Page = async (work) => {
    await beforePage()
    const plan = await db.transaction(async (tx) => {
      lockPlans(tx, businessId)
      // One round trip. The definition is locked last; see docs/engine.md, lock order.
      const [read, [current]] = await Promise.all([
        work.read(tx),
        lockDefinitionsForShare(tx, [definition]),
      ])
      if (current?.version !== definition.version) throw new Stopped()
      const moment = now()
      const plan = work.plan(current, read, moment)
      writePlan(tx, businessId, plan, moment)
      return plan
    })
    planned.created += plan.insert.length
    planned.updated += plan.update.length
  }
  await cancelOtherKindPages(db, definition, page)
  if (isReminder(definition)) await planReminderPages(db, definition, page, now)
  else await planEventPages(db, definition, page)
  await db.transaction((tx) => markPlanned(tx, definition))
  return planned
}

/** Reads under locks, then decides with the definition as it is under its lock. */
type Page = <Read>(work: {
  read(tx: Db): Promise<Read>
  plan(current: StoredDefinition, read: Read, now: Temporal.Instant): Plan
}) => Promise<void>

/** Cancels the triggers of the event type that the definition had before. */
async function cancelOtherKindPages(db: Db, definition: StoredDefinition, page: Page) {
  const { businessId } = definition
  const kind = { objectType: objectTypeOf(definition), isReminder: isReminder(definition) }
  const pages = pagesOf(PAGE, (last: OtherKind | undefined) =>
    listOtherKinds(db, definition, kind, { after: last?.eventTriggerId ?? 0, limit: PAGE }),
  )
  for await (const rows of pages) {
    await page({
      read: async (tx) =>
        lockObjectsForShare(
          tx,
          rows.map((row) => ({ ...row, businessId })),
        ),
      plan: ({ version: defnVersion }) => {
        const end = {
          defnVersion,
          status: 'CANCELLED',
          statusReason: REASONS.otherEventType,
        } as const
        return { insert: [], update: rows.map((row) => ({ ...row, ...end })), replan: [] }
      },
    })
  }
}

async function planReminderPages(
  db: Db,
  definition: StoredDefinition,
  page: Page,
  now: () => Temporal.Instant,
) {
  const objectType = objectTypeOf(definition)
  const { businessId, eventDefnId } = definition
  const plan = (ids: (number | string)[]) =>
    page({
      read: (tx) =>
        Promise.all([
          lockSubjectsForUpdate(tx, businessId, objectType, ids),
          readReminders(tx, businessId, objectType, ids, [eventDefnId]),
        ]),
      plan: (current, [subjects, rows], moment) =>
        planSavedReminders(current, subjects, rows, moment),
    })
  // First pending reminders, which may have to be cancelled; then objects that may need one.
  for await (const ids of pendingObjects(db, definition)) await plan(ids)
  if (!definition.active) return
  const listing = earliestAnchor(definition, objectType, now())
  const pages = pagesOf(PAGE, (after: SubjectCursor | undefined) =>
    listSubjectIds(db, businessId, objectType, { ...listing, after, limit: PAGE }),
  )
  for await (const rows of pages) await plan(rows.map(({ id }) => id))
}

/** How the reminders of these objects must change after the definition was saved. */
export function planSavedReminders(
  definition: StoredDefinition,
  subjects: Subject[],
  rows: ReminderRow[],
  now: Temporal.Instant,
): Plan {
  const followed = subjects.map((subject) => ({ subject }))
  return planReminders(followed, [definition], rows, 'saved definition', now)
}

/** Ids of the objects for which the definition has a reminder pending, page by page. */
export async function* pendingObjects(db: Db, definition: StoredDefinition, limit = PAGE) {
  const { businessId, eventDefnId } = definition
  const uuids = objectTypeOf(definition) === 'INVITATION'
  const pages = pagesOf(limit, (last: { id: number | string } | undefined) =>
    listPendingObjects(db, businessId, eventDefnId, { after: last?.id, limit, uuids }),
  )
  for await (const rows of pages) yield rows.map(({ id }) => id)
}

/** Subjects in pages, in the order of their anchor. */
export const subjectsFrom = (
  db: Db,
  businessId: number,
  objectType: ObjectType,
  listing: { anchor: Anchor; from: Temporal.Instant; to?: Temporal.Instant | undefined },
  limit = PAGE,
) =>
  pagesOf(limit, (last: Subject | undefined) => {
    const after = last && { anchor: last[listing.anchor]!, id: objectIdOf(last) }
    return listSubjectsFrom(db, businessId, objectType, { ...listing, after, limit })
  })

/** Plans pending event triggers again: they get a new time, or are cancelled. */
async function planEventPages(db: Db, definition: StoredDefinition, page: Page) {
  const objectType = objectTypeOf(definition)
  for await (const rows of pendingEvents(db, definition)) {
    const ids = [...new Set(rows.map(objectIdOf))]
    await page({
      read: (tx) => lockSubjectsForUpdate(tx, definition.businessId, objectType, ids),
      plan: (current, subjects, now) => {
        const byId = new Map(subjects.map((subject) => [objectIdOf(subject), subject]))
        const update = rows.flatMap((row) =>
          planEvent(current, row, byId.get(objectIdOf(row))!, now),
        )
        return { insert: [], update, replan: [] }
      },
    })
  }
}

export const pendingEvents = (db: Db, { businessId, eventDefnId }: StoredDefinition) =>
  pagesOf(PAGE, (last: EventRow | undefined) => {
    const page = { after: last?.eventTriggerId ?? 0, limit: PAGE }
    return listPendingEvents(db, businessId, eventDefnId, page)
  })

/** The change that a pending trigger reports. */
export const reportedEvent = (row: EventRow, subject: Subject): SchedulingEvent => ({
  ...readOccurrence(row.occurrence),
  // The status at the time of the change, which may differ from the current one.
  subject: { ...subject, status: row.newStatus ?? subject.status },
  oldStatus: row.oldStatus,
  happenedAt: row.anchorTime,
})

/** The new plan of a pending trigger of an event, after its definition was saved again. */
export function planEvent(
  definition: StoredDefinition,
  row: EventRow,
  subject: Subject,
  now: Temporal.Instant,
): Plan['update'] {
  const event = reportedEvent(row, subject)
  const [refusal] = refusals(definition, event)
  const firing = refusal ? undefined : firingTime(definition, subject, row.anchorTime)
  const base = {
    eventTriggerId: row.eventTriggerId,
    defnVersion: definition.version,
    anchorTime: row.anchorTime,
    scheduledTime: row.scheduledTime,
  }
  if (!firing)
    return [{ ...base, status: 'CANCELLED', statusReason: refusal ?? REASONS.notAskedFor }]
  if (isOnlyRecorded(definition, event)) {
    return [{ ...base, status: 'EXPIRED', statusReason: REASONS.isPast }]
  }
  const isMoved = !firing.scheduledTime.equals(row.scheduledTime)
  if (isMoved && Temporal.Instant.compare(firing.scheduledTime, now) < 0) {
    return [{ ...base, status: 'CANCELLED', statusReason: REASONS.newTimePassed }]
  }
  return [{ ...base, ...firing, status: 'SCHEDULED', statusReason: null }]
}

export const objectTypeOf = ({ eventTypeId }: { eventTypeId: number }): ObjectType =>
  eventTypeById(eventTypeId)!.objectType

/** For clock changes and month lengths. */
const marginMinutes = ({ triggerMonths }: Definition) =>
  2 * 1440 + Math.abs(triggerMonths) * 3 * 1440

/** The latest start, or due time, of an object whose reminder fires before this time. */
export const latestStart = (definition: Definition, time: Temporal.Instant) =>
  time.add({ minutes: Math.ceil(marginMinutes(definition) - nominalMinutes(definition)) })

/** The earliest anchor that can still fire, with a margin. */
export function earliestAnchor(
  definition: Definition,
  objectType: ObjectType,
  now: Temporal.Instant,
): { anchor: Anchor; from: Temporal.Instant } {
  const offset = nominalMinutes(definition)
  const from = now.subtract({ minutes: Math.ceil(offset + marginMinutes(definition)) })
  switch (objectType) {
    case 'RECALL':
      return { anchor: 'dueTime', from }
    case 'INVITATION':
      // It may have been created long before it expires.
      return { anchor: 'createdDate', from: offset < 0 ? LONG_AGO : from }
    default:
      // They are listed by their start, which may be long before their end.
      return {
        anchor: 'startTime',
        from: definition.triggerAnchor === 'END' ? from.subtract({ hours: 366 * 24 }) : from,
      }
  }
}
