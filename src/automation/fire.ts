import type { Db } from '../database/database.ts'
import { isDatabaseAway, isTransient } from '../database/postgres-errors.ts'
import { REASONS } from '../contract/reasons.ts'
import { listMailPauses, lockPausedBusinesses, type MailPause } from '../store/businesses.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import { drawEmailIds, insertEmails } from '../store/emails.ts'
import type { SettingsCache } from '../store/settings.ts'
import { lockTemplatesOfDefinitions } from '../store/email-templates.ts'
import { lockActionsOfDefinitions, type RunningAction } from '../store/event-actions.ts'
import {
  endTriggers,
  lockClaimed,
  retryTriggers,
  type ClaimedTrigger,
  type Ending,
} from '../store/trigger-queue.ts'
import type { Throttle } from './throttle.ts'
import { decide, type Decision } from './decide.ts'
import {
  distinctDefinitions,
  lockDefinitionsOfTriggers,
  lockWholeObjectsForShare,
} from './share-locks.ts'
import { ended, makeMails, type MailParts, type Ready } from './mails.ts'
import { planAgainFor, type Moved } from './schedule.ts'
import { objectKeyOf } from '../store/subject.ts'
import { Rendering } from './templates.ts'
import { isBefore, usefulUntil } from './timing.ts'

/** The dependencies of firing. */
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

/** Fires the triggers that this worker has claimed. One that fails does not stop the others. */
export async function fireClaimed(context: FireContext, claimed: ClaimedTrigger[]): Promise<void> {
  try {
    await fireInOneTransaction(context, claimed)
  } catch (error) {
    // The worker releases its triggers when the database is back.
    if (isDatabaseAway(error)) throw error
    context.onError(error)
    if (claimed.length === 1) return retryLater(context, claimed, error)
    const half = Math.ceil(claimed.length / 2)
    await fireClaimed(context, claimed.slice(0, half))
    await fireClaimed(context, claimed.slice(half))
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
  for (let isInTime = true; ;) {
    const fired = await context.db.transaction((tx) => fireBatch(tx, context, remaining, rendering))
    context.onEnded?.(fired.endings, fired.now)
    const ended = fired.emails.filter(({ status }) => status !== 'QUEUED')
    context.onEmailsEnded?.(ended.map(({ status }) => status))
    remaining = [...fired.unready, ...(await postponePausedTriggers(context, fired.paused))]
    if (remaining.length === 0) return
    if (!isInTime) return retryLater(context, remaining, new NotRendered())
    isInTime = await rendering.render(fired.unrendered, context.maxRenderWaitMs)
  }
}

/** The wait before a retry. Rendering continues meanwhile. */
const RENDER_SECONDS = 2

class NotRendered extends Error {
  override message = 'its template is not rendered yet'
}

/** A transient error, or a template that is not rendered yet, does not count as a failed attempt. */
async function retryLater(context: FireContext, triggers: ClaimedTrigger[], error: unknown) {
  const isRendering = error instanceof NotRendered
  await retryTriggers(context.db, triggers, {
    worker: context.worker,
    isFault: !isRendering && !isTransient(error),
    lastError: textOf(error),
    retrySeconds: isRendering ? RENDER_SECONDS : context.leaseSeconds,
    now: context.now(),
  })
}

/** How often the due triggers of a paused business are re-checked. Resuming makes them due at once. */
const PAUSE_CHECKED_SECONDS = 300

/** Postpones the triggers of businesses whose mail is paused. Returns those whose mail has resumed. */
async function postponePausedTriggers(
  { db, worker, now }: FireContext,
  triggers: ClaimedTrigger[],
): Promise<ClaimedTrigger[]> {
  if (triggers.length === 0) return []
  return db.transaction(async (tx) => {
    const paused = await lockPausedBusinesses(tx, triggers)
    const held = triggers.filter(({ businessId }) => paused.has(businessId))
    await retryTriggers(tx, held, {
      worker,
      isFault: false,
      lastError: REASONS.mailPaused,
      retrySeconds: PAUSE_CHECKED_SECONDS,
      now: now(),
    })
    return triggers.filter(({ businessId }) => !paused.has(businessId))
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
  const keys = distinctDefinitions(claimed)
  // One round trip. Objects are locked first; the time is read last, when all locks are held.
  const [objects, ownIds, definitions, actions, stored, ids, pauses, now] = await Promise.all([
    lockWholeObjectsForShare(tx, context.settings, claimed),
    lockClaimed(tx, context.worker, claimed),
    lockDefinitionsOfTriggers(tx, keys),
    lockActionsOfDefinitions(tx, keys),
    lockTemplatesOfDefinitions(tx, keys),
    drawEmailIds(tx, claimed.length),
    listMailPauses(tx, keys),
    context.confirmNow(tx),
  ])
  const endings: Ending[] = []
  const actionsOf = Map.groupBy(actions, (action) => action.eventDefnId)
  const { templates, unrendered } = rendering.split(stored)
  const isReady = readiness(actionsOf, unrendered)
  const unready: ClaimedTrigger[] = []
  const paused: ClaimedTrigger[] = []
  const moved: Moved[] = []
  const firable: Ready[] = []
  for (const trigger of claimed) {
    if (!ownIds.has(trigger.eventTriggerId)) continue
    const pause = pauses.get(trigger.businessId)
    if (pause?.isPaused) {
      paused.push(trigger)
      continue
    }
    const definition = definitions.get(trigger.eventDefnId)!
    const { subject, rows } = objects.get(objectKeyOf(trigger))!
    const decision = (context.decide ?? decide)(trigger, definition, subject, now)
    if (decision === 'fire') {
      if (isReady(trigger)) firable.push({ trigger, rows })
      else unready.push(trigger)
    } else {
      endings.push(ended(trigger, blamePause(decision, trigger, pause)))
      if (decision.isMoved) {
        const isOldVersion = trigger.defnVersion < definition.version
        moved.push({ subject, definition, isOldVersion, since: null })
      }
    }
  }
  const making = { actions: actionsOf, templates, ids, now }
  const made = await makeMails(tx, context, firable, making)
  endings.push(...made.endings)
  // Before the mails: inserting a mail checks that its trigger is recorded.
  endTriggers(tx, context.worker, endings, now)
  // The lock of the trigger prevents a second mail. If there is one anyway, the batch fails and is
  // tried in halves; alone, the trigger ends as if it had made the mail.
  insertEmails(tx, made.emails, { ifExists: claimed.length === 1 ? 'skip' : 'refuse' })
  if (moved.length > 0) await planAgainFor(tx, moved, now)
  hintChangedTriggers(tx, endings)
  return { endings, emails: made.emails, now, unready, unrendered, paused }
}

/** Whether all templates of a trigger are rendered. */
function readiness(
  actionsOf: Map<number, RunningAction[]>,
  unrendered: { namedId: number }[],
): (trigger: ClaimedTrigger) => boolean {
  const missing = new Set(unrendered.map(({ namedId }) => namedId))
  return ({ eventDefnId }) =>
    missing.size === 0 ||
    !actionsOf.get(eventDefnId)?.some(({ emailTemplateId }) => missing.has(emailTemplateId))
}
