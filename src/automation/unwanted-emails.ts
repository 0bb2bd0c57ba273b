import { REASONS, reasonText, SUPPRESSED_REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import type { ClaimedEmail } from '../store/email-queue.ts'
import type { MailOutage } from '../store/mail-servers.ts'
import type { SettingsCache } from '../store/settings.ts'
import { objectKeyOf, type Subject } from '../store/subject.ts'
import { gaveUp, MAX_REPEATS, type Unwanted } from './email-outcome.ts'
import { lockedUntil, lockFreeDefinitionsOf, lockFreeSubjects } from './share-locks.ts'
import { refusalsAtFiring } from './match.ts'
import { firingTime, isBefore, isOfUse, isReminder, mailQuietUntil, usefulUntil } from './timing.ts'

type Checking = {
  settings: SettingsCache
  now: Temporal.Instant
  /** Why the mail server accepts no mail now. */
  outage: MailOutage | undefined
}

/**
 * Checks again which mails must not be sent, because of changes since they were made or attempted, and
 * which must wait: until quiet hours end, or for a moment, because another transaction is changing their
 * object or definition.
 */
export async function findUnwanted(tx: Db, claimed: ClaimedEmail[], checking: Checking) {
  const unwanted = new Map<number, Unwanted>()
  const { stale, quietUntil, locked } = await findStale(tx, claimed, checking)
  for (const mail of claimed.filter((one) => !locked.has(one))) {
    const found = whyUnwanted(mail, stale.get(mail.emailId), checking.outage)
    if (!found) continue
    const mayBeSent = mail.isExpired || mail.status === 'UNCERTAIN'
    unwanted.set(mail.emailId, mayBeSent ? asMaybeSent(found) : found)
  }
  const quiet = claimed.flatMap((mail) => {
    const until = unwanted.has(mail.emailId) ? undefined : quietUntil.get(mail.emailId)
    return until ? [{ mail, until, reason: REASONS.quietHours }] : []
  })
  return { unwanted, postponed: [...quiet, ...lockedUntil([...locked], checking.now)] }
}

function whyUnwanted(
  mail: ClaimedEmail,
  staleReason: string | undefined,
  outage: MailOutage | undefined,
): Unwanted | undefined {
  const { businessActive, suppressed, attempts, workerDeaths } = mail
  if (!businessActive) return { status: 'CANCELLED', statusReason: REASONS.businessInactive }
  if (mail.isExpired) return { status: 'FAILED', statusReason: REASONS.restoredSince }
  if (staleReason === REASONS.uselessNow) return endUseless(mail, outage)
  if (staleReason) return { status: 'CANCELLED', statusReason: staleReason }
  if (suppressed) return { status: 'SUPPRESSED', statusReason: SUPPRESSED_REASONS[suppressed] }
  if (workerDeaths <= MAX_REPEATS) return undefined
  const statusReason = gaveUp(attempts, reasonText('workerStopped'))
  return { status: 'FAILED', statusReason }
}

/** FAILED if the mail server did not accept it, CANCELLED if it was never tried. */
function endUseless(mail: ClaimedEmail, outage: MailOutage | undefined): Unwanted {
  const { mailResumedTime, attempts, lastAnswer } = mail
  if (mailResumedTime && !isBefore(mailResumedTime, usefulUntil(mail)))
    return { status: 'CANCELLED', statusReason: REASONS.uselessWhilePaused }
  if (attempts > 0)
    return { status: 'FAILED', statusReason: gaveUp(attempts, lastAnswer ?? REASONS.uselessNow) }
  if (outage)
    return { status: 'FAILED', statusReason: `${REASONS.serverTookNone}: ${outage.reply}` }
  return { status: 'CANCELLED', statusReason: REASONS.uselessNow }
}

/** Not CANCELLED: the same reminder could be planned again, and be sent a second time. */
const asMaybeSent = ({ statusReason }: Unwanted): Unwanted => ({
  status: 'FAILED',
  statusReason: `${REASONS.maybeSent}: ${statusReason}`,
})

/**
 * Mails whose object was cancelled or moved, that are no longer useful, that quiet hours delay, or that
 * cannot be checked now because of a lock.
 */
async function findStale(tx: Db, claimed: ClaimedEmail[], { settings, now }: Checking) {
  const stale = new Map<number, string>()
  const quietUntil = new Map<number, Temporal.Instant>()
  const locked = new Set<ClaimedEmail>()
  for (const mail of claimed) {
    const isSentByUser = mail.eventDefnId === null || mail.fireNow
    if (isSentByUser && isBefore(usefulUntil(mail), now))
      stale.set(mail.emailId, REASONS.uselessNow)
  }
  const ofTriggers = claimed.filter((mail) => mail.eventDefnId !== null) as (ClaimedEmail & {
    eventDefnId: number
    anchorTime: Temporal.Instant
    scheduledTime: Temporal.Instant
    objectType: Subject['objectType']
  })[]
  if (ofTriggers.length === 0) return { stale, quietUntil, locked }
  const [subjects, definitions] = await Promise.all([
    lockFreeSubjects(tx, settings, ofTriggers),
    lockFreeDefinitionsOf(tx, ofTriggers),
  ])
  for (const mail of ofTriggers) {
    const definition = definitions.get(mail.eventDefnId)
    const subject = subjects.get(objectKeyOf(mail))
    if (!definition || !subject) {
      locked.add(mail)
      continue
    }
    const until = mailQuietUntil(mail, subject, now)
    if (until) quietUntil.set(mail.emailId, until)
    const [refusal] = refusalsAtFiring(definition, subject)
    if (refusal) stale.set(mail.emailId, refusal)
    else if (!mail.fireNow) {
      const isMoved =
        isReminder(definition) &&
        !firingTime(definition, subject)?.anchorTime.equals(mail.anchorTime)
      if (isMoved) stale.set(mail.emailId, reasonText('moved', { objectType: mail.objectType }))
      else if (!isOfUse(definition, mail.anchorTime, mail.scheduledTime, now)) {
        stale.set(mail.emailId, REASONS.uselessNow)
      }
    }
  }
  return { stale, quietUntil, locked }
}
