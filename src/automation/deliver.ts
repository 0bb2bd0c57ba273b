import type { Db } from '../database/database.ts'
import type { Mailer, Outcome } from '../email/mailer.ts'
import { readMessage } from '../email/message.ts'
import {
  claimDueEmails,
  endEmails,
  endTriggersOf,
  lockTriggersOf,
  markMessagesEnded,
  type ClaimedEmail,
  type EmailEnding,
  type EndedTrigger,
} from '../store/email-queue.ts'
import { holdDefinitions } from '../store/event-definitions.ts'
import { holdSubjects } from '../store/subjects.ts'
import { suppress } from '../store/suppressions.ts'
import { refusalsAtFiring } from './match.ts'
import { planAgainFor } from './schedule.ts'
import type { Subject } from './subject.ts'
import { firingTime, isReminder } from './timing.ts'
import { Together } from './together.ts'

export type Delivering = {
  db: Db
  now(): Temporal.Instant
  worker: string
  leaseSeconds: number
  mailer: Mailer
  onError(error: unknown): void
}

/** Sends what is due, as much at a time as the mail server takes. */
export class Deliveries {
  readonly #parts: Delivering
  readonly #underWay = new Set<Promise<void>>()
  readonly #ended: Together<ClaimedEmail, boolean>
  readonly #recorded: Together<Attempted, void>

  constructor(parts: Delivering) {
    this.#parts = parts
    // Many mails end at about the same moment: they share a commit.
    this.#ended = new Together((mails) => this.#commitEnded(mails))
    this.#recorded = new Together((attempts) => this.#record(attempts))
  }

  /** Begins what is due; gives back how many mails that are. Does not wait for their end. */
  async begin(): Promise<number> {
    const { db, mailer, now, worker, leaseSeconds } = this.#parts
    const limit = Math.min(mailer.room(), MOST_AT_ONCE)
    if (limit <= 0) {
      await Promise.race(this.#underWay)
      return 1
    }
    const claim = { worker, now: now(), leaseUntil: now().add({ seconds: leaseSeconds }), limit }
    const { claimed, stale } = await db.transaction(async (tx) => {
      const claimed = await claimDueEmails(tx, claim)
      const stale = claimed.length > 0 ? await findStale(tx, claimed) : new Map()
      return { claimed, stale }
    })
    for (const mail of claimed) this.#track(this.#deliver(mail, stale.get(mail.emailId)))
    return claimed.length
  }

  /** Waits for everything that is under way. */
  async settle() {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay)
  }

  #track(work: Promise<void>) {
    const tracked = work.catch(this.#parts.onError).finally(() => this.#underWay.delete(tracked))
    this.#underWay.add(tracked)
  }

  async #deliver(mail: ClaimedEmail, stale: string | undefined) {
    const outcome = stale === undefined ? await this.#attempt(mail) : undefined
    await this.#recorded.add({ mail, outcome, stale })
  }

  #attempt(mail: ClaimedEmail): Promise<Outcome> {
    return this.#parts.mailer.send({
      from: mail.fromAddress,
      to: mail.toAddress,
      message: readMessage(mail.message),
      onMessageEnded: async () => {
        if (!(await this.#ended.add(mail))) throw new Error('the lease went to another worker')
      },
    })
  }

  async #commitEnded(mails: ClaimedEmail[]) {
    const marked = await markMessagesEnded(this.#parts.db, this.#parts.worker, mails)
    return mails.map((mail) => marked.has(mail.emailId))
  }

  async #record(attempts: Attempted[]) {
    const { db, worker } = this.#parts
    const now = this.#parts.now()
    const endings = attempts.map((attempted) => endingOf(attempted, now))
    await db.transaction(async (tx) => {
      await lockTriggersOf(tx, endings)
      await endEmails(tx, worker, endings, now)
      const bounced = attempts.flatMap(bounceOf)
      if (bounced.length > 0) await suppress(tx, bounced, { user: 'SYSTEM', now })
      const ended = await endTriggersOf(tx, endings, now)
      await planMoved(
        tx,
        ended.filter((trigger) => trigger.replan),
        now,
      )
    })
    return attempts.map(() => undefined)
  }
}

const MOST_AT_ONCE = 200

type Attempted = {
  mail: ClaimedEmail
  /** None where it was not tried: then `stale` says why. */
  outcome: Outcome | undefined
  stale: string | undefined
}

/** 1, 4, 9 … minutes: most refusals pass within the hour. */
const backoff = (attempts: number) => ({ minutes: attempts ** 2 })

const MOST_ATTEMPTS = 10

function endingOf({ mail, outcome, stale }: Attempted, now: Temporal.Instant): EmailEnding {
  const base = { ...mail, nextAttemptTime: null }
  if (!outcome) {
    return { ...base, status: 'CANCELLED', statusReason: stale ?? null, attempt: null }
  }
  const { phase, reply } = outcome
  const attempt = { time: now.epochMilliseconds, phase, reply }
  const again = now.add(backoff(mail.attemptCount))
  const isLast = mail.attemptCount >= MOST_ATTEMPTS
  switch (outcome.kind) {
    case 'sent':
      return { ...base, status: 'SENT', statusReason: null, attempt }
    case 'captured':
      return { ...base, status: 'CAPTURED', statusReason: null, attempt }
    case 'failed':
      return { ...base, status: 'FAILED', statusReason: reply, attempt }
    case 'retry':
    case 'uncertain': {
      if (isLast) {
        const statusReason = `gave up after ${MOST_ATTEMPTS} attempts: ${reply}`
        return { ...base, status: 'FAILED', statusReason, attempt }
      }
      const status = outcome.kind === 'retry' ? 'RETRYING' : 'UNCERTAIN'
      return { ...base, status, statusReason: reply, attempt, nextAttemptTime: again }
    }
  }
}

/** The server knows no such mailbox; anything else that it refuses may be the message's fault. */
function bounceOf({ mail, outcome }: Attempted) {
  if (outcome?.kind !== 'failed' || outcome.phase !== 'rcpt') return []
  if (!/^55[013]\b/.test(outcome.reply)) return []
  const { businessId, toAddress: emailAddress } = mail
  return [{ businessId, emailAddress, reason: 'BOUNCED' as const, detail: outcome.reply }]
}

/** Mails that should no longer go out, with the reason: their object was cancelled or moved. */
async function findStale(tx: Db, claimed: ClaimedEmail[]): Promise<Map<number, string>> {
  const ofTriggers = claimed.filter((mail) => mail.eventDefnId !== null) as (ClaimedEmail & {
    eventDefnId: number
    anchorTime: Temporal.Instant
    objectType: Subject['objectType']
  })[]
  const subjects = new Map<string, Subject>()
  for (const [objectType, mails] of Map.groupBy(ofTriggers, (mail) => mail.objectType)) {
    for (const subject of await holdSubjects(tx, objectType, mails)) {
      subjects.set(keyOf(subject), subject)
    }
  }
  const definitions = new Map(
    (await holdDefinitions(tx, ofTriggers)).map((one) => [one.eventDefnId, one]),
  )
  const stale = new Map<number, string>()
  for (const mail of ofTriggers) {
    const definition = definitions.get(mail.eventDefnId)!
    const subject = subjects.get(keyOf(mail))!
    const [refusal] = refusalsAtFiring(definition, subject)
    const isMoved =
      isReminder(definition) &&
      !mail.fireNow &&
      !firingTime(definition, subject)?.anchorTime.equals(mail.anchorTime)
    if (refusal) stale.set(mail.emailId, refusal)
    else if (isMoved) stale.set(mail.emailId, 'its object moved before it was sent')
  }
  return stale
}

/** Reminders that could not follow their object while their mails were under way. */
async function planMoved(tx: Db, ended: EndedTrigger[], now: Temporal.Instant) {
  if (ended.length === 0) return
  const definitions = new Map(
    (await holdDefinitions(tx, ended)).map((one) => [one.eventDefnId, one]),
  )
  for (const trigger of ended) {
    const [subject] = await holdSubjects(tx, trigger.objectType, [trigger])
    const definition = definitions.get(trigger.eventDefnId)
    if (subject && definition) {
      await planAgainFor(tx, [{ subject, definition, isOldVersion: false }], now)
    }
  }
}

const keyOf = ({
  objectType,
  objectId,
  objectUUId,
}: Pick<Subject, 'objectId' | 'objectUUId'> & { objectType: string | null }) =>
  `${objectType} ${objectId ?? objectUUId}`
