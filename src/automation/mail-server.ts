import { hideAddresses } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import type { Mailer, Outcome, Unavailable } from '../email/mailer.ts'
import {
  findMailServer,
  saveMailOutage,
  saveMailServerWorks,
  type MailOutage,
} from '../store/mail-servers.ts'
import {
  EMAIL_QUEUE,
  hasWaitingEmails,
  retryDeferredEmails,
  type DeferredEmail,
} from '../store/email-queue.ts'
import { findNextDueTime } from '../store/queue.ts'
import { isBefore } from './timing.ts'

/** The mail server accepts no mail, still accepts none, or accepts mails again. */
export type MailServerChange = MailOutage & {
  server: string
  isWorking: boolean
  /** How long it has accepted no mail. */
  seconds: number
}

type MailServerParts = {
  db: Db
  mailer: Mailer
  /** Called rarely: a server that alternates between failing and working is reported every few minutes. */
  onMailServer?(change: MailServerChange): void
}

/**
 * Whether the mail server accepts mails. A failure that concerns the server and not the mail pauses
 * delivery. It is then probed, and one mail is tried before all others follow.
 *
 * | state    | outage | isOnTrial | mails at a time | next state                                  |
 * |----------|--------|-----------|-----------------|---------------------------------------------|
 * | works    | unset  | false     | any number      | paused, if the server is unavailable, or    |
 * |          |        |           |                 | accepts nothing for a minute though it is   |
 * |          |        |           |                 | tried with mails                            |
 * | paused   | set    | false     | none            | on trial, if a probe succeeds               |
 * | on trial | set    | true      | one             | works, if it accepts or rejects one, or no  |
 * |          |        |           |                 | mail waits; paused, if it is unavailable or |
 * |          |        |           |                 | defers two, or five because of recipients   |
 */
export class MailServer {
  readonly #parts: MailServerParts
  #outage: MailOutage | undefined
  /** Mails that were deferred since then, just before the outage or in it, are tried again after it. */
  #deferredSince: Temporal.Instant | undefined
  /** An outage that has ended, until all mails that it deferred are due again. */
  #ended:
    | { since: Temporal.Instant; until: Temporal.Instant; after?: DeferredEmail | undefined }
    | undefined
  /** When a person last asked for a try. */
  #askedAt: Temporal.Instant | undefined
  /** Failures since the server last answered to a mail. */
  #failures = 0
  #probeAt: Temporal.Instant | undefined
  /** When the last try that failed began: a person may have asked for another one since. */
  #failedTryAt: Temporal.Instant | undefined
  /** Mails that the server has not answered yet. */
  #unanswered = 0
  /** The last answer, or when it got the first of these mails. */
  #silentSince: Temporal.Instant | undefined
  /** The mails that it deferred (4xx) since it last accepted one. */
  #deferred = new Deferrals()
  /** Set if a probe succeeded, and no mail was accepted since: what the server deferred since then. */
  #trial: Deferrals | undefined
  /** On trial: the next mail is the one that loses its use first, or else the oldest one. */
  #isUrgentNext = true
  /** Whether the state that an earlier process stored was read. */
  #isRead = false
  /** The changes that are not stored yet. */
  #changes: 'none' | 'accepted' | 'state' = 'none'
  #acceptedAt: Temporal.Instant | undefined
  #acceptedSavedAt: Temporal.Instant | undefined
  #reportedAt: Temporal.Instant | undefined
  /** Whether this outage was reported, so that its end must be reported too. */
  #isReported = false

  constructor(parts: MailServerParts) {
    this.#parts = parts
  }

  get outage() {
    return this.#outage
  }

  /** No mail may be sent until a probe succeeds. */
  get isPaused() {
    return this.#outage !== undefined && !this.isOnTrial
  }

  isProbeDue(now: Temporal.Instant) {
    return this.isPaused && !isBefore(now, this.#probeAt!)
  }

  /** One mail is tried at a time. */
  get isOnTrial() {
    return this.#trial !== undefined
  }

  /**
   * On trial, if mails were begun at these times: one that hangs does not keep another from being tried for
   * ever, nor if a person asks for it.
   */
  mayTryAnother(begun: Iterable<Temporal.Instant>, now: Temporal.Instant) {
    const since = now.subtract(TRIED_AGAIN_AFTER)
    const isWaitedFor = (one: Temporal.Instant) =>
      isBefore(since, one) && !(this.#askedAt && isBefore(one, this.#askedAt))
    return ![...begun].some(isWaitedFor)
  }

  /**
   * The mail that is tried is the one that loses its use first. If the server does not accept that one, the
   * reason may be the mail, so the oldest one follows.
   */
  get isUrgentNext() {
    return this.isOnTrial && this.#isUrgentNext
  }

  /** Opens a connection without a mail. */
  async probe(now: () => Temporal.Instant): Promise<Unavailable | undefined> {
    const begunAt = now()
    const trouble = await this.#parts.mailer.check()
    // A mail that was begun before the pause was accepted meanwhile, and says more than the probe.
    if (!this.#outage) return trouble
    if (trouble) this.#fail(trouble, now(), { begunAt })
    else this.#trial = new Deferrals()
    return trouble
  }

  /** Updates the state with the outcome of a mail. */
  note(outcome: Outcome, now: Temporal.Instant, emailId: number) {
    if (outcome.kind === 'unavailable') return this.#fail(outcome, now)
    if (outcome.kind === 'sent') this.#accept(now)
    if (isAnswered(outcome)) this.#silentSince = now
    if (outcome.kind === 'retry') {
      this.#deferred.add(outcome, now, emailId)
      this.#trial?.add(outcome, now, emailId)
      if (this.#trial?.areEnough) this.#fail(this.#trial.last!, now)
    } else if (isAnswered(outcome) && !this.#deferred.areMany) {
      this.#failures = 0
      this.#recover(now)
    }
  }

  /** No mail was tried, because the server deferred others to the same domain. */
  noteDomainPaused(now: Temporal.Instant) {
    this.#deferred.repeat(now)
  }

  noteBegun(now: Temporal.Instant) {
    if (this.#unanswered === 0) this.#silentSince = now
    this.#unanswered++
    if (this.isOnTrial) this.#isUrgentNext = !this.#isUrgentNext
  }

  noteEnded() {
    this.#unanswered--
  }

  /**
   * A server that accepts nothing for a minute has failed, although it may accept connections: it answers
   * no mail, or it defers every one. Mails that only wait for their next attempt do not count.
   */
  async checkAccepting(now: Temporal.Instant) {
    if (this.#outage) return
    const found = (await this.#findSilence(now)) ?? this.#deferred.findOutage()
    if (!found || (await this.#isAcceptingElsewhere(now))) return
    this.#fail(found, now, { since: found.since })
  }

  /**
   * A refused sender is a failure of that mail alone if another mail was accepted recently: all mails
   * have the same sender, the operator's.
   */
  judge(outcome: Outcome, now: Temporal.Instant): Outcome {
    if (!isRefusedSender(outcome) || !this.#acceptedAt) return outcome
    if (isBefore(this.#acceptedAt.add(SENDER_ACCEPTED_FOR), now)) return outcome
    const { phase, reply } = outcome
    return { kind: 'retry', phase, reply }
  }

  /** No mail is due that could be tried: the probe alone decides, unless others hang or were deferred. */
  async noteNothingDue(now: Temporal.Instant) {
    const trial = this.#trial
    if (!trial || this.#unanswered > 0) return
    const { db } = this.#parts
    if (this.#deferred.areMany && (await hasWaitingEmails(db))) {
      const since = this.#deferredSince!
      const deferred = { since, until: now, except: [...trial.emailIds] }
      const retried = await retryDeferredEmails(db, { ...deferred, now, limit: 1 })
      if (retried.length === 0 && trial.last) this.#fail(trial.last, now)
      return
    }
    this.#recover(now)
  }

  /** Stores changes, for other nodes and for people. The first call reads the stored state. */
  async synchronise(now: Temporal.Instant) {
    const { db, mailer } = this.#parts
    if (mailer.server === null) return
    if (!this.#isRead) await this.#read(mailer.server, now)
    if (this.#changes === 'none') {
      if (this.#outage) await this.#readInOutage(mailer.server, now)
      else await this.#retryDeferred(now)
      return
    }
    const isFirst = this.#acceptedSavedAt === undefined
    const isSoon = !isFirst && isBefore(now, this.#acceptedSavedAt!.add(ACCEPTED_SAVED_EVERY))
    if (this.#changes === 'accepted' && isSoon) return
    this.#changes = 'none'
    try {
      if (this.#outage) await saveMailOutage(db, mailer.server, this.#outage, now)
      else {
        this.#acceptedSavedAt = now
        await saveMailServerWorks(db, mailer.server, this.#acceptedAt)
        await this.#retryDeferred(now)
      }
    } catch (error) {
      this.#changes = 'state'
      throw error
    }
  }

  /** For a clock that was set back: a paused server is probed at once. */
  forgetTimes(now: Temporal.Instant) {
    if (this.#outage) {
      this.#probeAt = now
      this.#outage = { ...this.#outage, since: earlier(this.#outage.since, now) }
      this.#deferredSince = earlier(this.#deferredSince!, now)
    }
    this.#askedAt = undefined
    this.#silentSince = now
    this.#deferred = new Deferrals()
    this.#acceptedAt = undefined
    this.#acceptedSavedAt = undefined
    this.#reportedAt = undefined
  }

  /** The outage was why these mails were deferred. More than one statement may hold follow at the next step. */
  async #retryDeferred(now: Temporal.Instant) {
    if (!this.#ended || this.#outage) return
    const retried = await retryDeferredEmails(this.#parts.db, {
      ...this.#ended,
      except: [],
      now,
      limit: MAX_RETRIED,
    })
    // Only the mails that follow: the domain of one of these may ask for another pause meanwhile.
    this.#ended =
      retried.length < MAX_RETRIED ? undefined : { ...this.#ended, after: retried.at(-1) }
  }

  /** A restart does not end an outage: the first step is a probe. */
  async #read(server: string, now: Temporal.Instant) {
    const stored = await findMailServer(this.#parts.db, server)
    this.#isRead = true
    if (!stored?.outage || this.#outage) return
    this.#outage = stored.outage
    this.#deferredSince = stored.outage.since
    this.#probeAt = now
  }

  /** A person may have asked to try it at once, or another node may have found that it works. */
  async #readInOutage(server: string, now: Temporal.Instant) {
    if (!this.#failedTryAt || isBefore(now, this.#failedTryAt.add(MIN_PROBE_REST))) return
    const stored = await findMailServer(this.#parts.db, server)
    const asked = stored?.retryRequestedTime
    this.#askedAt = asked ?? undefined
    if (!stored?.outage || (asked && isBefore(this.#failedTryAt, asked))) this.#probeAt = now
  }

  /** One mail that hangs, while no other waits, does not tell about the server. */
  async #findSilence(now: Temporal.Instant): Promise<Failure | undefined> {
    const since = this.#silentSince
    if (this.#unanswered === 0 || !since || isBefore(now, since.add(MAX_UNACCEPTED)))
      return undefined
    if (this.#unanswered === 1) {
      const next = await findNextDueTime(this.#parts.db, EMAIL_QUEUE)
      if (!next || isBefore(now, next)) return undefined
    }
    const reply = 'no mail was answered for a minute'
    return { since, kind: 'unavailable', phase: 'end', reply }
  }

  /** Another node may have had luck with the same server. */
  async #isAcceptingElsewhere(now: Temporal.Instant) {
    const { db, mailer } = this.#parts
    const accepted = (await findMailServer(db, mailer.server ?? ''))?.lastAcceptedTime
    if (!accepted || !isBefore(now.subtract(MAX_UNACCEPTED), accepted)) return false
    this.#deferred = new Deferrals()
    return true
  }

  #accept(now: Temporal.Instant) {
    this.#acceptedAt = now
    this.#deferred = new Deferrals()
    if (this.#changes === 'none') this.#changes = 'accepted'
  }

  #fail(
    { phase, reply }: Unavailable,
    now: Temporal.Instant,
    { begunAt = now, since = now }: { begunAt?: Temporal.Instant; since?: Temporal.Instant } = {},
  ) {
    // Mails that were begun before the pause fail in the same way.
    if (this.isPaused && isBefore(now, this.#probeAt!)) return
    this.#failures += 1
    this.#failedTryAt = begunAt
    // A probe of a silent server may take longer than this.
    this.#probeAt = begunAt.add({ seconds: probeAfterSeconds(this.#failures) })
    this.#trial = undefined
    if (!this.#outage) this.#deferredSince = this.#deferred.since(since)
    // The log and the overview of every business show the reply, and some replies name the account.
    this.#outage = { since: this.#outage?.since ?? since, phase, reply: hideAddresses(reply) }
    this.#changes = 'state'
    this.#report(now)
  }

  #recover(now: Temporal.Instant) {
    if (!this.#outage) return
    const outage = this.#outage
    this.#outage = undefined
    this.#isUrgentNext = true
    // An outage before this one may have left mails that no step has retried.
    this.#ended = { since: this.#ended?.since ?? this.#deferredSince!, until: now }
    this.#trial = undefined
    this.#changes = 'state'
    if (this.#isReported) this.#notify(outage, true, now)
    this.#isReported = false
  }

  /** Reports the beginning of an outage, and then every hour; at most every five minutes. */
  #report(now: Temporal.Instant) {
    const pause = this.#isReported ? REMIND_EVERY : REPORT_EVERY
    if (this.#reportedAt && isBefore(now, this.#reportedAt.add(pause))) return
    this.#reportedAt = now
    this.#isReported = true
    this.#notify(this.#outage!, false, now)
  }

  #notify(outage: MailOutage, isWorking: boolean, now: Temporal.Instant) {
    const seconds = (now.epochMilliseconds - outage.since.epochMilliseconds) / 1000
    const server = this.#parts.mailer.server ?? ''
    this.#parts.onMailServer?.({ ...outage, server, isWorking, seconds })
  }
}

type Failure = Unavailable & { since: Temporal.Instant }

/**
 * The mails that a server deferred since it last accepted one. A single mail may be greylisted, or its
 * mailbox full: only several tell about the server.
 */
class Deferrals {
  readonly emailIds = new Set<number>()
  #areOfRecipients = true
  #first: Temporal.Instant | undefined
  #latest: Temporal.Instant | undefined
  last: Unavailable | undefined

  add({ phase, reply }: Outcome, now: Temporal.Instant, emailId: number) {
    if (this.emailIds.size < MIN_DEFERRED_RECIPIENTS) this.emailIds.add(emailId)
    if (phase !== 'rcpt') this.#areOfRecipients = false
    this.#first ??= now
    this.#latest = now
    this.last = { kind: 'unavailable', phase, reply }
  }

  /** When the first of them was deferred, if that was before this time. */
  since(time: Temporal.Instant) {
    return this.#first ? earlier(this.#first, time) : time
  }

  /** A further mail would have been deferred in the same way. */
  repeat(now: Temporal.Instant) {
    if (this.#first) this.#latest = now
  }

  get areMany() {
    return this.emailIds.size >= MIN_DEFERRED
  }

  /** To end a trial. An answer to RCPT may concern the recipient alone. */
  get areEnough() {
    return this.emailIds.size >= (this.#areOfRecipients ? MIN_DEFERRED_RECIPIENTS : MIN_DEFERRED)
  }

  /** The last attempts were a minute after the first one, and as unsuccessful. */
  findOutage(): Failure | undefined {
    if (!this.areMany || isBefore(this.#latest!, this.#first!.add(MAX_UNACCEPTED))) return undefined
    return { since: this.#first!, ...this.last! }
  }
}

const earlier = (a: Temporal.Instant, b: Temporal.Instant) => (isBefore(b, a) ? b : a)

/** The server answered to a mail, and refused its sender. */
export const isRefusedSender = ({ kind, phase }: Outcome) =>
  kind === 'unavailable' && (phase === 'mail' || phase === 'rcpt')

/** A lost connection, or 421, does not prove that the server accepts mails. */
const isAnswered = ({ kind, reply }: Outcome) =>
  kind === 'sent' || (/^[45]\d\d/.test(reply) && !reply.startsWith('421'))

/** 5, 10, 20, then every 30 seconds: a server that works again gets its mails within this time. */
const probeAfterSeconds = (failures: number) => Math.min(5 * 2 ** (failures - 1), 30)

/** If the mail that was tried gets no answer, another one is tried. */
const TRIED_AGAIN_AFTER = { seconds: 30 }

/** However often people ask. */
const MIN_PROBE_REST = { seconds: 1 }

const MAX_UNACCEPTED = { minutes: 1 }
const MIN_DEFERRED = 2
const MIN_DEFERRED_RECIPIENTS = 5
const MAX_RETRIED = 5_000

const SENDER_ACCEPTED_FOR = { minutes: 5 }
const ACCEPTED_SAVED_EVERY = { seconds: 5 }
const REPORT_EVERY = { minutes: 5 }
const REMIND_EVERY = { hours: 1 }
