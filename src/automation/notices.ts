import { hideAddresses, type Mailbox } from '../contract/addresses.ts'
import type { Database, Db } from '../database/database.ts'
import {
  listApprovalsToNotify,
  lockApproval,
  markNotified,
  type ApprovalKey,
  type StoredApproval,
} from '../store/approvals.ts'
import {
  hasSentMail,
  listBusinessesWithFailures,
  listBusinessesWithWaitingMails,
  listFailedMails,
  listNotifiedBusinesses,
  lockFailureNotice,
  readWaitingMails,
  saveDailyUntil,
  saveOutageNotice,
  type FailedMail,
} from '../store/failure-notices.ts'
import { formatsFor } from '../email/formats.ts'
import type { Mailer } from '../email/mailer.ts'
import { getBusiness } from '../store/businesses.ts'
import {
  forgetTold,
  listCancelledHere,
  markTold,
  type CancelledHere,
} from '../store/feed-entries.ts'
import type { AccountMailPurpose } from '../store/account-mails.ts'
import { listBusinessesToTell, takeFeedsToTell, type UnwellFeed } from '../store/feed-health.ts'
import { findHold } from '../store/installation.ts'
import { findMailServer } from '../store/mail-servers.ts'
import { listStatusesOf } from '../store/statuses.ts'
import { listFailureAddresses } from '../store/users.ts'
import { sendAccountMail } from './account-mails.ts'
import { adviceFor, type Advice } from './failure-advice.ts'
import { pause, type Loop } from '../repeat.ts'
import { fillCount, fillText, textsFor, type Texts } from '../texts/texts.ts'
import { isBefore } from './timing.ts'

/*
 * Mails to users of a business about failures: once a day about failed mails, at once if nothing could
 * be sent for an hour, at once about bulk calls that wait for approval, and about feeds that do not work. Notices have no trigger,
 * and only mails of triggers count, so a notice is never about a notice.
 */

export type NoticeMails = {
  now(): Temporal.Instant
  mailFrom: Mailbox
  host: string
  publicUrl?: string
}

type NoticeParts = NoticeMails & {
  database: Database
  mailer: Pick<Mailer, 'server'>
  onError(error: unknown): void
}

const NOTICES_EVERY_MS = 15_000

export const createNoticeLoop = (parts: NoticeParts): Loop => ({
  name: 'notices',
  runOnce: async () => {
    if (await findHold(parts.database.engine)) return 0
    for (const notify of [notifyOfApprovals, notifyOfOutages, notifyOfFailures, notifyOfFeeds]) {
      await notify(parts).catch(parts.onError)
    }
    return 0
  },
  rest: (stopping) => pause(NOTICES_EVERY_MS, stopping),
})

type NoticeTexts = Texts['notices']

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

type Write = (words: NoticeTexts, timeZone: string) => Notice
/** Somebody who gets a notice, and why. */
type Reader = { to: string; write: Write; why?: string }

type Notice = { subject: string; before: string[]; after: string[] }

type Mailing = { page?: string; others?: Reader[]; purpose?: AccountMailPurpose }

/**
 * Writes a notice in the language of the business, and mails it to the users who want it. Returns which
 * ones were not above a limit.
 */
async function mailPeople(
  tx: Db,
  parts: NoticeMails,
  businessId: number,
  write: Write,
  { page = 'activity', others = [], purpose = 'NOTICE' }: Mailing = {},
) {
  const { now, mailFrom, host, publicUrl = `https://${parts.host}` } = parts
  const { language, timeZone } = await getBusiness(tx, businessId)
  const words = textsFor(language).notices
  const link = `${publicUrl}/console/${page}`
  const people = await listFailureAddresses(tx, businessId)
  const readers: Reader[] = people.map((to) => ({ to, write, why: words.why }))
  const sent: Write[] = []
  const isOther = ({ to }: Reader) => !people.some((one) => one.toLowerCase() === to.toLowerCase())
  for (const { to, write: writeFor, why } of [...readers, ...others.filter(isOther)]) {
    const notice = writeFor(words, timeZone)
    const after = [...notice.after, why ?? words.whyStaff]
    const mail = {
      ...notice,
      businessId,
      to,
      link,
      after,
      purpose,
      sender: null,
    }
    // Above the limit the person has enough notices of the day; the console shows the rest.
    const answer = await sendAccountMail(tx, mail, { now: now(), mailFrom, host })
    if ('emailId' in answer) sent.push(writeFor)
  }
  return sent
}

async function notifyOfApprovals(parts: NoticeParts) {
  const unreported = await listApprovalsToNotify(parts.database.engine)
  await forEachBusiness(parts, unreported, async (tx, key: ApprovalKey) => {
    const approval = await lockApproval(tx, key)
    if (approval?.status !== 'WAITING') return
    await markNotified(tx, key, parts.now())
    const write = (words: NoticeTexts) => noticeOfApproval(words, approval)
    await mailPeople(tx, parts, key.businessId, write, { page: '' })
  })
}

function noticeOfApproval(words: NoticeTexts, approval: StoredApproval): Notice {
  const { mails, bulkLimit, source, createdUser, byDefinition } = approval
  const { subject, intro, sources, decide, after } = words.approval
  const values = {
    source: sources[source],
    user: createdUser,
    mails: fillCount(words.mails, mails),
    limit: String(bulkLimit),
  }
  const definitions = byDefinition.slice(0, MAX_LINES).map((one) => {
    const name = one.description ?? fillText(words.automation, { id: String(one.eventDefnId) })
    return `${name}: ${fillCount(words.mails, one.mails)}`
  })
  return {
    subject: fillCount(subject, mails),
    before: [fillText(intro, values), ...definitions, decide],
    after: [after],
  }
}

/** After this time without a sent mail, users are notified at once. */
const OUTAGE_MINUTES = 60

/**
 * A few mailboxes that defer mails, for example by greylisting, are not an outage. All clients of a
 * business may use one provider, so many recipients of one domain count too.
 */
const MIN_DEFERRING = { domains: 3, recipients: 10 }

async function notifyOfOutages(parts: NoticeParts) {
  const { engine } = parts.database
  const since = parts.now().subtract({ minutes: OUTAGE_MINUTES })
  const outage = await findOutage(parts)
  const isServerFailing = outage !== null && !isBefore(since, outage.since)
  const waiting = await listBusinessesWithWaitingMails(engine, { since, isServerFailing })
  const unreported = waiting.filter(
    ({ outageNotifiedTime, deferringDomains, deferringRecipients }) =>
      outageNotifiedTime === null &&
      (isServerFailing ||
        deferringDomains >= MIN_DEFERRING.domains ||
        deferringRecipients >= MIN_DEFERRING.recipients),
  )
  await forEachBusiness(parts, unreported, async (tx, { businessId }) => {
    const { outageNotifiedTime } = await lockFailureNotice(tx, businessId)
    if (outageNotifiedTime !== null || (await hasSentMail(tx, businessId, since))) return
    const waiting = await readWaitingMails(tx, businessId)
    // The mails may have ended meanwhile.
    if (waiting.mails === 0) return
    await saveOutageNotice(tx, businessId, parts.now())
    const reply = outage?.reply ?? waiting.reply
    await mailPeople(tx, parts, businessId, (words, timeZone) =>
      noticeOfOutage(words, { ...waiting, reply, timeZone }),
    )
  })
  // The outage is reported once, even if its last waiting mail fails and another is queued later.
  if (outage) return
  const isWaiting = new Set(waiting.map(({ businessId }) => businessId))
  const recovered = (await listNotifiedBusinesses(engine)).filter(
    (one) => !isWaiting.has(one.businessId),
  )
  await forEachBusiness(parts, recovered, async (tx, { businessId }) => {
    await saveOutageNotice(tx, businessId, null)
  })
}

/** The outage of the mail server in use. The stored state of a former one may never change. */
async function findOutage({ database, mailer }: NoticeParts) {
  if (mailer.server === null) return null
  return (await findMailServer(database.engine, mailer.server))?.outage ?? null
}

type Waiting = Awaited<ReturnType<typeof readWaitingMails>> & { timeZone: string }

function noticeOfOutage(words: NoticeTexts, { mails, since, reply, timeZone }: Waiting): Notice {
  const { subject, waiting, reply: answer, ask, after } = words.outage
  const local = since.toZonedDateTimeISO(timeZone)
  const moment = local.toLocaleString(words.locale, { dateStyle: 'long', timeStyle: 'short' })
  const zone = formatsFor([words.locale], [timeZone]).zoneName(since)
  return {
    subject,
    before: [
      fillCount(waiting, mails, { since: `${moment} (${zone})` }),
      ...(reply ? [fillText(answer, { reply: hideAddresses(reply) })] : []),
      ask,
    ],
    after: [after],
  }
}

/** Users read the daily mail in the morning. */
const DAILY_HOUR = 8
const MAX_DAILY_HOURS = 48

async function notifyOfFailures(parts: NoticeParts) {
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
    if (failed.count === 0) return
    await mailPeople(tx, parts, businessId, (words) => noticeOfFailures(words, failed))
  })
}

/** The range of failures to report now, up to the last morning. Undefined if they were reported. */
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
 * Contains no names and addresses of clients: the console shows them to users who may see them, and
 * erasing a client would not find them in notices.
 */
function noticeOfFailures(
  words: NoticeTexts,
  { count, newest }: { count: number; newest: FailedMail[] },
): Notice {
  const { subject, intro, times, whatToDo, others, see, after } = words.failures
  const counts = new Map<string, { advice: Advice; messages: number }>()
  for (const { description, eventDefnId, reason } of newest) {
    const name = description ?? fillText(words.automation, { id: String(eventDefnId) })
    const line = `${name}: ${hideAddresses(reason)}`
    const known = counts.get(line) ?? { advice: adviceFor(reason), messages: 0 }
    counts.set(line, { ...known, messages: known.messages + 1 })
  }
  const shown = [...counts].slice(0, MAX_LINES)
  const byAdvice = Map.groupBy(shown, ([, { advice }]) => advice)
  const lines = [...byAdvice].flatMap(([advice, group]) => [
    ...group.map(([line, { messages }]) =>
      messages > 1 ? fillText(times, { line, count: String(messages) }) : line,
    ),
    fillText(whatToDo, { advice: words.advice[advice] }),
  ])
  const hasOthers = counts.size > MAX_LINES || count > newest.length
  return {
    subject: fillCount(subject, count),
    before: [intro, ...lines, ...(hasOthers ? [others] : []), see],
    after: [after],
  }
}

async function notifyOfFeeds(parts: NoticeParts) {
  const unreported = await listBusinessesToTell(parts.database.engine, parts.now())
  await forEachBusiness(parts, unreported, async (tx, { businessId }) => {
    const feeds = await takeFeedsToTell(tx, businessId, parts.now())
    if (feeds.length === 0) return
    const write = (words: NoticeTexts) => noticeOfFeeds(words, feeds)
    await mailPeople(tx, parts, businessId, write, { page: 'settings/feeds' })
  })
}

function noticeOfFeeds(words: NoticeTexts, feeds: Pick<UnwellFeed, 'name' | 'health'>[]): Notice {
  const { subject, intro, problems, see, after } = words.feeds
  const lines = feeds
    .slice(0, MAX_LINES)
    .flatMap(({ name, health }) => (health === 'OK' ? [] : fillText(problems[health], { name })))
  return {
    subject: fillCount(subject, feeds.length),
    before: [intro, ...lines, see],
    after: [after],
  }
}

/** The source may be changed right after the appointment here. */
const CANCEL_MINUTES = 30
const CANCEL_EVERY_HOURS = 2

/**
 * Tells people about appointments that were cancelled here and are still in the source of the feed: those
 * who get notices about all of them, and members of staff about their own. What was above a limit is in
 * a later mail.
 */
export async function notifyOfCancelledHere(
  tx: Db,
  parts: NoticeMails,
  { businessId, feedId, name }: { businessId: number; feedId: number; name: string },
) {
  const now = parts.now()
  const statuses = await listStatusesOf(tx, businessId, 'CALENDAR')
  const isCancelled = ({ outcome }: (typeof statuses)[number]) =>
    outcome === 'CANCELLED' || outcome === 'LATE_CANCELLED'
  const cancelled = statuses.filter(isCancelled).map(({ status }) => status)
  const until = now.subtract({ minutes: CANCEL_MINUTES })
  const toldSince = now.subtract({ hours: CANCEL_EVERY_HOURS })
  const feed = { businessId, feedId }
  await forgetTold(tx, feed, cancelled)
  const found = await listCancelledHere(tx, feed, { cancelled, now, until, toldSince })
  if (found.length === 0) return
  const about = new Map<Write, CancelledHere[]>()
  const writeOf = (some: CancelledHere[]) => {
    const write = (words: NoticeTexts) => noticeOfCancelledHere(words, name, some)
    about.set(write, some)
    return write
  }
  const byStaff = Map.groupBy(found, ({ staffAddress }) => staffAddress)
  const others = [...byStaff].flatMap(([to, own]) => (to ? { to, write: writeOf(own) } : []))
  const mailing = { page: 'calendar', others, purpose: 'CANCELLED_HERE' } as const
  const sent = await mailPeople(tx, parts, businessId, writeOf(found), mailing)
  const told = sent.flatMap((write) => about.get(write)!)
  const ids = told.map(({ feedEntryId }) => feedEntryId)
  await markTold(tx, feed, ids, now)
}

function noticeOfCancelledHere(
  words: NoticeTexts,
  name: string,
  appointments: CancelledHere[],
): Notice {
  const { subject, intro, see, after } = words.cancelledHere
  const times = appointments
    .toSorted((a, b) => Temporal.Instant.compare(a.startTime, b.startTime))
    .slice(0, MAX_LINES)
    .map(({ startTime, timeZone }) =>
      startTime
        .toZonedDateTimeISO(timeZone)
        .toLocaleString(words.locale, { dateStyle: 'full', timeStyle: 'short' }),
    )
  const count = appointments.length
  const others = count > times.length ? [words.failures.others] : []
  const before = [fillCount(intro, count, { name }), ...times, ...others, see]
  return { subject: fillCount(subject, count, { name }), before, after: [after] }
}
