import { monotonicMs } from '../clock.ts'
import type { Db } from '../database/database.ts'
import { isLockTimeout } from '../database/postgres-errors.ts'
import {
  findDefinition,
  type DefinitionKey,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { pagesOf } from '../store/pages.ts'
import { listReminders, readReminders, type ReminderRow } from '../store/planned-triggers.ts'
import {
  countMatches,
  findLastReconciliation,
  listPlannedDefinitionKeys,
  saveLastReconciliation,
  type MatchCounts,
} from '../store/reconciliation.ts'
import { objectIdOf } from '../store/subject.ts'
import { listSubjects, lockSubjectsForUpdate } from '../store/subjects.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import { pause, type Loop } from '../repeat.ts'
import {
  earliestAnchor,
  objectTypeOf,
  pendingObjects,
  planSavedReminders,
  subjectsFrom,
} from './plan.ts'
import { isReminder } from './timing.ts'

/** The result of a reconciliation of all definitions. Every count of faults must be 0. */
export type Findings = {
  definitions: number
  objects: number
  /** A live object matches an active reminder with a future time, and has no trigger for it. */
  missing: number
  /** A pending trigger that no definition requires, or not at this time. */
  unfounded: number
  /** More than one trigger for the same definition, object and anchor. */
  doubled: number
  /** Active definitions that used to match new objects, and no longer do although objects are created. */
  stoppedMatching: number
  /** Their ids, at most MAX_STOPPED_IDS. */
  stoppedDefinitionIds: number[]
  /** The first faults, as examples. */
  samples: { fault: Fault; eventDefnId: number; object: string }[]
}
type Fault = 'missing' | 'unfounded' | 'doubled' | 'stoppedMatching'

const MAX_SAMPLES = 10
const MAX_STOPPED_IDS = 1_000
const DEFINITIONS_PAGE = 500
/** Due triggers of these objects wait while a page is compared. */
const OBJECTS_PAGE = 100

const noFindings = (): Findings => ({
  definitions: 0,
  objects: 0,
  missing: 0,
  unfounded: 0,
  doubled: 0,
  stoppedMatching: 0,
  stoppedDefinitionIds: [],
  samples: [],
})

/**
 * Compares the triggers of all active definitions with what planning them again would write. Yields
 * after every page, so that the caller can rest; the last value holds all findings.
 */
async function* reconcileInPages(db: Db, now: () => Temporal.Instant): AsyncGenerator<Findings> {
  const findings = noFindings()
  const pages = pagesOf(DEFINITIONS_PAGE, (last: DefinitionKey | undefined) =>
    listPlannedDefinitionKeys(db, last ?? { businessId: 0, eventDefnId: 0 }, DEFINITIONS_PAGE),
  )
  for await (const keys of pages) {
    for (const key of keys) {
      const definition = await findDefinition(db, key.businessId, key.eventDefnId)
      if (!definition?.active) continue
      findings.definitions += 1
      if (hasStoppedMatching(await countRecentMatches(db, definition, now()))) {
        note(findings, definition, 'stoppedMatching', 'any')
        if (findings.stoppedDefinitionIds.length < MAX_STOPPED_IDS) {
          findings.stoppedDefinitionIds.push(definition.eventDefnId)
        }
      }
      if (isReminder(definition)) yield* reconcileReminders({ db, definition, findings, now })
      yield findings
    }
  }
}

/** A whole reconciliation without a rest. */
export async function reconcileAll(db: Db, now: () => Temporal.Instant): Promise<Findings> {
  let found = noFindings()
  for await (const findings of reconcileInPages(db, now)) found = findings
  return found
}

type Comparison = {
  db: Db
  definition: StoredDefinition
  findings: Findings
  now(): Temporal.Instant
}

/** Both ways: pending triggers must be required, and required triggers must be pending. */
async function* reconcileReminders(comparison: Comparison) {
  const { db, definition, findings, now } = comparison
  for await (const ids of pendingObjects(db, definition, OBJECTS_PAGE)) {
    await comparePage(comparison, [...new Set(ids)], ['unfounded', 'doubled'])
    yield findings
  }
  const objectType = objectTypeOf(definition)
  const from = earliestAnchor(definition, objectType, now())
  const pages = subjectsFrom(db, definition.businessId, objectType, from, OBJECTS_PAGE)
  for await (const subjects of pages) {
    findings.objects += subjects.length
    await comparePage(comparison, subjects.map(objectIdOf), ['missing'])
    yield findings
  }
}

/** Objects and triggers are read one after the other, so apparent faults are read again under locks. */
async function comparePage(
  { db, definition, findings, now }: Comparison,
  ids: (number | string)[],
  faults: Fault[],
) {
  const objectType = objectTypeOf(definition)
  const { businessId, eventDefnId } = definition
  const subjects = await listSubjects(db, businessId, objectType, ids)
  const rows = await listReminders(db, businessId, objectType, ids, [eventDefnId])
  const suspects = findFaults(definition, subjects, rows, now())
  if (suspects.length === 0) return
  const confirming = db.transaction(async (tx) => {
    const suspectIds = [...new Set(suspects.map(({ id }) => id))]
    const locked = await lockSubjectsForUpdate(tx, businessId, objectType, suspectIds)
    const current = await findDefinition(tx, businessId, eventDefnId)
    // If it was saved since, its own plan corrects its triggers.
    if (current?.version !== definition.version || current.plannedVersion !== current.version)
      return []
    const reminders = await readReminders(tx, businessId, objectType, suspectIds, [eventDefnId])
    return findFaults(current, locked, reminders, now())
  })
  // Objects that another transaction keeps locked are compared in the next reconciliation.
  const confirmed = await confirming.catch((error: unknown) => {
    if (isLockTimeout(error)) return []
    throw error
  })
  for (const { fault, id } of confirmed) {
    if (faults.includes(fault)) note(findings, definition, fault, String(id))
  }
}

function findFaults(
  definition: StoredDefinition,
  subjects: Awaited<ReturnType<typeof listSubjects>>,
  rows: ReminderRow[],
  now: Temporal.Instant,
): { fault: Fault; id: number | string }[] {
  const plan = planSavedReminders(definition, subjects, rows, now)
  const seen = new Set<string>()
  const doubled = rows.filter((row) => {
    if (row.status === 'CANCELLED') return false
    const key = `${objectIdOf(row)} ${row.anchorTime.epochMilliseconds}`
    return seen.size === seen.add(key).size
  })
  const doubledIds = new Set(doubled.map(objectIdOf))
  const updated = new Set(plan.update.map((update) => update.eventTriggerId))
  const unfounded = rows
    .filter((row) => updated.has(row.eventTriggerId))
    // Due triggers are checked again when they fire.
    .filter((row) => !isDue(row, now) && !doubledIds.has(objectIdOf(row)))
  return [
    ...plan.insert.map((row) => ({ fault: 'missing' as const, id: objectIdOf(row) })),
    ...unfounded.map((row) => ({ fault: 'unfounded' as const, id: objectIdOf(row) })),
    ...doubled.map((row) => ({ fault: 'doubled' as const, id: objectIdOf(row) })),
  ]
}

const isDue = ({ scheduledTime }: ReminderRow, now: Temporal.Instant) =>
  Temporal.Instant.compare(scheduledTime, now) <= 0

/** Counts matches of objects since the definition was saved, at most a week, and of earlier ones. */
function countRecentMatches(db: Db, definition: StoredDefinition, now: Temporal.Instant) {
  const weekAgo = now.subtract({ hours: 7 * 24 })
  const { modifiedDate } = definition
  const since = Temporal.Instant.compare(modifiedDate, weekAgo) > 0 ? modifiedDate : weekAgo
  const sample = { since, newest: 50, before: 200 }
  return countMatches(db, definition, objectTypeOf(definition), sample)
}

const MIN_NEW_OBJECTS = 20
/** If one object in five matched before, twenty in a row that do not match are a 1 % chance. */
const MIN_MATCH_RATE = 0.2

const hasStoppedMatching = ({ objects, matched, objectsBefore, matchedBefore }: MatchCounts) =>
  objects >= MIN_NEW_OBJECTS &&
  matched === 0 &&
  matchedBefore > 0 &&
  matchedBefore >= MIN_MATCH_RATE * objectsBefore

function note(findings: Findings, { eventDefnId }: StoredDefinition, fault: Fault, object: string) {
  findings[fault] += 1
  if (findings.samples.length < MAX_SAMPLES) findings.samples.push({ fault, eventDefnId, object })
}

/** A reconciliation that advances page by page; the caller decides how long to rest between two pages. */
export class Reconciliation {
  readonly #db: Db
  readonly #now: () => Temporal.Instant
  #pages: AsyncGenerator<Findings> | undefined
  #findings = noFindings()

  constructor(db: Db, now: () => Temporal.Instant) {
    this.#db = db
    this.#now = now
  }

  /** Compares one page; returns true if it was the last one. The next call then starts again. */
  async comparePage() {
    if (!this.#pages) this.#findings = noFindings()
    this.#pages ??= reconcileInPages(this.#db, this.#now)
    try {
      const { value, done } = await this.#pages.next()
      if (!done) this.#findings = value
      else this.#pages = undefined
      return done === true
    } catch (error) {
      this.#pages = undefined
      throw error
    }
  }

  /** The findings of the current reconciliation, or of the last one. */
  get findings() {
    return this.#findings
  }

  get isInProgress() {
    return this.#pages !== undefined
  }

  abandon() {
    this.#pages = undefined
  }
}

type ReconcilerParts = {
  db: Db
  now(): Temporal.Instant
  worker: string
  leaseSeconds: number
}

/** The pause between two reconciliations. */
const RECONCILE_EVERY_MS = 60_000
const MIN_PAGE_REST_MS = 100
/** How often a worker that does not reconcile checks whether another one still does. */
const IDLE_REST_MS = 5_000

/** Reconciliation, which one worker of all nodes runs at a time. */
export function createReconciler({ db, now, worker, leaseSeconds }: ReconcilerParts) {
  const reconciliation = new Reconciliation(db, now)
  const claim = { name: 'reconciliation', worker }
  const extendLease = (restMs: number) => {
    const moment = now()
    const leaseUntil = moment.add({ seconds: leaseSeconds, milliseconds: Math.round(restMs) })
    return claimWork(db, claim, { now: moment, leaseUntil })
  }
  const isDueAgain = async () => {
    const last = await findLastReconciliation(db)
    return !last || now().since(last.endedAt).total('milliseconds') >= RECONCILE_EVERY_MS
  }

  /** Compares one page if this worker reconciles; returns how long to rest before the next one. */
  const reconcile = async () => {
    const isOwn = (reconciliation.isInProgress || (await isDueAgain())) && (await extendLease(0))
    if (!isOwn) {
      reconciliation.abandon()
      return IDLE_REST_MS
    }
    const startedAt = monotonicMs()
    const isComplete = await reconciliation.comparePage()
    if (isComplete) {
      await saveLastReconciliation(db, { endedAt: now(), findings: reconciliation.findings })
      await releaseWork(db, claim)
      return RECONCILE_EVERY_MS
    }
    // A long rest, because other work has priority.
    const restMs = Math.max(MIN_PAGE_REST_MS, 20 * (monotonicMs() - startedAt))
    await extendLease(restMs)
    return restMs
  }
  let restMs = 0
  const loop: Loop = {
    name: 'reconcile',
    runOnce: async () => {
      restMs = await reconcile()
      return 0
    },
    rest: (stopping) => pause(restMs, stopping),
  }
  return { reconcile, loop }
}
