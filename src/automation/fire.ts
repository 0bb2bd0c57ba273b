import type { Db } from '../database/database.ts'
import { isDatabaseAway, isTransient } from '../database/postgres-errors.ts'
import { REASONS, reasonText } from '../contract/reasons.ts'
import { ThreadFailed } from '../parser-pool.ts'
import { listMailPauses, lockFreeBusinesses, type MailPause } from '../store/businesses.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import { drawEmailIds, insertEmails } from '../store/emails.ts'
import type { SettingsCache } from '../store/settings.ts'
import { lockFreeTemplates } from '../store/email-templates.ts'
import { lockFreeActions, type RunningAction } from '../store/event-actions.ts'
import type { DefinitionKey, StoredDefinition } from '../store/event-definitions.ts'
import { listAnswers, type NamedAnswer } from '../store/class-answers.ts'
import type { ContextRow, WholeObject } from '../store/mail-contexts.ts'
import {
  endTriggers,
  lockClaimed,
  retryTriggers,
  type ClaimedTrigger,
  type Ending,
} from '../store/trigger-queue.ts'
import type { OperatorProblems } from './operator-problems.ts'
import type { Throttle } from './throttle.ts'
import { decide, type Decision } from './decide.ts'
import {
  distinctDefinitions,
  lockedDelayMs,
  lockFreeDefinitionsOf,
  lockFreeWholeObjects,
} from './share-locks.ts'
import { ended, makeMails, type MailParts, type Ready } from './mails.ts'
import { readOccurrence } from './occurrence.ts'
import { planAgainFor, type Moved } from './schedule.ts'
import { objectKeyOf } from '../store/subject.ts'
import { Rendering } from './templates.ts'
import { isBefore, usefulUntil } from './timing.ts'

export type FireContext = MailParts & {
  db: Db
  settings: SettingsCache
  now(): Temporal.Instant
  /** Reads the database's time inside the transaction, so that no trigger fires early. */
  confirmNow(tx: Db): Promise<Temporal.Instant>
  /** A name that no other worker has or had. */
  worker: string
  leaseSeconds: number
  batchSize: number
  /** How long a batch waits for templates that are not rendered yet; unset: until they are. */
  maxRenderWaitMs?: number
  /** Unset in simulations. */
  problems?: OperatorProblems
  /** Unset if mails are only captured. */
  throttle?: Throttle
  /** Proofs replace it, to show that they detect wrong decisions. */
  decide?: typeof decide
  /** Called after the commit, for metrics. */
  onEnded?(
    ended: Pick<Ending, 'businessId' | 'status' | 'scheduledTime'>[],
    now: Temporal.Instant,
  ): void
  /** Called with the statuses of mails that end when they are made, such as CAPTURED. */
  onEmailsEnded?(statuses: string[]): void
}

/**
 * Fires the triggers that this worker has claimed. One that fails does not stop the others. Returns
 * whether the worker still holds some, because other transactions have locked them.
 */
export async function fireClaimed(
  context: FireContext,
  claimed: ClaimedTrigger[],
): Promise<boolean> {
  try {
    return await fireInOneTransaction(context, claimed)
  } catch (error) {
    // The worker releases its triggers when the database is back.
    if (isDatabaseAway(error)) throw error
    context.onError(error)
    if (claimed.length === 1) return retryLater(context, claimed, error)
    const half = Math.ceil(claimed.length / 2)
    const isHeld = await fireClaimed(context, claimed.slice(0, half))
    return (await fireClaimed(context, claimed.slice(half))) || isHeld
  }
}

/**
 * Templates that are not rendered yet are rendered between two transactions; the other triggers have
 * fired by then. If that takes long, their triggers are retried later: slow templates of one business
 * must not delay the others.
 */
async function fireInOneTransaction(context: FireContext, claimed: ClaimedTrigger[]) {
  const rendering = new Rendering()
  let remaining = claimed
  let isHeld = false
  for (let isInTime = true; ;) {
    const fired = await context.db.transaction((tx) => fireBatch(tx, context, remaining, rendering))
    context.onEnded?.(fired.endings, fired.now)
    const ended = fired.emails.filter(({ status }) => status !== 'QUEUED')
    context.onEmailsEnded?.(ended.map(({ status }) => status))
    const { resumed, locked } = await postponePausedTriggers(context, fired.paused)
    isHeld = (await putOff(context, [...fired.locked, ...locked])) || isHeld
    remaining = [...fired.unready, ...resumed]
    if (remaining.length === 0) return isHeld
    if (!isInTime) return (await retryLater(context, remaining, new NotRendered())) || isHeld
    try {
      isInTime = await rendering.render(fired.unrendered, context.maxRenderWaitMs)
      if (isInTime) await context.problems?.solve(RENDERING)
    } catch (error) {
      if (!(error instanceof ThreadFailed)) throw error
      const detail = `${reasonText('notRendered')}: ${textOf(error)}`
      await context.problems?.note({ problem: RENDERING, businessId: null, detail })
      return (await retryLater(context, remaining, error)) || isHeld
    }
  }
}

const RENDERING = 'rendering of templates'

/** The wait before a retry. Rendering continues meanwhile. */
const RENDER_SECONDS = 2

class NotRendered extends Error {
  override message = 'its template is not rendered yet'
}

/** A transient error, or a template that is not rendered, does not count as a failed attempt. */
function retryLater(context: FireContext, triggers: ClaimedTrigger[], error: unknown) {
  const isRendering = error instanceof NotRendered || error instanceof ThreadFailed
  return retryTriggers(context.db, triggers, {
    worker: context.worker,
    isFault: !isRendering && !isTransient(error),
    lastError: textOf(error),
    retrySeconds: error instanceof NotRendered ? RENDER_SECONDS : context.leaseSeconds,
    now: context.now(),
  })
}

/** Retries triggers soon that another transaction keeps from firing; the others have fired. */
async function putOff({ db, worker, now }: FireContext, locked: ClaimedTrigger[]) {
  const moment = now()
  const byDelay = Map.groupBy(locked, (trigger) => lockedDelayMs(trigger.scheduledTime, moment))
  let isHeld = false
  for (const [delayMs, triggers] of byDelay) {
    const retrySeconds = delayMs / 1000
    const failed = { worker, isFault: false, lastError: LOCKED, retrySeconds, now: moment }
    isHeld = (await retryTriggers(db, triggers, failed)) || isHeld
  }
  return isHeld
}

const LOCKED = 'another transaction was changing its object, definition, action or template'

/** How often the due triggers of a paused business are re-checked. Resuming makes them due at once. */
const PAUSE_CHECKED_SECONDS = 300

/** Postpones the triggers of businesses whose mail is still paused. Returns the others. */
async function postponePausedTriggers(
  { db, worker, now }: FireContext,
  triggers: ClaimedTrigger[],
): Promise<{ resumed: ClaimedTrigger[]; locked: ClaimedTrigger[] }> {
  if (triggers.length === 0) return { resumed: [], locked: [] }
  return db.transaction(async (tx) => {
    const isPaused = await lockFreeBusinesses(tx, triggers)
    const having = (state: boolean | undefined) =>
      triggers.filter(({ businessId }) => isPaused.get(businessId) === state)
    const postponed = { worker, isFault: false, lastError: REASONS.mailPaused, now: now() }
    const retrySeconds = PAUSE_CHECKED_SECONDS
    const isHeld = await retryTriggers(tx, having(true), { ...postponed, retrySeconds })
    return {
      resumed: having(false),
      locked: [...(isHeld ? having(true) : []), ...having(undefined)],
    }
  })
}

/** A trigger that became useless during a pause was not late because of the service. */
const blamePause = (decision: Decision, trigger: ClaimedTrigger, pause: MailPause | undefined) =>
  decision.status === 'EXPIRED' &&
  pause?.resumedTime &&
  !isBefore(pause.resumedTime, usefulUntil({ ...trigger, createdDate: trigger.scheduledTime }))
    ? { ...decision, statusReason: REASONS.uselessWhilePaused }
    : decision

const MAX_ERROR_LENGTH = 500

/** The error on one line: users read it as the reason of a trigger. */
const textOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_ERROR_LENGTH)

/**
 * Reads object, definition, actions and templates again, under locks that a booking waits for. If the
 * object was cancelled before, no mail is made; a later cancellation is too late.
 */
async function fireBatch(
  tx: Db,
  context: FireContext,
  claimed: ClaimedTrigger[],
  rendering: Rendering,
) {
  // One round trip. The time is read last, when all locks are held.
  const [rows, ids, pauses, now] = await Promise.all([
    lockInOrder(tx, { ...context, claimed, keys: distinctDefinitions(claimed) }),
    drawEmailIds(tx, claimed.length),
    listMailPauses(tx, claimed),
    context.confirmNow(tx),
  ])
  const { actions } = rows
  const { free, locked } = splitByLocks(claimed, rows)
  const { templates, unrendered } = rendering.split(rows.templates.rows)
  const isReady = readiness(actions, unrendered)
  const decided = decideAll(context, free, { pauses, isReady, now })
  const making = { actions, templates, ids, now }
  const made = await makeMails(tx, context, await withAnswers(tx, decided.firable), making)
  const endings = [...decided.endings, ...made.endings]
  // Before the mails: inserting a mail checks that its trigger is recorded.
  endTriggers(tx, context.worker, endings, now)
  // The lock of the trigger prevents a second mail. If there is one anyway, the batch fails and is
  // tried in halves; alone, the trigger ends as if it had made the mail.
  insertEmails(tx, made.emails, { ifExists: claimed.length === 1 ? 'skip' : 'refuse' })
  if (decided.moved.length > 0) await planAgainFor(tx, decided.moved, now)
  hintChangedTriggers(tx, endings)
  const { unready, paused } = decided
  return { endings, emails: made.emails, now, unready, unrendered, paused, locked }
}

type Batch = Pick<FireContext, 'settings' | 'worker'> & {
  claimed: ClaimedTrigger[]
  keys: DefinitionKey[]
}

/** The rows of a batch that no other transaction has locked, in the lock order of docs/engine.md. */
const LOCK_ORDER = {
  objects: (tx, { settings, claimed }) => lockFreeWholeObjects(tx, settings, claimed),
  triggerIds: (tx, { worker, claimed }) => lockClaimed(tx, worker, claimed),
  definitions: (tx, { keys }) => lockFreeDefinitionsOf(tx, keys),
  actions: (tx, { keys }) => lockFreeActions(tx, keys),
  templates: (tx, { keys }) => lockFreeTemplates(tx, keys),
} satisfies Record<string, (tx: Db, batch: Batch) => Promise<unknown>>

type Locked = {
  [Step in keyof typeof LOCK_ORDER]: Awaited<ReturnType<(typeof LOCK_ORDER)[Step]>>
}

/** Sends all statements at once; the server takes their locks one after the other. */
async function lockInOrder(tx: Db, batch: Batch) {
  const steps = Object.entries(LOCK_ORDER).map(async ([name, lock]) => [
    name,
    await lock(tx, batch),
  ])
  return Object.fromEntries(await Promise.all(steps)) as Locked
}

/** A trigger that this worker holds, with its rows. No other transaction changes them. */
type Free = { trigger: ClaimedTrigger; definition: StoredDefinition; object: WholeObject }

/** `locked`: another transaction has locked a row that the trigger depends on, or the trigger itself. */
function splitByLocks(claimed: ClaimedTrigger[], rows: Locked) {
  const free: Free[] = []
  const locked: ClaimedTrigger[] = []
  for (const trigger of claimed) {
    const { eventTriggerId, eventDefnId } = trigger
    const object = rows.objects.get(objectKeyOf(trigger))
    const definition = rows.definitions.get(eventDefnId)
    const actions = rows.actions.get(eventDefnId)
    const isFree =
      rows.triggerIds.has(eventTriggerId) &&
      actions?.every(({ emailTemplateId }) => !rows.templates.lockedIds.has(emailTemplateId))
    if (isFree && object && definition) free.push({ trigger, definition, object })
    else locked.push(trigger)
  }
  return { free, locked }
}

type Deciding = {
  pauses: Map<number, MailPause>
  isReady(trigger: ClaimedTrigger): boolean
  now: Temporal.Instant
}

function decideAll(context: FireContext, free: Free[], { pauses, isReady, now }: Deciding) {
  const endings: Ending[] = []
  const unready: ClaimedTrigger[] = []
  const paused: ClaimedTrigger[] = []
  const moved: Moved[] = []
  const firable: Ready[] = []
  for (const { trigger, definition, object } of free) {
    const { subject, rows } = object
    const pause = pauses.get(trigger.businessId)
    if (pause?.isPaused) {
      paused.push(trigger)
      continue
    }
    const decision = (context.decide ?? decide)(trigger, definition, subject, now)
    if (decision === 'fire') {
      if (isReady(trigger)) {
        firable.push({ trigger, rows: withMove(trigger, rows), allowPast: definition.allowPast })
      } else unready.push(trigger)
    } else {
      endings.push(ended(trigger, blamePause(decision, trigger, pause)))
      if (decision.isMoved) {
        const isOldVersion = trigger.defnVersion < definition.version
        moved.push({ subject, definition, isOldVersion, since: null })
      }
    }
  }
  return { endings, unready, paused, moved, firable }
}

/** A mail about a move shows the time before; no other mail does. */
function withMove({ occurrence }: ClaimedTrigger, rows: ContextRow[]): ContextRow[] {
  if (occurrence === null || !/_CHANGED .*\bTIME\b/.test(occurrence)) return rows
  return rows.map((row) => {
    const { calendar, classSchedule } = row.context
    const movedFrom = (calendar ?? classSchedule)?.previousStartTime ?? null
    return { ...row, context: { ...row.context, movedFrom } }
  })
}

/** A mail about the answer of a student tells that one, also if others have answered since. */
async function withAnswers(tx: Db, firable: Ready[]): Promise<Ready[]> {
  const asked = firable.flatMap(({ trigger }) => {
    const { businessId, objectId, eventTriggerId, occurrence } = trigger
    const answer = occurrence === null ? undefined : readOccurrence(occurrence).answer
    return answer ? { businessId, objectId, eventTriggerId, ...answer } : []
  })
  if (asked.length === 0) return firable
  const answers = await listAnswers(tx, asked)
  const answerOf = new Map(asked.map(({ eventTriggerId }, i) => [eventTriggerId, answers[i]]))
  return firable.map((ready) => {
    const answer = answerOf.get(ready.trigger.eventTriggerId)
    return answer ? { ...ready, rows: ready.rows.map((row) => withAnswer(row, answer)) } : ready
  })
}

function withAnswer(row: ContextRow, answer: NamedAnswer): ContextRow {
  const { classSchedule } = row.context
  if (!classSchedule) return row
  return { ...row, context: { ...row.context, classSchedule: { ...classSchedule, ...answer } } }
}

function readiness(
  actionsOf: Map<number, RunningAction[]>,
  unrendered: { namedId: number }[],
): (trigger: ClaimedTrigger) => boolean {
  const missing = new Set(unrendered.map(({ namedId }) => namedId))
  return ({ eventDefnId }) =>
    missing.size === 0 ||
    !actionsOf.get(eventDefnId)?.some(({ emailTemplateId }) => missing.has(emailTemplateId))
}
