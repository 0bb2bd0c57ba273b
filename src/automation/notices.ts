import { hideAddresses, type Mailbox } from '../contract/addresses.ts'
import type { Database, Db } from '../database/database.ts'
import {
  listUntoldApprovals,
  lockApproval,
  markTold,
  type ApprovalKey,
  type StoredApproval,
} from '../store/approvals.ts'
import {
  hasSentMail,
  listBusinessesWithFailures,
  listBusinessesWithWaitingMails,
  listFailedMails,
  listToldBusinesses,
  lockFailureNotice,
  readWaitingMails,
  saveDailyUntil,
  saveOutageTold,
  type FailedMail,
} from '../store/failure-notices.ts'
import type { Mailer } from '../email/mailer.ts'
import { getBusiness } from '../store/businesses.ts'
import { findMailServer, type MailOutage } from '../store/mail-servers.ts'
import { listFailureAddresses } from '../store/users.ts'
import { sendAccountMail } from './account-mails.ts'
import { adviceFor } from './failure-advice.ts'
import { pause, type Loop } from './loop.ts'
import { isBefore } from './timing.ts'

/*
 * The people of a business hear of failures by mail: once a day of mails that were refused, at once if
 * nothing could be sent for an hour, and at once of bulk calls that wait for approval. Notices have no
 * trigger, and only mails of triggers count, so a notice is never about a notice.
 */

type NoticeParts = {
  database: Database
  now(): Temporal.Instant
  mailer: Pick<Mailer, 'server'>
  mailFrom: Mailbox
  host: string
  publicUrl?: string
  onError(error: unknown): void
}

const NOTICES_EVERY_MS = 15_000

export const createNoticeLoop = (parts: NoticeParts): Loop => ({
  name: 'notices',
  runOnce: async () => {
    for (const tell of [tellOfApprovals, tellOfOutages, tellOfFailures]) {
      await tell(parts).catch(parts.onError)
    }
    return 0
  },
  rest: (stopping) => pause(NOTICES_EVERY_MS, stopping),
})

/** A failure for one business does not stop the notices of the others. */
async function forEachBusiness<Key extends { businessId: number }>(
  { database, onError }: NoticeParts,
  keys: Key[],
  work: (tx: Db, key: Key) => Promise<void>,
) {
  for (const key of keys) {
    const db = database.forBusiness(key.businessId, 'SYSTEM')
    await db.transaction((tx) => work(tx, key)).catch(onError)
  }
}

type Notice = { subject: string; before: string[]; path: string; after: string[] }

async function mailPeople(tx: Db, parts: NoticeParts, businessId: number, notice: Notice) {
  const { now, mailFrom, host, publicUrl = `https://${parts.host}` } = parts
  const link = `${publicUrl}/console${notice.path}`
  for (const to of await listFailureAddresses(tx, businessId)) {
    const after = [...notice.after, WHY]
    const mail = { ...notice, businessId, to, link, after, isAccount: true }
    await sendAccountMail(tx, mail, { now: now(), mailFrom, host })
  }
}

const WHY =
  'You get this mail because your account asks for mails about failures. Change that at Settings, People.'

async function tellOfApprovals(parts: NoticeParts) {
  const untold = await listUntoldApprovals(parts.database.engine)
  await forEachBusiness(parts, untold, async (tx, key: ApprovalKey) => {
    const approval = await lockApproval(tx, key)
    if (approval?.status !== 'WAITING') return
    await markTold(tx, key, parts.now())
    await mailPeople(tx, parts, key.businessId, noticeOfApproval(approval))
  })
}

const SOURCES = {
  IMPORT: 'An import',
  FIRE: 'A request to fire triggers',
  RESEND: 'A request to send mails again',
}

const noticeOfApproval = (approval: StoredApproval): Notice => {
  const { approvalId, mails, bulkLimit, source, createdUser, byDefinition } = approval
  return {
    subject: `${waiting(mails)} for your approval`,
    before: [
      `${SOURCES[source]} by ${createdUser} would send ${countOf(mails)} at once, more than the limit of ${bulkLimit}. They wait until you decide.`,
      ...byDefinition
        .slice(0, MAX_LINES)
        .map(
          ({ description, eventDefnId, mails: some }) =>
            `${description ?? `Automation ${eventDefnId}`}: ${countOf(some)}`,
        ),
      `Release or cancel approval ${approvalId} (POST /approval/${approvalId}/release or /cancel). The mails are listed here:`,
    ],
    path: '/activity',
    after: ['Nothing is sent before that. Planned reminders and single bookings do not wait.'],
  }
}

/** Nothing was sent for so long: people are told at once. */
const OUTAGE_MINUTES = 60

/** One or two domains that defer mails, such as by greylisting, are their own failure. */
const MIN_DEFERRING_DOMAINS = 3

async function tellOfOutages(parts: NoticeParts) {
  const { engine } = parts.database
  const since = parts.now().subtract({ minutes: OUTAGE_MINUTES })
  const outage = await findOutage(parts)
  const isServerFailing = outage !== null && !isBefore(since, outage.since)
  const waiting = await listBusinessesWithWaitingMails(engine, { since, isServerFailing })
  const untold = waiting.filter(
    ({ outageTold, deferringDomains }) =>
      outageTold === null && (isServerFailing || deferringDomains >= MIN_DEFERRING_DOMAINS),
  )
  await forEachBusiness(parts, untold, async (tx, { businessId }) => {
    const { outageTold } = await lockFailureNotice(tx, businessId)
    if (outageTold !== null || (await hasSentMail(tx, businessId, since))) return
    await saveOutageTold(tx, businessId, parts.now())
    await mailPeople(tx, parts, businessId, await noticeOfOutage(tx, businessId, outage))
  })
  const isWaiting = new Set(waiting.map(({ businessId }) => businessId))
  const over = (await listToldBusinesses(engine)).filter((one) => !isWaiting.has(one.businessId))
  await forEachBusiness(parts, over, async (tx, { businessId }) => {
    await saveOutageTold(tx, businessId, null)
  })
}

/** Only of the mail server that is in use: what is stored of a former one may never change. */
async function findOutage({ database, mailer }: NoticeParts) {
  if (mailer.server === null) return null
  return (await findMailServer(database.engine, mailer.server))?.outage ?? null
}

async function noticeOfOutage(
  tx: Db,
  businessId: number,
  outage: MailOutage | null,
): Promise<Notice> {
  const { mails, since, reply: lastReply } = await readWaitingMails(tx, businessId)
  const reply = outage?.reply ?? lastReply
  const { timeZone } = await getBusiness(tx, businessId)
  return {
    subject: 'No mail could be sent for an hour',
    before: [
      `${waiting(mails)} since ${inWords(since, timeZone)}, and none was accepted in the last hour.`,
      ...(reply ? [`The last answer was: ${hideAddresses(reply)}`] : []),
      'Ask the operator of this installation to check the mail server. See what waits:',
    ],
    path: '/activity',
    after: [
      'Mails are tried again for as long as they are of use, and leave by themselves when the server is back.',
    ],
  }
}

/** People read the daily mail in the morning. */
const DAILY_HOUR = 8
const MAX_DAILY_HOURS = 48

async function tellOfFailures(parts: NoticeParts) {
  const now = parts.now()
  const since = now.subtract({ hours: 24 + MAX_DAILY_HOURS })
  const failing = await listBusinessesWithFailures(parts.database.engine, since)
  const due = failing.filter(({ timeZone, dailyUntil }) => reportedRange(now, timeZone, dailyUntil))
  await forEachBusiness(parts, due, async (tx, { businessId, timeZone }) => {
    const { dailyUntil } = await lockFailureNotice(tx, businessId)
    const range = reportedRange(now, timeZone, dailyUntil)
    if (!range) return
    await saveDailyUntil(tx, businessId, range.to)
    const failed = await listFailedMails(tx, businessId, range, MAX_READ)
    if (failed.count > 0) await mailPeople(tx, parts, businessId, noticeOfFailures(failed))
  })
}

/** The failures that a mail reports now: up to the last morning. Undefined if they are reported. */
function reportedRange(
  now: Temporal.Instant,
  timeZone: string,
  dailyUntil: Temporal.Instant | null,
) {
  const to = lastMorning(now, timeZone)
  const oldest = to.subtract({ hours: MAX_DAILY_HOURS })
  if (!dailyUntil) return { from: to.subtract({ hours: 24 }), to }
  if (Temporal.Instant.compare(dailyUntil, to) >= 0) return undefined
  return { from: Temporal.Instant.compare(dailyUntil, oldest) < 0 ? oldest : dailyUntil, to }
}

function lastMorning(now: Temporal.Instant, timeZone: string) {
  const local = now.toZonedDateTimeISO(timeZone)
  const day =
    local.hour < DAILY_HOUR ? local.toPlainDate().subtract({ days: 1 }) : local.toPlainDate()
  const plainTime = Temporal.PlainTime.from({ hour: DAILY_HOUR })
  return day.toZonedDateTime({ timeZone, plainTime }).toInstant()
}

const MAX_LINES = 20
const MAX_READ = 1_000

/**
 * Without names and addresses of clients: the console shows them to those who may see them, and a
 * notice would be forgotten when a client is erased.
 */
function noticeOfFailures({ count, newest }: { count: number; newest: FailedMail[] }): Notice {
  const counts = new Map<string, { advice: string; messages: number }>()
  for (const { description, reason } of newest) {
    const line = `${description ?? 'Automation'}: ${hideAddresses(reason)}`
    const known = counts.get(line) ?? { advice: adviceFor(reason), messages: 0 }
    counts.set(line, { ...known, messages: known.messages + 1 })
  }
  const shown = [...counts].slice(0, MAX_LINES)
  const byAdvice = Map.groupBy(shown, ([, { advice }]) => advice)
  const lines = [...byAdvice].flatMap(([advice, some]) => [
    ...some.map(([line, { messages }]) => (messages > 1 ? `${line} (${messages} times)` : line)),
    `What to do: ${advice}`,
  ])
  return {
    subject: count === 1 ? 'One message could not be sent' : `${count} messages could not be sent`,
    before: [
      'These messages could not be sent since the last report.',
      ...lines,
      ...(counts.size > MAX_LINES || count > newest.length ? ['And others.'] : []),
      'See whom they are for, and send them again:',
    ],
    path: '/activity',
    after: ['There is one such mail a day, and none if nothing failed.'],
  }
}

const countOf = (mails: number) => (mails === 1 ? '1 mail' : `${mails} mails`)

const waiting = (mails: number) => `${countOf(mails)} ${mails === 1 ? 'waits' : 'wait'}`

const inWords = (time: Temporal.Instant, timeZone: string) =>
  `${time.toZonedDateTimeISO(timeZone).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })} (${timeZone})`
