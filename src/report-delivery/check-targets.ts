import { sendUserMail } from '../automation/account-mails.ts'
import { SECURITY_FUNCTIONS } from '../auth/permissions.ts'
import type { Mailbox } from '../contract/addresses.ts'
import type { Database, Db } from '../database/database.ts'
import { escapeHtml } from '../email/merge.ts'
import { RequestError } from '../errors.ts'
import { pause, type Loop } from '../repeat.ts'
import { NO_ENTRIES, readEntries, type Entries } from '../reports/drill-down.ts'
import { writeFigure, writePeriod } from '../reports/formats/format-values.ts'
import { checkPrintRequest, type PrintJob } from '../reports/print-request.ts'
import { readKpis } from '../reports/print.ts'
import type { KpiResult } from '../reports/report.ts'
import { wordsOf } from '../reports/words.ts'
import { findTimeZone } from '../store/report-schedules.ts'
import {
  findBusinessWithDueTarget,
  findDueTarget,
  recordCheck,
  type TargetRow,
} from '../store/report-targets.ts'
import { shareUsersById, type UserRow } from '../store/users.ts'
import { claimWork, releaseWork } from '../store/work-leases.ts'
import { fillText, textsFor } from '../texts/texts.ts'
import { consoleLink } from './console-link.ts'
import { recipientFault } from './save-target.ts'
import { dayOf, daysOf } from './timing.ts'

type CheckParts = {
  database: Database
  now(): Temporal.Instant
  /** Random bytes for the name of the worker. */
  random(size: number): Buffer
  leaseSeconds: number
  publicUrl: string
  mailFrom: Mailbox
  host: string
  onError(error: unknown): void
}

const REST_MS = 10_000
const CHECK_EVERY = { hours: 1 }
/** The entries that a mail lists. */
const MAX_ENTRIES = 20

/** Checks each target once an hour, and mails its people when its figure crosses it. */
export function createTargetLoop(parts: CheckParts): Loop {
  const { database, now, leaseSeconds } = parts
  const worker = parts.random(9).toString('base64url')

  const runOnce = async () => {
    const businessId = await findBusinessWithDueTarget(database.engine, now())
    if (businessId === undefined) return 0
    const work = { name: `report targets of business ${businessId}`, worker }
    const leaseUntil = now().add({ seconds: leaseSeconds })
    if (!(await claimWork(database.engine, work, { now: now(), leaseUntil }))) return 0
    try {
      return await checkNext(parts, businessId)
    } finally {
      await releaseWork(database.engine, work)
    }
  }
  return { name: 'report-targets', runOnce, rest: (stopping) => pause(REST_MS, stopping) }
}

async function checkNext(parts: CheckParts, businessId: number) {
  const db = parts.database.forBusiness(businessId, 'SYSTEM')
  const target = await findDueTarget(db, businessId, parts.now())
  if (!target) return 0
  const found = await readFigure(parts, db, target)
  const checkedTime = parts.now()
  const next = checkedTime.add(CHECK_EVERY)
  if ('error' in found) {
    const { crossedTime } = target.state
    const state = { lastValue: null, checkedTime, crossedTime, lastError: found.error }
    await recordCheck(db, target, state, next)
    return 1
  }
  const { value } = found.kpi
  const isBeyond =
    value !== null && (target.direction === 'ABOVE' ? value > target.value : value < target.value)
  const isNew = isBeyond && target.state.crossedTime === null
  const behind = isNew
    ? await readEntries(parts.database.reportsOf(businessId), found.job, found.kpi, MAX_ENTRIES)
    : NO_ENTRIES
  await db.transaction(async (tx) => {
    const recipients = isNew ? await shareRecipients(tx, target) : []
    const state = {
      lastValue: value,
      checkedTime,
      crossedTime: isBeyond ? (target.state.crossedTime ?? checkedTime) : null,
      lastError: isNew && recipients.length === 0 ? 'nobody may get the mail any more' : null,
    }
    // If the target was saved meanwhile, it is checked again.
    if (!(await recordCheck(tx, target, state, next))) return
    const crossing = { ...found, ...behind, recipients }
    if (isNew) await mailCrossing(tx, parts, target, crossing, checkedTime)
  })
  return 1
}

type Found = { job: PrintJob; kpi: KpiResult }

/** The figure for everything that the target is about, or why there is none. */
async function readFigure(
  parts: CheckParts,
  db: Db,
  target: TargetRow,
): Promise<Found | { error: string }> {
  const { businessId, reportId, filters, locationId, currency } = target
  const reports = parts.database.reportsOf(businessId)
  const now = parts.now()
  const timeZone = await findTimeZone(db, businessId, locationId)
  const { startDate, endDate } = daysOf(target.range, dayOf(now, timeZone))
  const days = { startDate: startDate.toString(), endDate: endDate.toString() }
  const reader = {
    businessId,
    functions: new Set<string>(SECURITY_FUNCTIONS),
    locationIds: null,
    professionalIds: null,
  }
  try {
    const job = await checkPrintRequest(
      reports,
      { reportId, filters, locationId, ...days },
      reader,
      now,
    )
    const own = (await readKpis(reports, job)).filter(({ name }) => name === target.kpi)
    const kpi =
      own.find((one) => one.currency === currency) ?? (own.length === 1 ? own[0] : undefined)
    if (kpi) return { job, kpi }
    return {
      error:
        own.length > 1
          ? 'the amounts are in several currencies; choose one'
          : 'the report does not have this figure for these days and filters',
    }
  } catch (error) {
    if (error instanceof RequestError && error.status < 500) return { error: error.message }
    throw error
  }
}

/** Locked, because rights may have changed since the target was saved. */
async function shareRecipients(tx: Db, target: TargetRow) {
  const users = await shareUsersById(tx, target.businessId, target.userIdList)
  return users.filter((user) => recipientFault(user, target) === undefined)
}

type Crossing = Found & Entries & { recipients: UserRow[] }

async function mailCrossing(
  tx: Db,
  { publicUrl, mailFrom, host }: CheckParts,
  target: TargetRow,
  { job, kpi, entries, count, recipients }: Crossing,
  now: Temporal.Instant,
) {
  const words = wordsOf(job.locale)
  const texts = textsFor(job.locale).targetMails
  const { startDate, endDate } = job.scope
  const days = { startDate: startDate.toString(), endDate: endDate.toString() }
  const values = {
    figure: words.say(kpi.label.replace(/ \([A-Z]{3}\)$/, '')),
    value: writeFigure({ value: kpi.value, unit: kpi.unit, currency: kpi.currency }, words),
    target: writeFigure({ value: target.value, unit: kpi.unit, currency: kpi.currency }, words),
    period: writePeriod(days, words),
    report: words.say(job.report.reportName),
    business: job.businessName,
    shown: entries.length,
    count,
  }
  const heading = count > entries.length ? texts.entries.some : texts.entries.all
  const subject = target.name ?? fillText(texts.subject[target.direction], values)
  for (const { emailAddress } of recipients) {
    await sendUserMail(
      tx,
      {
        businessId: target.businessId,
        to: emailAddress!,
        subject,
        before: [
          fillText(texts.crossed[target.direction], values),
          ...(entries.length > 0 ? [fillText(heading, values), listOf(entries)] : []),
          {
            words: texts.console,
            url: consoleLink(publicUrl, { ...target, ...days, groupBy: null }),
          },
        ],
        link: null,
        after: [texts.once],
      },
      { now, mailFrom, host },
    )
  }
}

/** One entry a line, in one paragraph. */
const listOf = (entries: string[]) => ({
  html: `<p>${entries.map(escapeHtml).join('<br>')}</p>`,
  text: entries.join('\n'),
})
