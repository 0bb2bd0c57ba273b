import type { Config } from '../config.ts'
import type { Db } from '../database/database.ts'
import type { Unavailable } from '../email/mailer.ts'
import { serverOfUrl } from '../email/smtp.ts'
import { findMailServer, type MailServerState } from '../store/mail-servers.ts'
import { readQueueHealth, type QueueHealth } from '../store/queue-health.ts'
import { adviceFor, type Finding } from './check-mail.ts'
import { formatDuration, secondsSince } from './durations.ts'

/** The result of connecting to the mail server. */
export type ProbedServer = { server: string; trouble: Unavailable | undefined }

/** The state that the sending nodes have stored. */
export type DeliveryState = { health: QueueHealth; mailServer: MailServerState | undefined }

export async function readDelivery(
  engine: Db,
  now: Temporal.Instant,
  { leaseSeconds, smtpUrl }: Pick<Config, 'leaseSeconds' | 'smtpUrl'>,
): Promise<DeliveryState> {
  const health = await readQueueHealth(engine, now, leaseSeconds)
  const server = serverOfUrl(smtpUrl)
  return { health, mailServer: server ? await findMailServer(engine, server) : undefined }
}

export function checkMailServer(
  { server, trouble }: ProbedServer,
  state: MailServerState | undefined,
  now: Temporal.Instant,
): Finding {
  const about = 'Mail server'
  const { outage, lastAcceptedTime } = state ?? {}
  const down = outage
    ? `; no mail was taken for ${formatDuration(secondsSince(outage.since, now))}`
    : ''
  if (trouble) {
    const todo = `${adviceFor(trouble)}; waiting mails are then sent without further action`
    const says = `${server} takes no mail, at ${trouble.phase}: ${trouble.reply}${down}`
    return { state: 'bad', about, says, todo }
  }
  if (outage) {
    const says = `${server} accepts connections from here, but the service fails at ${outage.phase}: ${outage.reply}${down}`
    const todo =
      'wait a minute and check again; if it still fails, restart the service with these settings'
    return { state: 'note', about, says, todo }
  }
  const accepted = lastAcceptedTime
    ? `, and took a mail ${formatDuration(secondsSince(lastAcceptedTime, now))} ago`
    : ''
  return { state: 'ok', about, says: `${server} accepts connections${accepted}` }
}

/** A mail server that works takes a mail within seconds; a mail that waits longer was deferred. */
const MAX_WAITING_SECONDS = 1_800

export function checkEmailQueue(
  { health, mailServer }: DeliveryState,
  now: Temporal.Instant,
): Finding {
  const { emailsWaiting, oldestWaitingEmail } = health
  const about = 'Mail queue'
  if (emailsWaiting === 0) return { state: 'ok', about, says: 'no mail waits' }
  const age = secondsSince(oldestWaitingEmail, now)
  const wait = emailsWaiting === 1 ? 'mail waits' : 'mails wait'
  const says = `${emailsWaiting} ${wait}, the oldest for ${formatDuration(age)}`
  if (age <= MAX_WAITING_SECONDS) return { state: 'ok', about, says }
  // A failure of the mail server does not count as an attempt: the mails stay QUEUED.
  const todo = mailServer?.outage
    ? 'they are sent when the mail server works again; GET /emails?status=QUEUED lists them'
    : 'GET /emails?status=RETRYING lists them with the answers of the mail server'
  return { state: 'note', about, says, todo }
}
