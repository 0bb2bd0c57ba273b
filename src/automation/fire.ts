import type { Db } from '../database/database.ts'
import { isDatabaseAway, isTransient } from '../database/refusals.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import { drawEmailIds, insertEmails } from '../store/emails.ts'
import { holdTemplatesOfDefinitions } from '../store/email-templates.ts'
import { holdActionsOfDefinitions } from '../store/event-actions.ts'
import {
  beginAlone,
  endTriggers,
  leaveToLease,
  lockClaimed,
  type ClaimedTrigger,
  type Ending,
} from '../store/trigger-queue.ts'
import type { SettingsCache } from '../store/settings.ts'
import type { Throttle } from './throttle.ts'
import { decide } from './decide.ts'
import { definitionsOf, holdDefinitionsOf, holdWholeObjects } from './hold.ts'
import { ended, makeMails, type MailParts, type Ready } from './mails.ts'
import { planAgainFor, type Moved } from './schedule.ts'
import { objectKeyOf } from '../store/subject.ts'
import { Rendering } from './templates.ts'

/** What firing needs. */
export type Firing = MailParts & {
  settings: SettingsCache
  db: Db
  now(): Temporal.Instant
  /** The database's time at this point of the transaction: nothing fires before it is due by that. */
  confirmNow(tx: Db): Promise<Temporal.Instant>
  /** Made anew at each start: a worker that comes back is another one. */
  worker: string
  leaseSeconds: number
  batchSize: number
  /** How long a batch waits for templates that are not rendered yet; unset: until they are. */
  renderPatienceMs?: number
  /** What more workers than this have begun with is left to others. */
  maxAttempts(): number
  /** None where mails are only kept. */
  throttle?: Throttle
  /** Only a proof puts another in its place, to see that it notices. */
  decide?: typeof decide
  /** Told after the commit, for measurements. */
  onEnded?(
    ended: Pick<Ending, 'businessId' | 'status' | 'scheduledTime'>[],
    now: Temporal.Instant,
  ): void
}

/** Makes the mails of what this worker has claimed. */
export async function fireClaimed(firing: Firing, claimed: ClaimedTrigger[]) {
  const [suspects, fresh] = [[] as ClaimedTrigger[], [] as ClaimedTrigger[]]
  for (const trigger of claimed) (trigger.attempts > 0 ? suspects : fresh).push(trigger)
  if (fresh.length > 0) await fireOrSplit(firing, fresh)
  // One of these may have taken a worker down, and the others with it: each by itself now.
  // Those that fewest died over go first: where workers die for another reason, again and again, the
  // attempts are spread over all of them instead of setting the same few aside.
  for (const suspect of suspects.toSorted((a, b) => a.attempts - b.attempts)) {
    if (await beginAlone(firing.db, firing.worker, suspect)) await fireOrSplit(firing, [suspect])
  }
}

/** One bad row never stops the rest: what fails together is tried in halves. */
async function fireOrSplit(firing: Firing, claimed: ClaimedTrigger[]): Promise<void> {
  try {
    await fireTogether(firing, claimed)
  } catch (error) {
    // The engine gives the triggers back as they were before the claim.
    if (isDatabaseAway(error)) throw error
    firing.onError(error)
    const [, ...others] = claimed
    if (others.length === 0) return retryAfterLease(firing, claimed, error)
    const half = Math.ceil(claimed.length / 2)
    await fireOrSplit(firing, claimed.slice(0, half))
    await fireOrSplit(firing, claimed.slice(half))
  }
}

/**
 * Templates that are not rendered yet are rendered between two tries, while no lock is held; the
 * other triggers have fired by then. What is not rendered soon is retried a little later: one
 * business with many slow templates must not keep this worker from the others.
 */
async function fireTogether(firing: Firing, claimed: ClaimedTrigger[]) {
  const rendering = new Rendering()
  let left = claimed
  for (let isInTime = true; ;) {
    const fired = await firing.db.transaction((tx) => fireBatch(tx, firing, left, rendering))
    firing.onEnded?.(fired.endings, fired.now)
    left = fired.unready
    if (left.length === 0) return
    if (!isInTime) return retryAfterLease(firing, left, new NotRendered())
    isInTime = await rendering.render(fired.unrendered, firing.renderPatienceMs)
  }
}

/** Rendering goes on meanwhile. */
const RENDER_SECONDS = 2

class NotRendered extends Error {
  override message = 'its template is not rendered yet'
}

/** An error that says nothing about the triggers, such as a transient one, is no failed attempt. */
async function retryAfterLease(firing: Firing, triggers: ClaimedTrigger[], error: unknown) {
  const isRendering = error instanceof NotRendered
  const isTheirs = !isRendering && !isTransient(error)
  const seconds = isRendering ? RENDER_SECONDS : firing.leaseSeconds
  await leaveToLease(firing.db, firing.worker, triggers, {
    leaseUntil: firing.now().add({ seconds }),
    attempts: triggers.map(({ attempts }) => (isTheirs ? Math.max(attempts, 1) + 1 : attempts)),
    lastError: textOf(error),
  })
}

const MAX_ERROR_LENGTH = 500

/** On one line: the business reads it as the reason of its trigger. */
const textOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MAX_ERROR_LENGTH)

/**
 * Object, definition, actions and template are read again, under locks that a booking waits for:
 * what was cancelled before is not sent, and what is cancelled after comes too late.
 */
async function fireBatch(tx: Db, firing: Firing, claimed: ClaimedTrigger[], rendering: Rendering) {
  const keys = definitionsOf(claimed)
  // One round trip. Objects are locked first; the time is read last, when all locks are held.
  const [objects, mine, definitions, actions, stored, ids, now] = await Promise.all([
    holdWholeObjects(tx, firing.settings, claimed),
    lockClaimed(tx, firing.worker, claimed),
    holdDefinitionsOf(tx, keys),
    holdActionsOfDefinitions(tx, keys),
    holdTemplatesOfDefinitions(tx, keys),
    drawEmailIds(tx, claimed.length),
    firing.confirmNow(tx),
  ])
  const endings: Ending[] = []
  const actionsOf = Map.groupBy(actions, (action) => action.eventDefnId)
  const { templates, unrendered } = rendering.split(stored)
  const missing = new Set(unrendered.map(({ namedId }) => namedId))
  const isReady = ({ eventDefnId }: ClaimedTrigger) =>
    missing.size === 0 ||
    !actionsOf.get(eventDefnId)?.some(({ emailTemplateId }) => missing.has(emailTemplateId))
  const unready: ClaimedTrigger[] = []
  const moved: Moved[] = []
  const firable: Ready[] = []
  for (const trigger of claimed) {
    if (!mine.has(trigger.eventTriggerId)) continue
    const definition = definitions.get(trigger.eventDefnId)!
    const { subject, rows } = objects.get(objectKeyOf(trigger))!
    const decision = (firing.decide ?? decide)(trigger, definition, subject, now)
    if (decision === 'fire') {
      if (isReady(trigger)) firable.push({ trigger, rows })
      else unready.push(trigger)
    } else {
      endings.push(ended(trigger, decision))
      if (decision.isMoved) {
        const isOldVersion = trigger.defnVersion < definition.version
        moved.push({ subject, definition, isOldVersion, since: null })
      }
    }
  }
  const made = await makeMails(tx, firing, firable, {
    actions: actionsOf,
    templates,
    ids,
    now,
  })
  endings.push(...made.endings)
  // Before the mails, for each of which its trigger is looked up in what is recorded.
  endTriggers(tx, firing.worker, endings, now)
  // The trigger's lock rules out that one is there already. Should it be, halves are tried, and in the
  // end that trigger alone, which ends as if it had made the mail.
  insertEmails(tx, made.emails, claimed.length === 1 ? 'skip' : 'refuse')
  if (moved.length > 0) await planAgainFor(tx, moved, now)
  hintChangedTriggers(tx, endings)
  return { endings, now, unready, unrendered }
}
