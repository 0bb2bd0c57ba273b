import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import type { Mailbox } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import { isTransient } from '../database/postgres-errors.ts'
import type { Mailer, Outcome } from '../email/mailer.ts'
import { readMessage } from '../email/message.ts'
import type { BouncedMail } from '../email/verp.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import {
  claimDueEmails,
  claimEmailShares,
  EMAIL_QUEUE,
  endEmails,
  endTriggersOf,
  lockTriggersOf,
  allowMessageEnds,
  releaseEmails,
  releaseUnendedEmails,
  type ClaimedEmail,
  type MovedTrigger,
} from '../store/email-queue.ts'
import type { Claim } from '../store/queue.ts'
import type { SettingsCache } from '../store/settings.ts'
import { recordSoftBounces } from '../store/soft-bounces.ts'
import { suppress } from '../store/suppressions.ts'
import { Batcher } from './batcher.ts'
import {
  decideEmailEnding,
  findBounce,
  isSoftBounced,
  type Attempted,
  type Unwanted,
} from './email-outcome.ts'
import { FairShare } from './fair-share.ts'
import { replanMoved } from './replan.ts'
import { SenderKeys } from './sender-domains.ts'
import { findUnwanted } from './unwanted-emails.ts'

type Delivering = {
  db: Db
  settings: SettingsCache
  now(): Temporal.Instant
  /** A name that no worker has had before. */
  nextWorker(): string
  leaseSeconds: number
  mailer: Mailer
  /** The operator's address: bounces go there without `bounceAddress`. */
  mailFrom: Mailbox
  /** The envelope sender of one mail, if bounces come back to this service. */
  bounceAddress?(mail: BouncedMail): string
  /** How long a stop waits for mails that are being sent. The service must stop within ten seconds. */
  maxStopWaitMs?: number
  onError(error: unknown): void
}

/** Sends due mails, as many at a time as the mail server takes. */
export class Deliveries {
  readonly #parts: Delivering
  readonly #inProgress = new Set<ClaimedEmail>()
  /** Called when a mail ends. */
  #onEnd: (() => void)[] = []
  readonly #ended: Batcher<ClaimedEmail, boolean>
  readonly #recorded: Batcher<Attempted, MovedTrigger | undefined>
  /** Not with the records: planning may wait for a locked object. */
  readonly #replanned: Batcher<MovedTrigger, void>
  /** How many mails the mailer is sending. */
  #sending = 0
  readonly #pace = new Pace()
  readonly #shares = new FairShare(EMAIL_QUEUE)
  readonly #senderKeys: SenderKeys
  /** The last claim was full: more mails are due than it holds. */
  #isCrowded = false
  /** Workers of claims whose mails have all ended. */
  #finished: string[] = []
  /** A mail that was due at the last claim and is free after it is locked by a transaction. */
  claimedAt: Temporal.Instant | undefined

  constructor(parts: Delivering) {
    this.#parts = parts
    this.#senderKeys = new SenderKeys(parts.db)
    // Mails that end at about the same moment share a commit. Waiting for two iterations of the event
    // loop makes four mails a commit instead of two, over five connections.
    const shared = { gather: () => nextIteration().then(() => nextIteration()) }
    this.#ended = new Batcher((mails) => allowMessageEnds(parts.db, mails), shared)
    this.#recorded = new Batcher((attempts) => this.#record(attempts), shared)
    this.#replanned = new Batcher(async (moved) => {
      await replanMoved(parts, moved)
      return moved.map(() => undefined)
    })
  }

  /** Begins to send due mails; returns how many. Does not wait until they are sent. */
  async begin(): Promise<number> {
    const { db, settings, now, leaseSeconds } = this.#parts
    const limit = this.#room()
    if (limit <= 0) {
      await this.#waitForEnd()
      return 1
    }
    const moment = now()
    this.claimedAt = moment
    const leaseUntil = moment.add({ seconds: leaseSeconds })
    const worker = this.#parts.nextWorker()
    const { claimed, unwanted } = await db.transaction(async (tx) => {
      const claimed = await this.#claim(tx, { worker, now: moment, leaseUntil, limit })
      const unwanted =
        claimed.length > 0 ? await findUnwanted(tx, settings, claimed, moment) : new Map()
      return { claimed, unwanted }
    })
    for (const mail of claimed) this.#track(mail, this.#deliver(mail, unwanted.get(mail.emailId)))
    return claimed.length
  }

  /** The workers whose leases must be renewed: their mails are being sent. */
  busyWorkers() {
    return [...new Set([...this.#inProgress].map(({ worker }) => worker))]
  }

  /** The workers that have finished since the last call: their leases can be deleted. */
  takeFinishedWorkers() {
    return this.#finished.splice(0)
  }

  /** Waits until all mails that are being sent have ended. */
  async settle() {
    while (this.#inProgress.size > 0) await this.#waitForEnd()
  }

  /** Ends every wait for a mail to end. */
  wake() {
    for (const resolve of this.#onEnd.splice(0)) resolve()
  }

  /** Waits a while for mails that are being sent, and releases the rest. */
  async stop() {
    const { db, maxStopWaitMs = MAX_STOP_WAIT_MS } = this.#parts
    const enough = new AbortController()
    const timeLimit = sleep(maxStopWaitMs, undefined, { signal: enough.signal })
    await Promise.race([this.settle(), timeLimit.catch(() => {})])
    enough.abort()
    if (this.#inProgress.size > 0) await releaseUnendedEmails(db, [...this.#inProgress])
  }

  /**
   * As many as the mail server takes now, and in addition those that it will have taken in a moment:
   * a fast mail server would otherwise wait for the next claim most of the time.
   */
  #room() {
    const ahead = this.#pace.ahead(monotonicMs())
    const more = ahead - this.#sending
    return Math.min(
      MAX_IN_PROGRESS,
      Math.max(this.#parts.mailer.room(), more < ahead / 2 ? 0 : more),
    )
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
    this.#inProgress.add(mail)
    void work.catch(this.#parts.onError).finally(() => {
      this.#inProgress.delete(mail)
      if (![...this.#inProgress].some(({ worker }) => worker === mail.worker))
        this.#finished.push(mail.worker)
      this.wake()
    })
  }

  #waitForEnd() {
    return new Promise<void>((resolve) => this.#onEnd.push(resolve))
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

  /** If the end of the message was not committed, it was not sent: the server has no mail. */
  async #send(mail: ClaimedEmail): Promise<Outcome | 'not attempted'> {
    let isEndRefused = false
    const beforeMessageEnd = async () => {
      try {
        if (await this.#ended.add(mail)) return
      } catch (error) {
        this.#parts.onError(error)
      }
      isEndRefused = true
      throw new Error('the message was not ended')
    }
    const message = readMessage(mail.message)
    const { mailFrom, bounceAddress } = this.#parts
    const from = bounceAddress?.({ ...mail, messageId: message.messageId }) ?? mailFrom.address
    const to = mail.toAddress
    const signers = await this.#findSigners(mail)
    if (!signers) return 'not attempted'
    try {
      const outcome = await this.#parts.mailer.send({
        from,
        to,
        message,
        signers,
        beforeMessageEnd,
      })
      return isEndRefused ? 'not attempted' : outcome
    } catch (error) {
      if (isEndRefused) return 'not attempted'
      throw error
    }
  }

  /** The keys of the sender's own domain. Undefined if they cannot be read now: unsigned mail is refused. */
  async #findSigners({ businessId, senderDomain: domain }: ClaimedEmail) {
    if (domain === null) return []
    try {
      return await this.#senderKeys.signersOf({ businessId, domain })
    } catch (error) {
      this.#parts.onError(error)
      return undefined
    }
  }

  /** A pause first: if the database refuses every mark, the mail server is not called in a loop. */
  async #release(mail: ClaimedEmail) {
    await sleep(RETRY_MS)
    await releaseEmails(this.#parts.db, [mail])
  }

  /** The server's answer must not be lost, or the mail would be sent again. */
  async #keepRecording(attempted: Attempted) {
    try {
      return await this.#recorded.add(attempted)
    } catch (error) {
      // One that cannot be recorded with others is recorded alone.
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
        if (!isTransient(error) && ++failures >= MAX_RECORDINGS) throw error
      }
      await sleep(RETRY_MS)
    }
  }

  /** Returns the trigger of each mail, if its object moved and it must be planned again. */
  async #record(attempts: Attempted[]) {
    const { db } = this.#parts
    const now = this.#parts.now()
    const endings = attempts.map((attempted) => decideEmailEnding(attempted, now))
    const moved = await db.transaction(async (tx) => {
      const bounced = attempts.flatMap(findBounce)
      const softBounced = attempts.filter(isSoftBounced).map(({ mail }) => mail)
      // One round trip.
      const [, , , moved] = await Promise.all([
        lockTriggersOf(tx, endings),
        endEmails(tx, endings, now),
        bounced.length > 0 && suppress(tx, bounced, { user: 'SYSTEM', now }),
        endTriggersOf(tx, endings, now),
      ])
      await recordSoftBounces(tx, softBounced, { user: 'SYSTEM', now })
      hintChangedTriggers(tx, endings)
      return moved
    })
    const movedById = new Map(moved.map((trigger) => [trigger.eventTriggerId, trigger]))
    return attempts.map(({ mail }) => movedById.get(mail.eventTriggerId!))
  }
}

/** Counts the answers of the mail server, to estimate how many will come in a moment. */
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
      this.#ahead = Math.min(MAX_IN_PROGRESS, Math.round((this.#counted * AHEAD_MS) / ms))
      this.#since = now
      this.#counted = 0
    }
    return this.#ahead
  }
}

const MAX_IN_PROGRESS = 200

/** Short: a claimed mail is not checked again, and no other worker can claim it. */
const AHEAD_MS = 250

const MAX_RECORDINGS = 5
const RETRY_MS = 500

const MAX_STOP_WAIT_MS = 5_000
