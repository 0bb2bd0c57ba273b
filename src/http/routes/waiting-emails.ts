import type { Caller } from '../../auth/caller.ts'
import { REASONS } from '../../contract/reasons.ts'
import { serverOfUrl } from '../../email/smtp.ts'
import { getBusiness, type BusinessRow } from '../../store/businesses.ts'
import { findAboveLimit, listPostponedEmails } from '../../store/email-queue.ts'
import { findMailServer } from '../../store/mail-servers.ts'
import type { StoredEmail } from '../../store/emails.ts'
import type { Services } from '../server/services.ts'

type WaitingServices = Pick<Services, 'config' | 'database' | 'clock'>
type Reader = Pick<Caller, 'db' | 'businessId'>

/**
 * Adds the reason why queued mails wait: the mail of the business or the recipient domain is paused, the
 * mail server takes none, the business has reached its daily limit, or it has quiet hours.
 */
export async function explainWaiting<
  Shown extends Pick<StoredEmail, 'emailId' | 'status' | 'statusReason'>,
>(services: WaitingServices, caller: Reader, emails: Shown[]): Promise<Shown[]> {
  const isUnexplained = ({ status, statusReason }: Shown) =>
    status === 'QUEUED' && statusReason === null
  const unexplained = emails.filter(isUnexplained)
  if (unexplained.length === 0) return emails
  const { reason, ...limits } = await readPauseOrOutage(services, caller)
  const ids = unexplained.map(({ emailId }) => emailId)
  const postponed =
    reason === null ? await readPostponed(services, caller, ids, limits) : new Map<number, string>()
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
  const until = reason === null ? await findAboveLimit(db, businessId, now) : undefined
  return {
    paused,
    failingSince,
    problem: until ? limitReached(dailyMailLimit, until) : reason,
  }
}

async function readPauseOrOutage(services: WaitingServices, { db, businessId }: Reader) {
  const [business, server] = await Promise.all([
    getBusiness(db, businessId),
    readMailServer(services),
  ])
  const { mailPaused, mailPausedReason, dailyMailLimit, quietHours } = business
  const outage = server?.outage
  const failure = outage ? `${REASONS.noMailSince} ${outage.since}: ${outage.reply}` : null
  const pause = mailPausedReason ? `${REASONS.mailPaused}: ${mailPausedReason}` : REASONS.mailPaused
  return {
    paused: mailPaused,
    failingSince: outage?.since ?? null,
    reason: mailPaused ? pause : failure,
    dailyMailLimit,
    quietHours,
  }
}

type Limits = Pick<BusinessRow, 'dailyMailLimit' | 'quietHours'>

/** The reasons of postponed mails, by id. */
async function readPostponed(
  { clock }: WaitingServices,
  { db, businessId }: Reader,
  emailIds: number[],
  { dailyMailLimit, quietHours }: Limits,
) {
  const rows = await listPostponedEmails(db, businessId, { now: clock.now(), emailIds })
  return new Map(
    rows.map(({ emailId, until, isAboveLimit }): [number, string] => {
      if (isAboveLimit) return [emailId, limitReached(dailyMailLimit, until)]
      const reason = quietHours && isWholeMinute(until) ? REASONS.quietHours : REASONS.domainPaused
      return [emailId, `${reason}; it is sent at ${until}`]
    }),
  )
}

/** Quiet hours end at a whole minute; the pause of a recipient domain ends at any millisecond. */
const isWholeMinute = (time: Temporal.Instant) => time.epochMilliseconds % 60_000 === 0

const limitReached = (limit: number | null, until: Temporal.Instant) =>
  `${REASONS.aboveDailyLimit} of ${limit} mails; mails are sent again from ${until} on`

/** The state of the mail server of SMTP_URL; undefined if mails are captured, or none was sent yet. */
export async function readMailServer({ config, database }: Pick<Services, 'config' | 'database'>) {
  const server = serverOfUrl(config.smtpUrl)
  return server === undefined ? undefined : findMailServer(database.engine, server)
}
