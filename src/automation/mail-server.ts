import { hideAddresses } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import type { Mailer, Outcome, Unavailable } from '../email/mailer.ts'
import {
  findMailServer,
  saveMailOutage,
  saveMailServerWorks,
  type MailOutage,
} from '../store/mail-servers.ts'
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
 * delivery. It is then probed with backoff, and one mail is tried before all others follow.
 *
 * | state    | outage | isOnTrial | mails at a time | next state                                  |
 * |----------|--------|-----------|-----------------|---------------------------------------------|
 * | works    | unset  | false     | any number      | paused, if the server is unavailable        |
 * | paused   | set    | false     | none            | on trial, if a probe succeeds               |
 * | on trial | set    | true      | one             | works, if it is answered or no mail is due; |
 * |          |        |           |                 | paused, if the server is unavailable        |
 */
export class MailServer {
  readonly #parts: MailServerParts
  #outage: MailOutage | undefined
  /** Failures since the server last answered to a mail. */
  #failures = 0
  #probeAt: Temporal.Instant | undefined
  /** A probe succeeded, and no mail was answered since. */
  #isOnTrial = false
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
    return this.#outage !== undefined && !this.#isOnTrial
  }

  isProbeDue(now: Temporal.Instant) {
    return this.isPaused && !isBefore(now, this.#probeAt!)
  }

  /** How many mails may be in progress. */
  get maxInProgress() {
    if (this.isPaused) return 0
    return this.#isOnTrial ? 1 : Number.POSITIVE_INFINITY
  }

  /** Opens a connection without a mail. */
  async probe(now: () => Temporal.Instant): Promise<Unavailable | undefined> {
    const trouble = await this.#parts.mailer.check()
    if (trouble) this.note(trouble, now())
    else this.#isOnTrial = true
    return trouble
  }

  /** Updates the state with the outcome of a mail or probe. */
  note(outcome: Outcome, now: Temporal.Instant) {
    if (outcome.kind === 'unavailable') this.#fail(outcome, now)
    else if (isAnswered(outcome)) {
      if (outcome.kind === 'sent') this.#accept(now)
      this.#failures = 0
      this.#recover(now)
    }
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

  /** No mail is due that could be tried: the probe alone decides. */
  noteNothingDue(now: Temporal.Instant) {
    if (this.#isOnTrial) this.#recover(now)
  }

  /** Stores changes, for other nodes and for people. The first call reads the stored state. */
  async synchronise(now: Temporal.Instant) {
    const { db, mailer } = this.#parts
    if (mailer.server === null) return
    if (!this.#isRead) await this.#read(mailer.server, now)
    if (this.#changes === 'none') return
    const isFirst = this.#acceptedSavedAt === undefined
    const isSoon = !isFirst && isBefore(now, this.#acceptedSavedAt!.add(ACCEPTED_SAVED_EVERY))
    if (this.#changes === 'accepted' && isSoon) return
    this.#changes = 'none'
    try {
      if (this.#outage) await saveMailOutage(db, mailer.server, this.#outage, now)
      else {
        this.#acceptedSavedAt = now
        await saveMailServerWorks(db, mailer.server, this.#acceptedAt)
      }
    } catch (error) {
      this.#changes = 'state'
      throw error
    }
  }

  /** A restart does not end an outage: the first step is a probe. */
  async #read(server: string, now: Temporal.Instant) {
    const stored = await findMailServer(this.#parts.db, server)
    this.#isRead = true
    if (!stored?.outage || this.#outage) return
    this.#outage = stored.outage
    this.#probeAt = now
  }

  #accept(now: Temporal.Instant) {
    this.#acceptedAt = now
    if (this.#changes === 'none') this.#changes = 'accepted'
  }

  #fail({ phase, reply }: Unavailable, now: Temporal.Instant) {
    // Mails that were begun before the pause fail in the same way.
    if (this.isPaused && isBefore(now, this.#probeAt!)) return
    this.#failures += 1
    this.#probeAt = now.add({ seconds: probeAfterSeconds(this.#failures) })
    this.#isOnTrial = false
    // The log and the overview of every business show the reply, and some replies name the account.
    this.#outage = { since: this.#outage?.since ?? now, phase, reply: hideAddresses(reply) }
    this.#changes = 'state'
    this.#report(now)
  }

  #recover(now: Temporal.Instant) {
    if (!this.#outage) return
    const outage = this.#outage
    this.#outage = undefined
    this.#isOnTrial = false
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

/** The server answered to a mail, and refused its sender. */
export const isRefusedSender = ({ kind, phase }: Outcome) =>
  kind === 'unavailable' && (phase === 'mail' || phase === 'rcpt')

/** A lost connection, or 421, does not prove that the server accepts mails. */
const isAnswered = ({ kind, reply }: Outcome) =>
  kind === 'sent' || (/^[45]\d\d/.test(reply) && !reply.startsWith('421'))

/** 5, 10, 20 … seconds, at most five minutes. */
const probeAfterSeconds = (failures: number) => Math.min(5 * 2 ** (failures - 1), 300)

const SENDER_ACCEPTED_FOR = { minutes: 5 }
const ACCEPTED_SAVED_EVERY = { seconds: 5 }
const REPORT_EVERY = { minutes: 5 }
const REMIND_EVERY = { hours: 1 }
