import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { OBJECT_NAMES, REASONS, SUPPRESSED_REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { isTransient } from '../database/refusals.ts'
import { isNoSuchMailbox, statusOfReply } from '../email/bounce.ts'
import { waitAfter, type Mailer, type Outcome } from '../email/mailer.ts'
import { readMessage } from '../email/message.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import {
  claimDueEmails,
  claimEmailShares,
  EMAIL_QUEUE,
  endEmails,
  endMovedTrigger,
  endTriggersOf,
  listTriggersToReplan,
  lockTriggersOf,
  markMessagesEnded,
  releaseEmails,
  releaseUnendedEmails,
  type ClaimedEmail,
  type EmailEnding,
  type MovedTrigger,
} from '../store/email-queue.ts'
import { holdSubjects } from '../store/subjects.ts'
import { suppress } from '../store/suppressions.ts'
import type { Claim } from '../store/queue.ts'
import { FairShare } from './fair-share.ts'
import { holdDefinitionsOf, holdObjects } from './hold.ts'
import { refusalsAtFiring } from './match.ts'
import { planAgainFor } from './schedule.ts'
import { objectKeyOf, type Subject } from '../store/subject.ts'
import { firingTime, isOfUse, isReminder } from './timing.ts'
import { Batcher } from './batcher.ts'

export type Delivering = {
  db: Db
  /** For what is said of each mail, or of a few: its plans are kept. */
  delivery: Db
  now(): Temporal.Instant
  /** A name that no worker has had before. */
  nextWorker(): string
  leaseSeconds: number
  mailer: Mailer
  /** The operator's address, which is the envelope sender of every mail: bounces go there. */
  mailFrom: Mailbox
  /** How long a stop waits for what is under way. The service ends within ten seconds. */
  stopPatienceMs?: number
  onError(error: unknown): void
}

/** Sends what is due, as much at a time as the mail server takes. */
export class Deliveries {
  readonly #parts: Delivering
  readonly #underWay = new Set<ClaimedEmail>()
  /** Told when one ends. */
  #waiting: (() => void)[] = []
  readonly #ended: Batcher<ClaimedEmail, boolean>
  readonly #recorded: Batcher<Attempted, MovedTrigger | undefined>
  /** Apart from the records: a plan may wait for an object that somebody holds. */
  readonly #replanned: Batcher<MovedTrigger, void>
  /** How many the mailer has in hand. */
  #sending = 0
  readonly #pace = new Pace()
  readonly #shares = new FairShare(EMAIL_QUEUE)
  /** The last claim was full: more mails are due than it holds. */
  #isCrowded = false
  /** Workers of claims whose mails have all ended. */
  #finished: string[] = []
  /** What was due at the last claim and is free after it is locked by somebody else. */
  claimedAt: Temporal.Instant | undefined

  #replannedUntil = 0

  constructor(parts: Delivering) {
    this.#parts = parts
    // Many mails end at about the same moment: they share a commit. Within two turns the answers of
    // the mail server that are nearly here come in: four mails a commit instead of two, over five
    // connections.
    const shared = { gather: () => nextTurn().then(() => nextTurn()) }
    this.#ended = new Batcher((mails) => markMessagesEnded(parts.delivery, mails), shared)
    this.#recorded = new Batcher((attempts) => this.#record(attempts), shared)
    this.#replanned = new Batcher(async (moved) => {
      await this.#replan(moved)
      return moved.map(() => undefined)
    })
  }

  /** Begins what is due; gives back how many mails that are. Does not wait for their end. */
  async begin(): Promise<number> {
    const { db, now, leaseSeconds } = this.#parts
    const limit = this.#room()
    if (limit <= 0) {
      await this.#oneEnds()
      return 1
    }
    const moment = now()
    this.claimedAt = moment
    const leaseUntil = moment.add({ seconds: leaseSeconds })
    const worker = this.#parts.nextWorker()
    const { claimed, unwanted } = await db.transaction(async (tx) => {
      const claimed = await this.#claim(tx, { worker, now: moment, leaseUntil, limit })
      const unwanted = claimed.length > 0 ? await findUnwanted(tx, claimed, moment) : new Map()
      return { claimed, unwanted }
    })
    for (const mail of claimed) this.#track(mail, this.#deliver(mail, unwanted.get(mail.emailId)))
    return claimed.length
  }

  /** The workers whose leases must be renewed: their mails are being sent. */
  busyWorkers() {
    return [...new Set([...this.#underWay].map(({ worker }) => worker))]
  }

  /** The workers that have finished since the last call: their leases can be deleted. */
  takeFinishedWorkers() {
    return this.#finished.splice(0)
  }

  /** Waits for everything that is under way. */
  async settle() {
    while (this.#underWay.size > 0) await this.#oneEnds()
  }

  /** Whoever waits for a mail to end looks again: it has, or there is no more time to wait. */
  wake() {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Waits a while for what is under way, and leaves the rest to others. */
  async stop() {
    const { db, stopPatienceMs = STOP_PATIENCE_MS } = this.#parts
    const enough = new AbortController()
    const patience = sleep(stopPatienceMs, undefined, { signal: enough.signal })
    await Promise.race([this.settle(), patience.catch(() => {})])
    enough.abort()
    if (this.#underWay.size > 0) await releaseUnendedEmails(db, [...this.#underWay])
  }

  /**
   * As many as the mail server takes, and on top what it will have taken in a moment: where mails
   * leave by the hundred, ten at a time would wait for the database most of the time.
   */
  #room() {
    const ahead = this.#pace.ahead(monotonicMs())
    const more = ahead - this.#sending
    return Math.min(MOST_AT_ONCE, Math.max(this.#parts.mailer.room(), more < ahead / 2 ? 0 : more))
  }

  /** Claims in the order of time; after a full claim, first a fair share for each business. */
  async #claim(tx: Db, claim: Claim): Promise<ClaimedEmail[]> {
    const shares = this.#isCrowded ? await this.#shares.next(tx, claim) : undefined
    const shared = shares ? await claimEmailShares(tx, claim, shares) : []
    const rest = claim.limit - shared.length
    if (rest <= 0) return shared
    const claimed = await claimDueEmails(tx, { ...claim, limit: rest })
    this.#isCrowded = claimed.length === rest
    return [...shared, ...claimed]
  }

  #track(mail: ClaimedEmail, work: Promise<void>) {
    this.#underWay.add(mail)
    void work.catch(this.#parts.onError).finally(() => {
      this.#underWay.delete(mail)
      if (![...this.#underWay].some(({ worker }) => worker === mail.worker))
        this.#finished.push(mail.worker)
      this.wake()
    })
  }

  #oneEnds() {
    return new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  async #deliver(mail: ClaimedEmail, unwanted: Unwanted | undefined) {
    const outcome = unwanted ? undefined : await this.#attempt(mail)
    if (outcome === 'not attempted') {
      await this.#untilDone(() => this.#release(mail))
      return
    }
    const moved = await this.#keepRecording({ mail, outcome, unwanted })
    if (moved) await this.#replanned.add(moved)
  }

  async #attempt(mail: ClaimedEmail): Promise<Outcome | 'not attempted'> {
    this.#sending++
    try {
      return await this.#send(mail)
    } finally {
      this.#sending--
      this.#pace.count()
      this.wake()
    }
  }

  /** If the end of the message could not be committed, it never left: the server knows of no mail. */
  async #send(mail: ClaimedEmail): Promise<Outcome | 'not attempted'> {
    let isEndRefused = false
    const onMessageEnded = async () => {
      try {
        if (await this.#ended.add(mail)) return
      } catch (error) {
        this.#parts.onError(error)
      }
      isEndRefused = true
      throw new Error('the message was not ended')
    }
    const message = readMessage(mail.message)
    const from = this.#parts.mailFrom.address
    const to = mail.toAddress
    try {
      const outcome = await this.#parts.mailer.send({ from, to, message, onMessageEnded })
      return isEndRefused ? 'not attempted' : outcome
    } catch (error) {
      if (isEndRefused) return 'not attempted'
      throw error
    }
  }

  /** A pause first: if the database refuses every mark, the mail server is not called in a loop. */
  async #release(mail: ClaimedEmail) {
    await sleep(RETRY_MS)
    await releaseEmails(this.#parts.delivery, [mail])
  }

  /** The server's answer must not be lost, or the mail would be sent again. */
  async #keepRecording(attempted: Attempted) {
    try {
      return await this.#recorded.add(attempted)
    } catch (error) {
      // What cannot be recorded with others is recorded by itself.
      this.#parts.onError(error)
    }
    const [moved] = await this.#untilDone(() => this.#record([attempted]))
    return moved
  }

  /** Waits for a database that is away, busy or locked. */
  async #untilDone<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 0; ;) {
      try {
        return await work()
      } catch (error) {
        if (!isTransient(error) && ++failures >= MOST_RECORDINGS) throw error
      }
      await sleep(RETRY_MS)
    }
  }

  /** Gives back of each its trigger, if that has moved and must be planned again. */
  async #record(attempts: Attempted[]) {
    const { delivery } = this.#parts
    const now = this.#parts.now()
    const endings = attempts.map((attempted) => endingOf(attempted, now))
    const moved = await delivery.transaction(async (tx) => {
      const bounced = attempts.flatMap(bounceOf)
      // One after the other, but all on their way at once.
      const [, , , moved] = await Promise.all([
        lockTriggersOf(tx, endings),
        endEmails(tx, endings, now),
        bounced.length > 0 && suppress(tx, bounced, { user: 'SYSTEM', now }),
        endTriggersOf(tx, endings, now),
      ])
      hintChangedTriggers(tx, endings)
      return moved
    })
    const movedById = new Map(moved.map((trigger) => [trigger.eventTriggerId, trigger]))
    return attempts.map(({ mail }) => movedById.get(mail.eventTriggerId!))
  }

  /**
   * Plans reminders again whose mails have ended, if nobody has: the plan failed, or its node died.
   * Returns how many it planned: one that always fails is no reason to look again at once.
   */
  async replanLeftBehind() {
    const page = { after: this.#replannedUntil, limit: MAX_REPLANNED }
    const moved = await listTriggersToReplan(this.#parts.db, page)
    // Those that cannot be planned do not keep the others waiting.
    this.#replannedUntil = moved.length < page.limit ? 0 : moved.at(-1)!.eventTriggerId
    return this.#replan(moved)
  }

  /**
   * In transactions of their own: the mails are recorded whatever becomes of the plan, and objects
   * are locked before triggers here as everywhere.
   */
  async #replan(moved: MovedTrigger[]) {
    const { db, now, onError } = this.#parts
    let planned = 0
    for (const trigger of moved) {
      try {
        await db.transaction((tx) => planMoved(tx, trigger, now()))
        planned += 1
      } catch (error) {
        onError(error)
      }
    }
    return planned
  }
}

/** Counts what the mail server answers, to know what it will in a moment. */
class Pace {
  #since = 0
  #counted = 0
  #ahead = 0

  count() {
    this.#counted++
  }

  ahead(now: number) {
    const ms = now - this.#since
    if (ms >= AHEAD_MS) {
      this.#ahead = Math.min(MOST_AT_ONCE, Math.round((this.#counted * AHEAD_MS) / ms))
      this.#since = now
      this.#counted = 0
    }
    return this.#ahead
  }
}

const MOST_AT_ONCE = 200

/** Short: what is in hand is not looked at again, and no other worker can take it. */
const AHEAD_MS = 250

const MAX_REPLANNED = 500

const MOST_RECORDINGS = 5
const RETRY_MS = 500

const STOP_PATIENCE_MS = 5_000

type Attempted = {
  mail: ClaimedEmail
  /** None where it was not tried: then `unwanted` says why. */
  outcome: Outcome | undefined
  unwanted: Unwanted | undefined
}

/** Why a mail is not tried (any more). */
type Unwanted = { status: 'CANCELLED' | 'SUPPRESSED' | 'FAILED'; statusReason: string }

function endingOf({ mail, outcome, unwanted }: Attempted, now: Temporal.Instant): EmailEnding {
  const base = { ...mail, nextAttemptTime: null }
  if (!outcome) return { ...base, ...unwanted!, attempt: null }
  const { phase, reply } = outcome
  const attempt = { time: now.epochMilliseconds, phase, reply }
  switch (outcome.kind) {
    case 'sent':
      return { ...base, status: 'SENT', statusReason: null, attempt }
    case 'captured':
      return { ...base, status: 'CAPTURED', statusReason: null, attempt }
    case 'failed':
      return { ...base, status: 'FAILED', statusReason: reply, attempt }
    case 'retry':
    case 'uncertain': {
      const attempts = mail.attempts + 1
      const wait = waitAfter(attempts)
      if (!wait) {
        const statusReason = `gave up after ${attempts} attempts: ${reply}`
        return { ...base, status: 'FAILED', statusReason, attempt }
      }
      const status = outcome.kind === 'retry' ? 'RETRYING' : 'UNCERTAIN'
      return { ...base, status, statusReason: reply, attempt, nextAttemptTime: now.add(wait) }
    }
  }
}

/** Suppresses the address only if its mailbox does not exist; see `isNoSuchMailbox`. */
function bounceOf({ mail, outcome }: Attempted) {
  if (outcome?.kind !== 'failed' || outcome.phase !== 'rcpt') return []
  if (!isNoSuchMailbox(statusOfReply(outcome.reply))) return []
  const { businessId, toAddress: emailAddress } = mail
  return [{ businessId, emailAddress, reason: 'BOUNCED' as const, detail: outcome.reply }]
}

/** Mails that should no longer go out: what changed since they were made, or last tried. */
async function findUnwanted(tx: Db, claimed: ClaimedEmail[], now: Temporal.Instant) {
  const unwanted = new Map<number, Unwanted>()
  const stale = await findStale(tx, claimed, now)
  for (const mail of claimed) {
    const reason = mail.businessActive ? stale.get(mail.emailId) : REASONS.businessInactive
    const { emailId, suppressed, attempts } = mail
    if (reason) unwanted.set(emailId, { status: 'CANCELLED', statusReason: reason })
    else if (suppressed) {
      unwanted.set(emailId, { status: 'SUPPRESSED', statusReason: SUPPRESSED_REASONS[suppressed] })
    } else if (waitAfter(attempts) === undefined) {
      const statusReason = `gave up after ${attempts} attempts: the worker stopped before it recorded the answer`
      unwanted.set(emailId, { status: 'FAILED', statusReason })
    }
  }
  return unwanted
}

/** Their object was cancelled or moved, or what they remind of has begun. */
async function findStale(tx: Db, claimed: ClaimedEmail[], now: Temporal.Instant) {
  const stale = new Map<number, string>()
  const ofTriggers = claimed.filter((mail) => mail.eventDefnId !== null) as (ClaimedEmail & {
    eventDefnId: number
    anchorTime: Temporal.Instant
    scheduledTime: Temporal.Instant
    objectType: Subject['objectType']
  })[]
  if (ofTriggers.length === 0) return stale
  const subjects = await holdObjects(tx, ofTriggers)
  const definitions = await holdDefinitionsOf(tx, ofTriggers)
  for (const mail of ofTriggers) {
    const definition = definitions.get(mail.eventDefnId)!
    const subject = subjects.get(objectKeyOf(mail))!
    const [refusal] = refusalsAtFiring(definition, subject)
    if (refusal) stale.set(mail.emailId, refusal)
    else if (!mail.fireNow) {
      const isMoved =
        isReminder(definition) &&
        !firingTime(definition, subject)?.anchorTime.equals(mail.anchorTime)
      if (isMoved)
        stale.set(
          mail.emailId,
          `the ${OBJECT_NAMES[mail.objectType]} moved before the mail was sent`,
        )
      else if (!isOfUse(definition, mail.anchorTime, mail.scheduledTime, now)) {
        stale.set(mail.emailId, REASONS.uselessNow)
      }
    }
  }
  return stale
}

/** A reminder that could not follow its object while its mails were being sent. */
async function planMoved(tx: Db, trigger: MovedTrigger, now: Temporal.Instant) {
  const [subject] = await holdSubjects(tx, trigger.objectType, [trigger])
  const definition = (await holdDefinitionsOf(tx, [trigger])).get(trigger.eventDefnId)
  const ended = await endMovedTrigger(tx, trigger, now)
  if (!ended || !subject || !definition) return
  const since = ended.replanSince
  await planAgainFor(tx, [{ subject, definition, isOldVersion: false, since }], now)
}
