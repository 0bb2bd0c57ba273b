import { monotonicMs } from '../clock.ts'
import type { Db } from '../database/database.ts'
import { findDefinition, type StoredDefinition } from '../store/event-definitions.ts'
import {
  listReminders,
  readReminders,
  type Plan,
  type ReminderRow,
} from '../store/event-triggers.ts'
import { objectIdOf } from '../store/subject.ts'
import { listSubjects, lockSubjects } from '../store/subjects.ts'
import {
  findLastRound,
  listPlannedDefinitionKeys,
  readUptake,
  saveLastRound,
  type DefinitionCursor,
  type Uptake,
} from '../store/watch.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import { candidates, objectTypeOf, pendingObjects, subjectsFrom } from './plan.ts'
import { planReminders } from './reschedule.ts'
import { isReminder } from './timing.ts'

/** What a round over everything found; each number ought to be 0. */
export type Findings = {
  definitions: number
  objects: number
  /** A live object matches an active reminder whose moment lies ahead, and has no trigger for it. */
  missing: number
  /** A pending trigger that nothing asks for, or not at this time. */
  unfounded: number
  /** More than one trigger for the same definition, object and anchor. */
  doubled: number
  /** Active definitions that used to take up objects, and no longer do though objects keep coming. */
  silent: number
  /** The first of each, to be looked at. */
  samples: { fault: Fault; eventDefnId: number; object: string }[]
}
type Fault = 'missing' | 'unfounded' | 'doubled' | 'silent'

const MOST_SAMPLES = 10
const PAGE = 500
/** So few objects at a time: whatever comes due while they are compared waits for it. */
const AT_A_LOOK = 100

const nothingYet = (): Findings => ({
  definitions: 0,
  objects: 0,
  missing: 0,
  unfounded: 0,
  doubled: 0,
  silent: 0,
  samples: [],
})

/**
 * Goes through all active definitions and asks of each: would planning it again change anything?
 * Yields after every page, so that whoever drives it may rest; what is yielded last is the whole.
 */
export async function* patrol(db: Db, now: () => Temporal.Instant): AsyncGenerator<Findings> {
  const findings = nothingYet()
  for (let after: DefinitionCursor = { businessId: 0, eventDefnId: 0 }; ;) {
    const keys = await listPlannedDefinitionKeys(db, after, PAGE)
    for (const key of keys) {
      const definition = await findDefinition(db, key.businessId, key.eventDefnId)
      if (!definition?.active) continue
      findings.definitions += 1
      if (isSilent(await uptakeOf(db, definition, now())))
        note(findings, definition, 'silent', 'any')
      if (isReminder(definition)) yield* reconcile(db, definition, findings, now)
      yield findings
    }
    if (keys.length < PAGE) return
    after = keys.at(-1)!
  }
}

/** One whole round, without rest. */
export async function patrolOnce(db: Db, now: () => Temporal.Instant): Promise<Findings> {
  let found = nothingYet()
  for await (const findings of patrol(db, now)) found = findings
  return found
}

/** Both ways: what is pending must be asked for, and what is asked for must be pending. */
async function* reconcile(
  db: Db,
  definition: StoredDefinition,
  findings: Findings,
  now: () => Temporal.Instant,
) {
  for await (const ids of pendingObjects(db, definition, AT_A_LOOK)) {
    await compare(db, definition, [...new Set(ids)], findings, now, ['unfounded', 'doubled'])
    yield findings
  }
  const objectType = objectTypeOf(definition)
  const from = candidates(definition, objectType, now())
  for await (const ahead of subjectsFrom(db, definition.businessId, objectType, from, AT_A_LOOK)) {
    findings.objects += ahead.length
    await compare(db, definition, ahead.map(objectIdOf), findings, now, ['missing'])
    yield findings
  }
}

/** Objects and triggers are read one after the other, so what seems wrong is looked at under locks. */
async function compare(
  db: Db,
  definition: StoredDefinition,
  ids: (number | string)[],
  findings: Findings,
  now: () => Temporal.Instant,
  faults: Fault[],
) {
  const objectType = objectTypeOf(definition)
  const { businessId, eventDefnId } = definition
  const subjects = await listSubjects(db, businessId, objectType, ids)
  const rows = await listReminders(db, businessId, objectType, ids, [eventDefnId])
  const suspects = wrong(definition, subjects, rows, now())
  if (suspects.length === 0) return
  const confirmed = await db.transaction(async (tx) => {
    const suspectIds = [...new Set(suspects.map(({ id }) => id))]
    const held = await lockSubjects(tx, businessId, objectType, suspectIds)
    const current = await findDefinition(tx, businessId, eventDefnId)
    // Saved since: its own plan will see to it.
    if (current?.version !== definition.version || current.plannedVersion !== current.version)
      return []
    const kept = await readReminders(tx, businessId, objectType, suspectIds, [eventDefnId])
    return wrong(current, held, kept, now())
  })
  for (const { fault, id } of confirmed) {
    if (faults.includes(fault)) note(findings, definition, fault, String(id))
  }
}

function wrong(
  definition: StoredDefinition,
  subjects: Awaited<ReturnType<typeof listSubjects>>,
  rows: ReminderRow[],
  now: Temporal.Instant,
): { fault: Fault; id: number | string }[] {
  const followed = subjects.map((subject) => ({ subject }))
  const plan: Plan = planReminders(followed, [definition], rows, 'saved definition', now)
  const seen = new Set<string>()
  const doubled = rows.filter((row) => {
    if (row.status === 'CANCELLED') return false
    const key = `${objectIdOf(row)} ${row.anchorTime.epochMilliseconds}`
    return seen.size === seen.add(key).size
  })
  const tooMany = new Set(doubled.map(objectIdOf))
  const rowOf = new Map(rows.map((row) => [row.eventTriggerId, row]))
  const unfounded = plan.update
    .map((update) => rowOf.get(update.eventTriggerId)!)
    // What is due now is the engine's to look at again.
    .filter((row) => !isDue(row, now) && !tooMany.has(objectIdOf(row)))
  return [
    ...plan.insert.map((row) => ({ fault: 'missing' as const, id: objectIdOf(row) })),
    ...unfounded.map((row) => ({ fault: 'unfounded' as const, id: objectIdOf(row) })),
    ...doubled.map((row) => ({ fault: 'doubled' as const, id: objectIdOf(row) })),
  ]
}

const isDue = ({ scheduledTime }: ReminderRow, now: Temporal.Instant) =>
  Temporal.Instant.compare(scheduledTime, now) <= 0

/** The newest objects since the definition was saved, of the last week, and the habit before. */
function uptakeOf(db: Db, definition: StoredDefinition, now: Temporal.Instant) {
  const weekAgo = now.subtract({ hours: 7 * 24 })
  const { modifiedDate } = definition
  const since = Temporal.Instant.compare(modifiedDate, weekAgo) > 0 ? modifiedDate : weekAgo
  return readUptake(db, definition, objectTypeOf(definition), { since, newest: 50, before: 200 })
}

const FEWEST_CAME = 20
/** Where one object in five was taken up, twenty in a row that are not happen once in a hundred. */
const HABIT = 0.2

const isSilent = ({ came, taken, cameBefore, takenBefore }: Uptake) =>
  came >= FEWEST_CAME && taken === 0 && takenBefore > 0 && takenBefore >= HABIT * cameBefore

function note(findings: Findings, { eventDefnId }: StoredDefinition, fault: Fault, object: string) {
  findings[fault] += 1
  if (findings.samples.length < MOST_SAMPLES) findings.samples.push({ fault, eventDefnId, object })
}

/** Reconciles page by page; the caller decides how long to rest between two pages. */
export function createWatch(db: Db, now: () => Temporal.Instant) {
  let round: AsyncGenerator<Findings> | undefined
  let found = nothingYet()

  /** Compares one page; returns true when it was the last page of the round. */
  const step = async () => {
    if (!round) found = nothingYet()
    round ??= patrol(db, now)
    try {
      const { value, done } = await round.next()
      if (!done) found = value
      else round = undefined
      return done === true
    } catch (error) {
      round = undefined
      throw error
    }
  }
  /** The findings of the current round, or of the last one. */
  const findings = () => found
  const isUnderWay = () => round !== undefined
  const abandon = () => (round = undefined)
  return { step, findings, isUnderWay, abandon }
}

type ReconcilerParts = {
  db: Db
  now(): Temporal.Instant
  worker: string
  leaseSeconds: number
}

/** Between two rounds, and at least between two pages of one. */
const ROUND_REST_MS = 60_000
const MIN_PAGE_REST_MS = 100
/** How often a worker that does not reconcile looks whether another one still does. */
const IDLE_REST_MS = 5_000

/** Reconciliation, which one worker of all nodes runs at a time. */
export function createReconciler({ db, now, worker, leaseSeconds }: ReconcilerParts) {
  const watch = createWatch(db, now)
  const claim = { name: 'reconciliation', worker }
  const extendLease = (restMs: number) => {
    const moment = now()
    const leaseUntil = moment.add({ seconds: leaseSeconds, milliseconds: Math.round(restMs) })
    return claimWork(db, claim, { now: moment, leaseUntil })
  }
  const isRoundDue = async () => {
    const last = await findLastRound(db)
    return !last || now().since(last.endedAt).total('milliseconds') >= ROUND_REST_MS
  }

  /** Compares one page if it is this worker's turn; returns how long to rest before the next one. */
  const reconcile = async () => {
    const isTurn = (watch.isUnderWay() || (await isRoundDue())) && (await extendLease(0))
    if (!isTurn) {
      watch.abandon()
      return IDLE_REST_MS
    }
    const startedAt = monotonicMs()
    const isRoundDone = await watch.step()
    if (isRoundDone) {
      await saveLastRound(db, { endedAt: now(), findings: watch.findings() })
      await releaseWork(db, claim)
      return ROUND_REST_MS
    }
    // Other work goes first.
    const restMs = Math.max(MIN_PAGE_REST_MS, 20 * (monotonicMs() - startedAt))
    await extendLease(restMs)
    return restMs
  }
  return { reconcile }
}
