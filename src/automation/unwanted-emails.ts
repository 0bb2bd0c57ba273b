import { OBJECT_NAMES, REASONS, SUPPRESSED_REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { waitAfter } from '../email/mailer.ts'
import type { ClaimedEmail } from '../store/email-queue.ts'
import type { SettingsCache } from '../store/settings.ts'
import { objectKeyOf, type Subject } from '../store/subject.ts'
import type { Unwanted } from './email-outcome.ts'
import { lockDefinitionsOfTriggers, lockSubjectsForShare } from './share-locks.ts'
import { refusalsAtFiring } from './match.ts'
import { firingTime, isOfUse, isReminder } from './timing.ts'

/** Checks again which mails must not be sent, by what changed since they were made or last attempted. */
export async function findUnwanted(
  tx: Db,
  settings: SettingsCache,
  claimed: ClaimedEmail[],
  now: Temporal.Instant,
) {
  const unwanted = new Map<number, Unwanted>()
  const stale = await findStale(tx, settings, claimed, now)
  for (const mail of claimed) {
    const found = whyUnwanted(mail, stale.get(mail.emailId))
    if (found) unwanted.set(mail.emailId, mail.status === 'UNCERTAIN' ? asMaybeSent(found) : found)
  }
  return unwanted
}

function whyUnwanted(mail: ClaimedEmail, staleReason: string | undefined): Unwanted | undefined {
  const { businessActive, suppressed, attempts } = mail
  const reason = businessActive ? staleReason : REASONS.businessInactive
  if (reason) return { status: 'CANCELLED', statusReason: reason }
  if (suppressed) return { status: 'SUPPRESSED', statusReason: SUPPRESSED_REASONS[suppressed] }
  if (waitAfter(attempts)) return undefined
  const statusReason = `gave up after ${attempts} attempts: the worker stopped before it recorded the answer`
  return { status: 'FAILED', statusReason }
}

/** Not CANCELLED: the same reminder could be planned again, and be sent a second time. */
const asMaybeSent = ({ statusReason }: Unwanted): Unwanted => ({
  status: 'FAILED',
  statusReason: `${REASONS.maybeSent}: ${statusReason}`,
})

/** Mails whose object was cancelled or moved, or whose reminder is no longer useful. */
async function findStale(
  tx: Db,
  settings: SettingsCache,
  claimed: ClaimedEmail[],
  now: Temporal.Instant,
) {
  const stale = new Map<number, string>()
  const ofTriggers = claimed.filter((mail) => mail.eventDefnId !== null) as (ClaimedEmail & {
    eventDefnId: number
    anchorTime: Temporal.Instant
    scheduledTime: Temporal.Instant
    objectType: Subject['objectType']
  })[]
  if (ofTriggers.length === 0) return stale
  const subjects = await lockSubjectsForShare(tx, settings, ofTriggers)
  const definitions = await lockDefinitionsOfTriggers(tx, ofTriggers)
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
