import type { Caller } from '../../auth/caller.ts'
import { REASONS } from '../../contract/reasons.ts'
import { serverOfUrl } from '../../email/smtp.ts'
import { getBusiness } from '../../store/businesses.ts'
import { findMailServer } from '../../store/mail-servers.ts'
import type { StoredEmail } from '../../store/emails.ts'
import type { Services } from '../server/services.ts'

/** Says why queued mails wait: the mail of the business is paused, or the mail server takes none. */
export async function explainWaiting<Shown extends Pick<StoredEmail, 'status' | 'statusReason'>>(
  services: Pick<Services, 'config' | 'database'>,
  caller: Pick<Caller, 'db' | 'businessId'>,
  emails: Shown[],
): Promise<Shown[]> {
  const isUnexplained = ({ status, statusReason }: Shown) =>
    status === 'QUEUED' && statusReason === null
  if (!emails.some(isUnexplained)) return emails
  const { problem: statusReason } = await readMailProblem(services, caller)
  return emails.map((email) => (isUnexplained(email) ? { ...email, statusReason } : email))
}

/** Why mails of the business do not leave now; `problem` is null if they do. */
export async function readMailProblem(
  services: Pick<Services, 'config' | 'database'>,
  { db, businessId }: Pick<Caller, 'db' | 'businessId'>,
) {
  const [business, server] = await Promise.all([
    getBusiness(db, businessId),
    readMailServer(services),
  ])
  const { mailPaused, mailPausedReason } = business
  const outage = server?.outage
  const failure = outage ? `${REASONS.noMailSince} ${outage.since}: ${outage.reply}` : null
  const pause = mailPausedReason ? `${REASONS.mailPaused}: ${mailPausedReason}` : REASONS.mailPaused
  return {
    paused: mailPaused,
    failingSince: outage?.since ?? null,
    problem: mailPaused ? pause : failure,
  }
}

/** The state of the mail server of SMTP_URL; undefined if mails are captured, or none was sent yet. */
export async function readMailServer({ config, database }: Pick<Services, 'config' | 'database'>) {
  const server = serverOfUrl(config.smtpUrl)
  return server === undefined ? undefined : findMailServer(database.engine, server)
}
