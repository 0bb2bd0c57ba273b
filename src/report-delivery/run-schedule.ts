import type { Mailbox } from '../contract/addresses.ts'
import type { Database, Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import type { PageSize } from '../reports/formats/pdf.ts'
import { printToFile, type PrintedFile } from '../reports/print-to-file.ts'
import { checkPrintRequest } from '../reports/print-request.ts'
import { refuseTooManyRows } from '../reports/print.ts'
import {
  credentialOfSchedule,
  findTimeZone,
  finishScheduledTime,
  hasRun,
  insertScheduleRun,
  isStopped,
  postponeSchedule,
  type NewReportDelivery,
  type NewScheduleRun,
  type ScheduleRow,
} from '../store/report-schedules.ts'
import type { ReaderRights } from '../store/report-runs.ts'
import { listUsersById, shareUsersById, type UserRow } from '../store/users.ts'
import { createReportLink, LINK_LIFETIME } from './links.ts'
import { readerKeyOf, readerOfUser, rightsOf, unreachableReason } from './readers.ts'
import { queueReportMail, type MailedReport } from './report-mail.ts'
import { stopLink, type Recipient } from './stop-links.ts'
import { deleteOldFiles, storeAsRun } from './stored-files.ts'
import {
  countScheduledTimes,
  dayOf,
  daysOf,
  latestScheduledTime,
  nextScheduledTime,
} from './timing.ts'

export type RunParts = {
  database: Database
  now(): Temporal.Instant
  pageSize: PageSize
  publicUrl: string
  mailFrom: Mailbox
  /** The name of this installation in Message-IDs. */
  host: string
  /** The secret of the links by which readers stop a mail. */
  linkSeal: string
  /** Larger files are not attached: the mail has a link instead. */
  maxAttachedBytes?: number
}

/** The scheduled time of a run, and the days of its report. */
type DueRun = {
  row: ScheduleRow
  timeZone: string
  scheduledTime: Temporal.Instant
  startDate: string
  endDate: string
  /** The number of earlier scheduled times that were missed because the service was down. */
  missed: number
}

/**
 * The latest scheduled time that has not run yet. If a change of the time zone leaves none, the schedule is
 * postponed to its next time. A time that ran before the clock was set back is not mailed twice.
 */
export async function findDueRun(db: Db, row: ScheduleRow, now: Temporal.Instant) {
  const { schedule, state } = row
  const timeZone = await findTimeZone(db, schedule.businessId, schedule.locationId)
  const scheduledTime = latestScheduledTime(schedule, timeZone, now)
  if (Temporal.Instant.compare(scheduledTime, state.doneUntil) <= 0) {
    await postponeSchedule(db, row, nextScheduledTime(schedule, timeZone, now))
    return undefined
  }
  if (await hasRun(db, schedule, scheduledTime)) {
    const nextRunTime = nextScheduledTime(schedule, timeZone, scheduledTime)
    await finishScheduledTime(db, row, { doneUntil: scheduledTime, nextRunTime })
    return undefined
  }
  const { startDate, endDate } = daysOf(schedule.range, dayOf(scheduledTime, timeZone))
  const between = { after: state.doneUntil, before: scheduledTime }
  const due: DueRun = {
    row,
    timeZone,
    scheduledTime,
    startDate: startDate.toString(),
    endDate: endDate.toString(),
    missed: countScheduledTimes(schedule, timeZone, between),
  }
  return due
}

/** Prints a report for everybody who may see it, and queues their mails with the record of the run. */
export async function runSchedule(parts: RunParts, due: DueRun, signal: AbortSignal) {
  const { businessId } = due.row.schedule
  const db = parts.database.forBusiness(businessId, 'SYSTEM')
  await deleteOldFiles(db, businessId, parts.now())
  const readers = await listReaders(due, (ids) => listUsersById(db, businessId, ids))
  const printed = new Map<string, Printed>()
  try {
    await printForReaders(parts, due, { readers, printed }, signal)
    await db.transaction((tx) => finishRun(tx, parts, due, printed))
  } finally {
    for (const result of printed.values()) if ('file' in result) await result.file?.handle.close()
  }
}

/** A recipient, and the person whose rights apply. */
type ScheduleReader = { to: Recipient; user: UserRow | undefined; emailAddress: string | null }

/** Those who have stopped the mail are left out. */
async function listReaders(
  { row: { schedule } }: DueRun,
  list: (userIds: number[]) => Promise<UserRow[]>,
): Promise<ScheduleReader[]> {
  const { userIdList, addressList, linkUserId } = schedule
  const users = await list(linkUserId === null ? userIdList : [...userIdList, linkUserId])
  const people = users.filter(({ userId }) => userIdList.includes(userId))
  const maker = users.find(({ userId }) => userId === linkUserId)
  return [
    ...people.map((user) => ({
      to: { userId: user.userId },
      user,
      emailAddress: user.emailAddress,
    })),
    ...addressList.map((address) => ({ to: { address }, user: maker, emailAddress: address })),
  ].filter(({ to }) => !isStopped(schedule, to))
}

/** People with the same rights share a file. Addresses get a link to a stored one. */
const keyOf = ({ to, user }: ScheduleReader) =>
  `${'address' in to ? 'link ' : ''}${user ? readerKeyOf(user) : ''}`

function unreachable({ to, user, emailAddress }: ScheduleReader) {
  if ('userId' in to) {
    const reason = unreachableReason({ active: user?.active ?? false, emailAddress })
    return reason && `${user?.username ?? to.userId} ${reason}.`
  }
  return user?.active
    ? undefined
    : `${to.address} gets no link, because the person who added the address is not active.`
}

/** Records a scheduled time as failed, without a report. */
export async function failRun(parts: RunParts, due: DueRun, reason: string) {
  const { businessId } = due.row.schedule
  const db = parts.database.forBusiness(businessId, 'SYSTEM')
  await db.transaction((tx) =>
    recordRun(tx, due, { status: 'FAILED', statusReason: reason, deliveries: [] }, parts.now()),
  )
}

/**
 * The result for people with the same rights: a report, or the reason why there is none. The file stays
 * on disk until its mails are written, because there may be many files.
 */
type Printed =
  | { report: MailedReport; runId: number | null; file: PrintedFile | null }
  | { refusal: string }

type Prints = { readers: ScheduleReader[]; printed: Map<string, Printed> }

/** Fills `printed`, whose key is that of the readers. */
async function printForReaders(
  parts: RunParts,
  due: DueRun,
  { readers, printed }: Prints,
  signal: AbortSignal,
) {
  for (const reader of readers) {
    const key = keyOf(reader)
    const { user } = reader
    if (!user || unreachable(reader) || printed.has(key)) continue
    printed.set(key, await printFor(parts, due, { user, isLinked: 'address' in reader.to }, signal))
  }
}

async function printFor(
  parts: RunParts,
  { row: { schedule }, startDate, endDate }: DueRun,
  { user, isLinked }: { user: UserRow; isLinked: boolean },
  signal: AbortSignal,
): Promise<Printed> {
  const { businessId, reportId, format, filters, groupBy, compareWith, locationId } = schedule
  const { pageSize } = parts
  const db = parts.database.reportsOf(businessId)
  try {
    const request = { reportId, filters, groupBy, compareWith, locationId, startDate, endDate }
    const reader = readerOfUser(user)
    const job = await checkPrintRequest(db, request, reader, parts.now())
    await refuseTooManyRows(db, job, format)
    const file = await printToFile(db, job, { format, pageSize, signal, hasSummary: true })
    const { businessName, locationName, locale } = job
    const about = {
      reportName: file.reportName,
      businessName,
      locationName,
      locale,
      startDate,
      endDate,
    }
    const kept = { ...file, reader: rightsOf(reader) }
    return await keepFile(
      isLinked ? { ...parts, maxAttachedBytes: 0 } : parts,
      schedule,
      about,
      kept,
    )
  } catch (error) {
    // An error that a caller of the API would get too, such as a missing right or too many rows.
    if (error instanceof RequestError && error.status < 500) return { refusal: error.message }
    throw error
  }
}

/** Above this many bytes mail servers begin to refuse mails. */
const MAX_ATTACHED_BYTES = 5_000_000

type About = Omit<MailedReport, 'summary' | 'fileSize'>

/** A small file is attached to the mails; a large one is stored for the links in them. */
async function keepFile(
  { database, now, maxAttachedBytes = MAX_ATTACHED_BYTES }: RunParts,
  { businessId, reportScheduleId, reportId, format }: ScheduleRow['schedule'],
  about: About,
  file: PrintedFile & { reader: ReaderRights },
): Promise<Printed> {
  const { size: fileSize, summary, reader } = file
  const report: MailedReport = { ...about, summary: summary!, fileSize }
  if (fileSize <= maxAttachedBytes) return { report, runId: null, file }
  const db = database.forBusiness(businessId, 'SYSTEM')
  const credential = credentialOfSchedule(reportScheduleId)
  const stored = { file, credential, reportId, format, reader }
  const runId = await storeAsRun(db, businessId, stored, now())
  return { report, runId, file: null }
}

async function readAttachment({ fileName, contentType, size, handle }: PrintedFile) {
  const bytes = Buffer.alloc(size)
  await handle.read(bytes, 0, size, 0)
  return { fileName, contentType, bytes }
}

/** The mails and the record of the run are one transaction, so that no scheduled time is mailed twice. */
async function finishRun(tx: Db, parts: RunParts, due: DueRun, printed: Map<string, Printed>) {
  const { businessId, skipIfEmpty } = due.row.schedule
  const now = parts.now()
  // Locked, because rights may have changed while the report was printed.
  const readers = await listReaders(due, (ids) => shareUsersById(tx, businessId, ids))
  const deliveries: NewReportDelivery[] = []
  for (const reader of readers) {
    const result = printed.get(keyOf(reader))
    const reason = refusalOf(reader, result)
    const isEmpty = result && 'report' in result && result.report.summary.isEmpty
    if (!reason && skipIfEmpty && isEmpty) continue
    const emailId = reason ? null : await mailTo(tx, parts, due, { reader, result, now })
    deliveries.push({ ...recipientOf(reader), emailId, reason: reason ?? null })
  }
  await recordRun(tx, due, { ...summarize(deliveries, readers.length), deliveries }, now)
}

const recipientOf = ({ to }: ScheduleReader) =>
  'userId' in to ? { ...to, address: null } : { ...to, userId: null }

function refusalOf(reader: ScheduleReader, result: Printed | undefined) {
  const reason = unreachable(reader)
  if (reason) return reason
  if (!result) return `The rights of ${reader.user?.username} changed while the report was printed.`
  return 'refusal' in result ? result.refusal : undefined
}

type Mailing = { reader: ScheduleReader; result: Printed | undefined; now: Temporal.Instant }

async function mailTo(
  tx: Db,
  parts: RunParts,
  { row: { schedule }, timeZone }: DueRun,
  { reader, result, now }: Mailing,
) {
  if (!result || 'refusal' in result || !reader.user) return null
  const { report, runId, file } = result
  const { businessId } = schedule
  const { mailFrom, host, publicUrl, linkSeal } = parts
  const expiresTime = now.add(LINK_LIFETIME)
  const { userId } = reader.user
  const wanted = runId === null ? null : { businessId, runId, userId, apiKeyId: null, expiresTime }
  const link = wanted && (await createReportLink(tx, wanted, publicUrl, { user: 'SYSTEM', now }))
  const attachment = file ? await readAttachment(file) : undefined
  const mail = {
    schedule,
    timeZone,
    report,
    attachment,
    to: reader.emailAddress!,
    hasLogin: 'userId' in reader.to,
    link,
    stopUrl: stopLink(publicUrl, linkSeal, schedule, reader.to),
  }
  return queueReportMail(tx, mail, { now, mailFrom, host, publicUrl })
}

function summarize(deliveries: NewReportDelivery[], readers: number) {
  if (deliveries.length === 0) {
    const statusReason =
      readers === 0 ? 'Every recipient has stopped it.' : 'Nothing in this period.'
    return { status: 'SKIPPED' as const, statusReason }
  }
  const refused = deliveries.filter(({ emailId }) => emailId === null)
  const status =
    refused.length === 0
      ? ('COMPLETED' as const)
      : refused.length < deliveries.length
        ? ('PARTIAL' as const)
        : ('FAILED' as const)
  const reasons = [...new Set(refused.map(({ reason }) => reason))]
  return { status, statusReason: reasons.length > 0 ? reasons.join(' ') : null }
}

type Ended = Pick<NewScheduleRun, 'status' | 'statusReason'> & { deliveries: NewReportDelivery[] }

/** Throws if the schedule was saved or run meanwhile: the transaction then writes nothing. */
async function recordRun(
  tx: Db,
  { row, timeZone, scheduledTime, startDate, endDate, missed }: DueRun,
  { status, statusReason, deliveries }: Ended,
  now: Temporal.Instant,
) {
  const { schedule } = row
  const nextRunTime = nextScheduledTime(schedule, timeZone, scheduledTime)
  const isDone = await finishScheduledTime(tx, row, { doneUntil: scheduledTime, nextRunTime })
  if (!isDone) throw new ScheduleChanged()
  const { businessId, reportScheduleId } = schedule
  const days = { startDate, endDate }
  const times = missed === 1 ? '1 earlier time was' : `${missed} earlier times were`
  const skipped = missed > 0 ? `${times} missed while the service was down.` : null
  const reason = [statusReason, skipped].filter((one) => one !== null).join(' ')
  const run = { businessId, reportScheduleId, scheduledTime, ...days, status, endedTime: now }
  await insertScheduleRun(tx, { ...run, statusReason: reason === '' ? null : reason }, deliveries)
}

/** The schedule was saved or run by another worker while this one printed. */
export class ScheduleChanged extends Error {
  override name = 'ScheduleChanged'
}
