import { REASONS, reasonText } from '../contract/reasons.ts'
import { isNoSuchMailbox, isSoft, statusOfReply } from '../email/bounce.ts'
import { waitAfter, type Outcome, type Postponed, type Unavailable } from '../email/mailer.ts'
import type { ClaimedEmail, EmailEnding } from '../store/email-queue.ts'
import { isBefore, usefulUntil } from './timing.ts'

/** A mail that a worker claimed, and its outcome. */
export type Attempted = {
  mail: ClaimedEmail
  /** Undefined if it was not attempted; `unwanted` says why. */
  outcome: Exclude<Outcome, Unavailable | Postponed> | undefined
  unwanted: Unwanted | undefined
}

/** Why a mail is not attempted. */
export type Unwanted = { status: 'CANCELLED' | 'SUPPRESSED' | 'FAILED'; statusReason: string }

/** The status of a mail after an attempt, and when it is attempted again. */
export function decideEmailEnding(
  { mail, outcome, unwanted }: Attempted,
  now: Temporal.Instant,
): EmailEnding {
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
      // An earlier attempt may have delivered it, whatever the server says now.
      const isUncertain = outcome.kind === 'uncertain' || mail.status === 'UNCERTAIN'
      const isRepeatedEnough = outcome.kind === 'uncertain' && mail.uncertainAttempts >= MAX_REPEATS
      const until = usefulUntil(mail)
      if (!isBefore(now, until) || isRepeatedEnough) {
        const reason = gaveUp(attempts, reply)
        const statusReason = isUncertain ? `${REASONS.maybeSent}: ${reason}` : reason
        return { ...base, status: 'FAILED', statusReason, attempt }
      }
      const status = isUncertain ? 'UNCERTAIN' : 'RETRYING'
      const next = now.add(waitAfter(attempts))
      const nextAttemptTime = isBefore(next, until) ? next : until
      return { ...base, status, statusReason: reply, attempt, nextAttemptTime }
    }
  }
}

/**
 * How often a mail is sent again if the server may have it already, or if its worker died. Each time
 * the recipient may get it once more.
 */
export const MAX_REPEATS = 10

export const gaveUp = (attempts: number, answer: string) =>
  `${attempts === 1 ? reasonText('gaveUpOnce') : reasonText('gaveUp', { count: attempts })}: ${answer}`

/** Suppresses the address only if its mailbox does not exist; see `isNoSuchMailbox`. */
export function findBounce({ mail, outcome }: Attempted) {
  if (outcome?.kind !== 'failed' || outcome.phase !== 'rcpt') return []
  if (!isNoSuchMailbox(statusOfReply(outcome.reply))) return []
  const { businessId, toAddress: emailAddress } = mail
  return [{ businessId, emailAddress, reason: 'BOUNCED' as const, detail: outcome.reply }]
}

/** The mail was refused because of the state of the mailbox, such as a full one. */
export const isSoftBounced = ({ outcome }: Attempted) =>
  outcome?.kind === 'failed' && outcome.phase === 'rcpt' && isSoft(statusOfReply(outcome.reply))
