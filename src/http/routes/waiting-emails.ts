import type { Caller } from '../../auth/caller.ts'
import { REASONS, reasonText } from '../../contract/reasons.ts'
import { serverOfUrl } from '../../email/smtp.ts'
import { getBusiness } from '../../store/businesses.ts'
import { findAboveLimit, listPostponedEmails } from '../../store/email-queue.ts'
import { findHold } from '../../store/installation.ts'
import { findMailServer } from '../../store/mail-servers.ts'
import { listOperatorProblems } from '../../store/operator-problems.ts'
import type { StoredEmail } from '../../store/emails.ts'
import type { Services } from '../server/services.ts'

type WaitingServices = Pick<Services, 'config' | 'database' | 'clock'>
type Reader = Pick<Caller, 'db' | 'businessId'>

/**
 * Adds the reason why queued mails wait: the database was restored, the mail of the business or the recipient domain is paused, the
 * mail server takes none, the business has reached its daily limit, or it has quiet hours.
 */
export async function explainWaiting<
  Shown extends Pick<StoredEmail, 'emailId' | 'status' | 'statusReason'>,
>(services: WaitingServices, caller: Reader, emails: Shown[]): Promise<Shown[]> {
  const isUnexplained = ({ status, statusReason }: Shown) =>
    status === 'QUEUED' && statusReason === null
  const unexplained = emails.filter(isUnexplained)
  if (unexplained.length === 0) return emails
  const { reason, dailyMailLimit } = await readPauseOrOutage(services, caller)
  const ids = unexplained.map(({ emailId }) => emailId)
  const postponed =
    reason === null
      ? await readPostponed(services, caller, ids, dailyMailLimit)
      : new Map<number, string>()
  return emails.map((email) =>
    isUnexplained(email)
      ? { ...email, statusReason: postponed.get(email.emailId) ?? reason }
      : email,
  )
}

/** Why mails of the business are not sent now; `problem` is null if they are. */
export async function readMailProblem(services: WaitingServices, caller: Reader) {
  const { paused, failingSince, reason, dailyMailLimit } = await readPauseOrOutage(services, caller)
  const { db, businessId } = caller
  const now = services.clock.now()
  if (reason !== null) return { paused, failingSince, problem: reason }
  const [until, [ofOperator]] = await Promise.all([
    findAboveLimit(db, businessId, now),
    listOperatorProblems(services.database.engine, businessId),
  ])
  const problem = until ? limitReached(dailyMailLimit, until) : (ofOperator?.detail ?? null)
  return { paused, failingSince, problem }
}

async function readPauseOrOutage(services: WaitingServices, { db, businessId }: Reader) {
  const [business, server, hold] = await Promise.all([
    getBusiness(db, businessId),
    readMailServer(services),
    findHold(services.database.engine),
  ])
  const { mailPaused, mailPausedReason, dailyMailLimit } = business
  const outage = server?.outage
  const failure = outage
    ? `${reasonText('noMailSince', { time: outage.since })}: ${outage.reply}`
    : null
  const pause = mailPausedReason ? `${REASONS.mailPaused}: ${mailPausedReason}` : REASONS.mailPaused
  return {
    paused: mailPaused,
    failingSince: outage?.since ?? null,
    reason: hold ? REASONS.databaseHeld : mailPaused ? pause : failure,
    dailyMailLimit,
  }
}

/** The reasons of postponed mails, by id. */
async function readPostponed(
  { clock }: WaitingServices,
  { db, businessId }: Reader,
  emailIds: number[],
  dailyMailLimit: number | null,
) {
  const rows = await listPostponedEmails(db, businessId, { now: clock.now(), emailIds })
  return new Map(
    rows.flatMap(({ emailId, until, isAboveLimit, reason }): [number, string][] => {
      if (isAboveLimit) return [[emailId, limitReached(dailyMailLimit, until)]]
      return reason === null
        ? []
        : [[emailId, `${reason}; ${reasonText('sentAt', { time: until })}`]]
    }),
  )
}

const limitReached = (limit: number | null, until: Temporal.Instant) =>
  reasonText('limitReached', { count: limit, time: until })

/** The state of the mail server of SMTP_URL; undefined if mails are captured, or none was sent yet. */
export async function readMailServer({ config, database }: Pick<Services, 'config' | 'database'>) {
  const server = serverOfUrl(config.smtpUrl)
  return server === undefined ? undefined : findMailServer(database.engine, server)
}
