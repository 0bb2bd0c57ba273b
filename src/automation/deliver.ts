import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { REASONS, reasonText } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { isTransient } from '../database/postgres-errors.ts'
import {
  unsigned,
  type Mailer,
  type Outcome,
  type Postponed,
  type Unavailable,
} from '../email/mailer.ts'
import { encodeDraft, filesIn, readMessage, type Message } from '../email/message.ts'
import type { BouncedMail } from '../email/verp.ts'
import { lockFreeBusinesses, lockReferableBusinesses } from '../store/businesses.ts'
import { hintChangedTriggers } from '../store/changes.ts'
import {
  claimDueEmails,
  claimEmailShares,
  claimUrgentEmails,
  claimUselessEmails,
  EMAIL_QUEUE,
  endEmails,
  endTriggersOf,
  lockFreeTriggersOf,
  allowMessageEnds,
  postponeEmails,
  postponePausedEmails,
  releaseEmails,
  releaseUnendedEmails,
  type ClaimedEmail,
  type MovedTrigger,
} from '../store/email-queue.ts'
import { readBody, UnreadableBody } from '../store/message-bodies.ts'
import type { Claim } from '../store/queue.ts'
import type { SettingsCache } from '../store/settings.ts'
import { recordSoftBounces } from '../store/soft-bounces.ts'
import { suppress } from '../store/suppressions.ts'
import { AttachedFiles } from './attached-files.ts'
import { Batcher } from '../batcher.ts'
import {
  decideEmailEnding,
  findBounce,
  isSoftBounced,
  type Attempted,
  type Unwanted,
} from './email-outcome.ts'
import { postponeAboveDailyLimit } from './daily-limits.ts'
import { FairShare } from './fair-share.ts'
import { MAX_REST_MS } from './loop.ts'
import { isRefusedSender, MailServer, type MailServerChange } from './mail-server.ts'
import type { OperatorProblems } from './operator-problems.ts'
import { replanMoved } from './replan.ts'
import { lockedUntil } from './share-locks.ts'
import { SenderKeys } from './sender-domains.ts'
import { isBefore } from './timing.ts'
import { findUnwanted } from './unwanted-emails.ts'

type Delivering = {
  db: Db
  settings: SettingsCache
  now(): Temporal.Instant
  /** A name that no worker has had before. */
  nextWorker(): string
  leaseSeconds: number
  mailer: Mailer
  problems?: OperatorProblems
  /** The operator's address: bounces go there without `bounceAddress`. */
  mailFrom: Mailbox
  /** The envelope sender of one mail, if bounces come back to this service. */
  bounceAddress?(mail: BouncedMail): string
  /** How long a stop waits for mails that are being sent. The service must stop within ten seconds. */
  maxStopWaitMs?: number
  onError(error: unknown): void
} & DeliveryEvents

/** For metrics and the log. */
export type DeliveryEvents = {
  /** Called for each reply of the mail server to a mail or a probe. */
  onAttempt?(outcome: Pick<Outcome, 'kind' | 'phase'>): void
  onEmailsEnded?(statuses: string[]): void
  onMailServer?(change: MailServerChange): void
}

/** Sends due mails, as many at a time as the mail server accepts. */
export class Deliveries {
  readonly #parts: Delivering
  /** The mails that are being sent, and since when. */
  readonly #inProgress = new Map<ClaimedEmail, Temporal.Instant>()
  /** Called when a mail ends. */
  #onEnd: (() => void)[] = []
  readonly #ended: Batcher<ClaimedEmail, boolean>
  readonly #recorded: Batcher<Attempted, MovedTrigger | undefined | 'locked'>
  /** Separate from `#recorded`, because planning may wait for a locked object. */
  readonly #replanned: Batcher<MovedTrigger, void>
  readonly #released: Batcher<ClaimedEmail, void>
  readonly #server: MailServer
  #isProbing = false
  /** When mails that became useless during an outage were last ended. */
  #uselessEndedAt: Temporal.Instant | undefined
  /** How many mails are prepared for the mailer, or being sent by it. */
  #sending = 0
  /** Mails that wait for keys or files, and are not passed to the mailer yet. */
  readonly #preparing = new Set<ClaimedEmail>()
  readonly #answerRate = new AnswerRate()
  readonly #files: AttachedFiles
  readonly #shares = new FairShare(EMAIL_QUEUE)
  readonly #senderKeys: SenderKeys
  /** The last claim was full: more mails are due than it holds. */
  #isCrowded = false
  /** When a full claim may next be followed by one of urgent mails. */
  #urgentClaimAt: Temporal.Instant | undefined
  #wasUrgent = false
  /** Workers of claims whose mails have all ended. */
  #finished: string[] = []
  /** The last claim. A mail that was due then and is still free is locked by a transaction. */
  claimedAt: Temporal.Instant | undefined

  constructor(parts: Delivering) {
    this.#parts = parts
    this.#senderKeys = new SenderKeys(parts.db)
    this.#files = new AttachedFiles(parts.db)
    // Mails that end at about the same moment share a commit. Waiting for two iterations of the event
    // loop gives four mails per commit instead of two, with five connections.
    this.#ended = new Batcher((mails) => allowMessageEnds(parts.db, mails), {
      gather: () => nextIteration().then(() => nextIteration()),
    })
    // No connection waits for a record, so it can wait for others.
    this.#recorded = new Batcher((attempts) => this.#record(attempts), {
      gather: () => sleep(GATHER_MS),
    })
    this.#replanned = new Batcher(async (moved) => {
      await replanMoved(parts, moved)
      return moved.map(() => undefined)
    })
    this.#released = new Batcher(async (mails) => {
      await releaseEmails(parts.db, mails)
      return mails.map(() => undefined)
    })
    this.#server = new MailServer(parts)
  }

  /** Begins to send due mails; returns how many. Does not wait until they are sent. */
  async begin(): Promise<number> {
    const moment = this.#parts.now()
    const server = this.#server
    await server.checkAccepting(moment)
    await server.synchronise(moment)
    if (server.isProbeDue(moment)) this.#probe()
    if (!this.#isProbing && server.isPaused) return this.#endUseless(moment)
    const limit = server.isOnTrial
      ? Number(server.mayTryAnother(this.#inProgress.values(), moment))
      : this.#room()
    if (this.#isProbing || limit <= 0) {
      const ended = await this.#endUseless(moment)
      if (ended === 0) await this.#waitForEnd()
      return 1
    }
    // Their business gets no share of the claim.
    if (this.#fullBusinesses().size > 0) await this.#endUseless(moment)
    this.claimedAt = moment
    const { claimed, unwanted, postponed } = await this.#claimChecked(moment, limit, (tx, claim) =>
      this.#claim(tx, claim),
    )
    if (claimed.length + postponed === 0) {
      await server.noteNothingDue(moment)
      await server.synchronise(moment)
    }
    for (const mail of claimed) this.#track(mail, this.#deliver(mail, unwanted.get(mail.emailId)))
    return claimed.length + postponed
  }

  /** The mail server accepts no mails; see `MailServer`. */
  get isPaused() {
    return this.#server.isPaused
  }

  /** The workers whose leases must be renewed: their mails are being sent. */
  busyWorkers() {
    return [...new Set([...this.#inProgress.keys()].map(({ worker }) => worker))]
  }

  /** The workers that have finished since the last call: their leases can be deleted. */
  takeFinishedWorkers() {
    return this.#finished.splice(0)
  }

  /** Waits until all mails that are being sent have ended. */
  async settle() {
    while (this.#inProgress.size > 0 || this.#isProbing) await this.#waitForEnd()
  }

  /** Ends every wait for a mail to end. */
  wake() {
    for (const resolve of this.#onEnd.splice(0)) resolve()
  }

  /** For a clock that was set back: times in the future would delay deliveries. */
  forgetTimes() {
    this.#uselessEndedAt = undefined
    this.#urgentClaimAt = undefined
    this.claimedAt = undefined
    this.#server.forgetTimes(this.#parts.now())
    this.wake()
  }

  /** Waits a while for mails that are being sent, and releases the rest. */
  async stop() {
    const { db, maxStopWaitMs = MAX_STOP_WAIT_MS } = this.#parts
    const timer = new AbortController()
    const timeLimit = sleep(maxStopWaitMs, undefined, { signal: timer.signal })
    await Promise.race([this.settle(), timeLimit.catch(() => {})])
    timer.abort()
    if (this.#inProgress.size > 0) await releaseUnendedEmails(db, [...this.#inProgress.keys()])
  }

  /**
   * How many mails to claim: as many as the mailer can send now, or more if it will soon be free.
   * Otherwise a fast mail server would mostly wait for the next claim.
   */
  #room() {
    const ahead = this.#answerRate.ahead(monotonicMs())
    const more = ahead - this.#sending
    const room = this.#parts.mailer.room() - this.#preparing.size
    return Math.min(MAX_IN_PROGRESS, Math.max(room, more < ahead / 2 ? 0 : more))
  }

  /** A probe may take as long as a connection attempt, and a stop does not wait for it. */
  #probe() {
    if (this.#isProbing) return
    this.#isProbing = true
    void this.#server
      .probe(this.#parts.now)
      .then((trouble) => trouble && this.#parts.onAttempt?.(trouble))
      .catch(this.#parts.onError)
      .finally(() => {
        this.#isProbing = false
        this.wake()
      })
  }

  /**
   * Claims mails and finds those that must not be sent. Mails of businesses whose mail is paused are
   * postponed, with all others of their business that are due. So are mails above a daily limit, those
   * that were delayed into quiet hours, and those whose rows another transaction has locked.
   */
  async #claimChecked(
    now: Temporal.Instant,
    limit: number,
    claim: (tx: Db, claim: Claim) => Promise<ClaimedEmail[]>,
  ) {
    const { db, settings, leaseSeconds } = this.#parts
    const leaseUntil = now.add({ seconds: leaseSeconds })
    const worker = this.#parts.nextWorker()
    const { outage } = this.#server
    return db.transaction(async (tx) => {
      const all = await claim(tx, { worker, now, leaseUntil, limit })
      const paused = await postponePausedMails(tx, all, now)
      const unpaused = paused.length > 0 ? all.filter((mail) => !paused.includes(mail)) : all
      const above = await postponeAboveDailyLimit(tx, unpaused, now)
      const checked = above.length > 0 ? unpaused.filter((mail) => !above.includes(mail)) : unpaused
      const { unwanted, postponed } =
        checked.length > 0 ? await findUnwanted(tx, checked, { settings, now, outage }) : NONE_FOUND
      await postponeEmails(tx, postponed)
      const waits = new Set(postponed.map(({ mail }) => mail))
      const claimed = waits.size > 0 ? checked.filter((mail) => !waits.has(mail)) : checked
      return { claimed, unwanted, postponed: all.length - claimed.length }
    })
  }

  /** If no mail can be sent now, mails that become useless end at once, not when they are claimed. */
  async #endUseless(now: Temporal.Instant) {
    const last = this.#uselessEndedAt
    if (last && Temporal.Instant.compare(now, last.add(USELESS_ENDED_EVERY)) < 0) return 0
    this.#uselessEndedAt = now
    const { claimed, unwanted } = await this.#claimChecked(now, MAX_IN_PROGRESS, (tx, claim) =>
      claimUselessEmails(tx, claim),
    )
    for (const mail of claimed) {
      const why = unwanted.get(mail.emailId)
      this.#track(mail, why ? this.#deliver(mail, why) : this.#untilDone(() => this.#free(mail)))
    }
    if (claimed.length === MAX_IN_PROGRESS) this.#uselessEndedAt = undefined
    return claimed.length
  }

  /**
   * Claims in the order of time. After a full claim, first a fair share for each business, in the order in
   * which mails lose their use; in turns with the urgent mails of all businesses. While the mail server
   * hangs with mails of a business, only the others get a share. After an outage, see
   * `MailServer.isUrgentNext`.
   */
  async #claim(tx: Db, claim: Claim): Promise<ClaimedEmail[]> {
    const full = this.#fullBusinesses()
    if (this.#server.isUrgentNext) {
      const urgent = await claimUrgentEmails(tx, claim, [...full])
      this.#isCrowded = urgent.length > 0
      if (this.#isCrowded) return urgent
    }
    const isShared = full.size > 0 || (this.#isCrowded && !this.#server.isOnTrial)
    const urgent = isShared ? await this.#claimUrgent(tx, claim, full) : []
    if (urgent.length === claim.limit) return urgent
    const shared = isShared ? await this.#claimShares(tx, rest(claim, urgent), full) : []
    const first = [...urgent, ...shared]
    if (first.length >= claim.limit || full.size > 0) return first
    const claimed = await claimDueEmails(tx, rest(claim, first))
    this.#isCrowded = first.length + claimed.length === claim.limit
    return [...first, ...claimed]
  }

  #claimShares(tx: Db, claim: Claim, full: ReadonlySet<number>) {
    return this.#shares.claimNext(tx, claim, {
      isExcluded: (businessId) => full.has(businessId),
      claimShares: (shares) => claimEmailShares(tx, claim, shares),
    })
  }

  /**
   * A share may come too late for an urgent mail if many businesses have mails. At most every second claim,
   * so that the shares are half of them, and in at most a twentieth of the time.
   */
  async #claimUrgent(tx: Db, claim: Claim, full: ReadonlySet<number>) {
    this.#wasUrgent = !this.#wasUrgent && !isBefore(claim.now, this.#urgentClaimAt ?? claim.now)
    if (!this.#wasUrgent) return []
    const startedAt = monotonicMs()
    const urgent = await claimUrgentEmails(tx, claim, [...full])
    const milliseconds = Math.ceil(20 * (monotonicMs() - startedAt))
    this.#urgentClaimAt = claim.now.add({ milliseconds })
    return urgent
  }

  #fullBusinesses() {
    const busy = new Set([...this.#inProgress.keys()].map(({ businessId }) => businessId))
    return new Set([...busy].filter((businessId) => this.#parts.mailer.isFull(businessId)))
  }

  #track(mail: ClaimedEmail, work: Promise<void>) {
    this.#inProgress.set(mail, this.#parts.now())
    void work.catch(this.#parts.onError).finally(() => {
      this.#inProgress.delete(mail)
      if (![...this.#inProgress.keys()].some(({ worker }) => worker === mail.worker))
        this.#finished.push(mail.worker)
      this.wake()
    })
  }

  /** At most for a moment: the mail server may hang, and mails become useless meanwhile. */
  async #waitForEnd() {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onEnd.push(resolve)
    const timer = setTimeout(resolve, MAX_REST_MS)
    await promise
    clearTimeout(timer)
  }

  async #deliver(mail: ClaimedEmail, unwanted: Unwanted | undefined) {
    const outcome = unwanted ? undefined : await this.#attempt(mail)
    if (outcome === 'not attempted') {
      await this.#untilDone(() => this.#release(mail))
      return
    }
    if (outcome?.kind === 'unavailable') {
      await this.#untilDone(() => this.#freeUnsent(mail, outcome))
      return
    }
    if (outcome?.kind === 'postponed') {
      if (outcome.isUnsigned) await this.#noteUnsigned(mail, outcome)
      const until = this.#parts.now().add({ milliseconds: Math.ceil(outcome.waitMs) })
      const postponed = { mail, until, reason: outcome.reply }
      await this.#untilDone(() => postponeEmails(this.#parts.db, [postponed]))
      return
    }
    const moved = await this.#keepRecording({ mail, outcome, unwanted })
    if (outcome?.kind === 'sent') await this.#parts.problems?.solve(signingOf(mail))
    if (moved) await this.#replanned.add(moved)
  }

  async #attempt(mail: ClaimedEmail): Promise<Outcome | 'not attempted'> {
    this.#sending++
    this.#preparing.add(mail)
    this.#server.noteBegun(this.#parts.now())
    try {
      const sent = await this.#send(mail)
      if (sent === 'not attempted') return sent
      if (sent.kind === 'postponed') {
        if (sent.reply === REASONS.domainPaused) this.#server.noteDomainPaused(this.#parts.now())
        return sent
      }
      const outcome = this.#server.judge(sent, this.#parts.now())
      this.#server.note(outcome, this.#parts.now(), mail.emailId)
      this.#parts.onAttempt?.(outcome)
      return outcome
    } finally {
      this.#sending--
      this.#server.noteEnded()
      this.#preparing.delete(mail)
      this.#answerRate.count()
      this.wake()
    }
  }

  /** If `message_ended` was not committed, the end was not sent, and the server has no mail. */
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
    const to = mail.toAddress
    const signers = await this.#findSigners(mail)
    if (!Array.isArray(signers)) return signers
    const { mailFrom, mailer, bounceAddress } = this.#parts
    const send = (message: Message) => {
      this.#preparing.delete(mail)
      const from = bounceAddress?.({ ...mail, messageId: message.messageId }) ?? mailFrom.address
      return mailer.send({
        businessId: mail.businessId,
        from,
        to,
        message,
        signers,
        beforeMessageEnd,
      })
    }
    try {
      const outcome = await this.#withFiles(mail, send)
      return isEndRefused ? 'not attempted' : outcome
    } catch (error) {
      if (isEndRefused) return 'not attempted'
      throw error
    }
  }

  /** The keys of the sender's own domain. Without them the mail waits: unsigned mail is refused. */
  async #findSigners({ businessId, senderDomain: domain }: ClaimedEmail) {
    if (domain === null) return []
    try {
      return await this.#senderKeys.signersOf({ businessId, domain })
    } catch (error) {
      if (!isTransient(error)) return unsigned(error)
      this.#parts.onError(error)
      return 'not attempted'
    }
  }

  /** A key that cannot sign is the operator's problem. Mails of other senders go on. */
  async #noteUnsigned(mail: ClaimedEmail, { reply }: Postponed) {
    const { businessId, senderDomain: domain } = mail
    if (domain) this.#senderKeys.forget({ businessId, domain })
    const detail = `${reasonText('unsigned', { name: domain ?? 'DKIM_DOMAIN' })}: ${reply}`
    const concerned = domain ? businessId : null
    await this.#parts.problems?.note({ problem: signingOf(mail), businessId: concerned, detail })
  }

  /** The message, or the failure of this mail if its content cannot be read. */
  async #read(mail: ClaimedEmail): Promise<Message | Outcome | 'not attempted'> {
    try {
      const { text } = await readBody(this.#parts.db, mail.businessId, mail.message)
      return readMessage(encodeDraft(text, mail))
    } catch (error) {
      if (error instanceof UnreadableBody) {
        return { kind: 'failed', phase: 'connect', reply: error.message }
      }
      this.#parts.onError(error)
      return 'not attempted'
    }
  }

  /** 'not attempted' if the content or the files cannot be read now. */
  async #withFiles(
    mail: ClaimedEmail,
    send: (message: Message) => Promise<Outcome>,
  ): Promise<Outcome | 'not attempted'> {
    const message = await this.#read(mail)
    if (message === 'not attempted' || 'kind' in message) return message
    const fileUUIds = filesIn(message)
    if (fileUUIds.length === 0) return send(message)
    let isRead = false
    const sendWhole = async (whole: Message | undefined) => {
      isRead = true
      return whole ? send(whole) : FILE_DELETED
    }
    try {
      const outcome = await this.#files.use(mail.businessId, message, fileUUIds, sendWhole)
      return outcome === 'busy' ? FILES_BUSY : outcome
    } catch (error) {
      if (isRead) throw error
      this.#parts.onError(error)
      return 'not attempted'
    }
  }

  /** Pauses first, so that the mail server is not called in a loop while the database refuses writes. */
  async #release(mail: ClaimedEmail) {
    await sleep(RETRY_MS)
    await releaseEmails(this.#parts.db, [mail])
  }

  /** A mail whose sender was refused goes to the end of the queue, so that another is tried next. */
  async #freeUnsent(mail: ClaimedEmail, outcome: Unavailable) {
    if (!isRefusedSender(outcome)) return this.#free(mail)
    await postponeEmails(this.#parts.db, [{ mail, until: this.#parts.now(), reason: null }])
  }

  #free(mail: ClaimedEmail) {
    return this.#released.add(mail)
  }

  /** The server's answer must not be lost, or the mail would be sent again. */
  async #keepRecording(attempted: Attempted) {
    for (;;) {
      const recorded = await this.#recordWithOthers(attempted)
      if (recorded !== 'locked') return recorded
      await sleep(RETRY_MS)
    }
  }

  async #recordWithOthers(attempted: Attempted) {
    try {
      return await this.#recorded.add(attempted)
    } catch (error) {
      // If it cannot be recorded with others, it is recorded alone.
      this.#parts.onError(error)
    }
    const [recorded] = await this.#untilDone(() => this.#record([attempted]))
    return recorded
  }

  /** Retries while the database is away, busy or locked. */
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

  /**
   * Returns for each mail its trigger, if its object moved and it must be planned again; 'locked' if
   * another transaction has locked the trigger, or the business of a bounced mail.
   */
  async #record(attempts: Attempted[]) {
    const { db } = this.#parts
    const now = this.#parts.now()
    const { free, endings, moved } = await db.transaction(async (tx) => {
      const free = await lockFreeAttempts(tx, attempts)
      const endings = free.map((attempted) => decideEmailEnding(attempted, now))
      const bounced = free.flatMap(findBounce)
      const softBounced = free.filter(isSoftBounced).map(({ mail }) => mail)
      // One round trip.
      const [, , moved] = await Promise.all([
        endEmails(tx, endings, now),
        bounced.length > 0 && suppress(tx, bounced, { user: 'SYSTEM', now }),
        endTriggersOf(tx, endings, now),
      ])
      await recordSoftBounces(tx, softBounced, { user: 'SYSTEM', now })
      hintChangedTriggers(tx, endings)
      return { free: new Set(free), endings, moved }
    })
    const ended = endings.filter(({ nextAttemptTime }) => nextAttemptTime === null)
    this.#parts.onEmailsEnded?.(ended.map(({ status }) => status))
    const movedById = new Map(moved.map((trigger) => [trigger.eventTriggerId, trigger]))
    return attempts.map((attempted) =>
      free.has(attempted) ? movedById.get(attempted.mail.eventTriggerId!) : ('locked' as const),
    )
  }
}

const signingOf = ({ businessId, senderDomain }: ClaimedEmail) =>
  senderDomain ? `signing for ${senderDomain} of business ${businessId}` : 'signing for DKIM_DOMAIN'

/**
 * Postpones the due mails of businesses whose mail is paused; for a moment, if another transaction is
 * changing the business. Returns those that were claimed.
 */
async function postponePausedMails(tx: Db, claimed: ClaimedEmail[], now: Temporal.Instant) {
  const ofPaused = claimed.filter((mail) => mail.mailPaused)
  if (ofPaused.length === 0) return []
  const isPaused = await lockFreeBusinesses(tx, ofPaused)
  const having = (state: boolean | undefined) =>
    ofPaused.filter(({ businessId }) => isPaused.get(businessId) === state)
  const [paused, locked] = [having(true), having(undefined)]
  await postponePausedEmails(tx, paused, { now, until: now.add(PAUSE_CHECKED_EVERY) })
  await postponeEmails(tx, lockedUntil(locked, now))
  return [...paused, ...locked]
}

/** Locks what recording these attempts changes or refers to; returns those for which it is free. */
async function lockFreeAttempts(tx: Db, attempts: Attempted[]) {
  const bounced = attempts.filter((one) => isSoftBounced(one) || findBounce(one).length > 0)
  const ofTriggers = attempts.map(({ mail }) => mail).filter((mail) => mail.eventTriggerId !== null)
  if (ofTriggers.length + bounced.length === 0) return attempts
  const [triggerIds, businessIds] = await Promise.all([
    lockFreeTriggersOf(tx, ofTriggers),
    bounced.length === 0
      ? new Set<number>()
      : lockReferableBusinesses(
          tx,
          bounced.map(({ mail }) => mail),
        ),
  ])
  const isFree = ({ mail }: Attempted) =>
    mail.eventTriggerId === null || triggerIds.has(mail.eventTriggerId)
  return attempts.filter(
    (one) => isFree(one) && (!bounced.includes(one) || businessIds.has(one.mail.businessId)),
  )
}

/** The same claim without the mails that it has already. */
const rest = (claim: Claim, claimed: ClaimedEmail[]) => ({
  ...claim,
  limit: claim.limit - claimed.length,
})

/** Counts the answers of the mail server, to estimate how many will come in a moment. */
class AnswerRate {
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

/** Short, because a claimed mail is not checked again, and no other worker can claim it. */
const AHEAD_MS = 250

/** How often the mails of a paused business are re-checked. Resuming makes them due at once. */
const PAUSE_CHECKED_EVERY = { minutes: 5 }

const USELESS_ENDED_EVERY = { seconds: 5 }

const NONE_FOUND = { unwanted: new Map<number, Unwanted>(), postponed: [] }

const FILE_DELETED: Outcome = {
  kind: 'failed',
  phase: 'connect',
  reply: reasonText('fileDeleted'),
}
const FILES_BUSY: Outcome = {
  kind: 'postponed',
  phase: 'connect',
  reply: reasonText('filesBusy'),
  waitMs: 1_000,
}

/** At 800 mails a second a dozen are recorded together. */
const GATHER_MS = 10

const MAX_RECORDINGS = 5
const RETRY_MS = 500

const MAX_STOP_WAIT_MS = 5_000
