import { isSameAddress } from '../contract/addresses.ts'
import type { Database, Db } from '../database/database.ts'
import type { Bounce, MailReport } from '../email/bounce.ts'
import { readReport } from '../email/mail-reports.ts'
import { businessIdOf, emailIdOf, randomPartOf } from '../email/message.ts'
import { isBounceSealOf, readBounceAddress } from '../email/verp.ts'
import type { By } from '../store/rows.ts'
import { findReportedMail, noteReport, type ReportedMail } from '../store/emails.ts'
import { recordSoftBounces } from '../store/soft-bounces.ts'
import { suppress } from '../store/suppressions.ts'

/** The domain and the secret with which bounce addresses are verified. */
export type BounceSeal = { domain: string; secret: string }

/** The mail that a genuine bounce address names; undefined for any other address. */
export async function findBouncedMail(
  dbOf: (businessId: number) => Db,
  address: string,
  { domain, secret }: BounceSeal,
): Promise<ReportedMail | undefined> {
  const token = readBounceAddress(address, domain)
  if (!token) return undefined
  const mail = await findReportedMail(dbOf(token.businessId), token.businessId, token.emailId)
  return mail && isBounceSealOf(mail, token.seal, secret) ? mail : undefined
}

/** A report has one envelope sender; more are tried in case a forwarder added headers. */
const MAX_TRIED = 5

/**
 * The mail that a report is about: by a genuine bounce address, or by a Message-ID with our random part.
 * A Message-ID without that part could be guessed.
 */
export async function findMailOfReport(
  dbOf: (businessId: number) => Db,
  { messageId, envelopeSenders }: MailReport,
  seal: BounceSeal,
): Promise<ReportedMail | undefined> {
  for (const address of envelopeSenders.slice(0, MAX_TRIED)) {
    const mail = await findBouncedMail(dbOf, address, seal)
    if (mail) return mail
  }
  if (messageId === null || randomPartOf(messageId) === undefined) return undefined
  const businessId = businessIdOf(messageId)!
  const mail = await findReportedMail(dbOf(businessId), businessId, emailIdOf(messageId)!)
  return mail?.messageId === messageId ? mail : undefined
}

/** Records a report about a mail; returns the addresses that are suppressed now. */
export async function recordReport(
  tx: Db,
  { bounces, complaint, complainant }: MailReport,
  mail: ReportedMail,
  by: By,
): Promise<string[]> {
  const bounce = bounceOf(mail, bounces)
  const bounced = bounce?.permanent ? await recordBounce(tx, bounce, mail, by) : []
  // Somebody to whom the mail was forwarded does not speak for its recipient.
  const isOfRecipient = complainant === undefined || isSameAddress(complainant, mail.toAddress)
  const complained =
    complaint !== undefined && isOfRecipient ? await recordComplaint(tx, complaint, mail, by) : []
  return [...bounced, ...complained]
}

/**
 * The bounce of a mail to one recipient. If the report names only other addresses, the mail was
 * forwarded: the recipient may have a copy, so it counts as a soft bounce.
 */
function bounceOf({ toAddress }: ReportedMail, bounces: Bounce[]): Bounce | undefined {
  const isOfAddress = ({ recipient }: Bounce) => recipient.toLowerCase() === toAddress.toLowerCase()
  const ofAddress = bounces.filter(isOfAddress)
  const [worst] = (ofAddress.length > 0 ? ofAddress : bounces).toSorted(
    (a, b) => Number(b.permanent) - Number(a.permanent),
  )
  if (!worst || isOfAddress(worst)) return worst
  return { ...worst, isNoSuchMailbox: false, isSoft: worst.isSoft || worst.isNoSuchMailbox }
}

async function recordBounce(tx: Db, bounce: Bounce, mail: ReportedMail, by: By): Promise<string[]> {
  const detail = [bounce.status, bounce.words].filter(Boolean).join(' ') || null
  const isNoted = await noteReport(tx, mail, `bounced: ${detail ?? 'no reason given'}`)
  if (bounce.isNoSuchMailbox) return suppressRecipient(tx, mail, { reason: 'BOUNCED', detail }, by)
  return bounce.isSoft && isNoted ? recordSoftBounces(tx, [mail], by) : []
}

async function recordComplaint(tx: Db, type: string, mail: ReportedMail, by: By) {
  const detail = `the recipient reported a mail as spam (${type})`
  await noteReport(tx, mail, detail)
  return suppressRecipient(tx, mail, { reason: 'COMPLAINED', detail }, by)
}

async function suppressRecipient(
  tx: Db,
  { businessId, toAddress }: ReportedMail,
  why: { reason: 'BOUNCED' | 'COMPLAINED'; detail: string | null },
  by: By,
) {
  const emailAddress = toAddress.toLowerCase()
  await suppress(tx, [{ businessId, emailAddress, ...why }], by)
  return [emailAddress]
}

/** The outcome of a message that arrived at the bounce listener. */
export type Received = 'bounce' | 'complaint' | 'ignored' | 'too early'

export type ReceivingParts = { database: Database; seal: BounceSeal; now(): Temporal.Instant }

/**
 * Records a message that arrived for a mail, or for the feedback address. A report that arrives before
 * the mail server's answer is recorded is too early: the sender must try again.
 */
export async function receiveReport(
  { database, seal, now }: ReceivingParts,
  { raw, named, peer }: { raw: string; named: ReportedMail | undefined; peer: string },
): Promise<Received> {
  const report = await readReport(named ?? { address: peer }, raw)
  const dbOf = (businessId: number) => database.forBusiness(businessId, 'SYSTEM')
  const mail = named ?? (await findMailOfReport(dbOf, report, seal))
  const isAbout = report.complaint ?? report.bounces.find(({ permanent }) => permanent)
  if (!mail || !isAbout) return 'ignored'
  if (mail.isPending) return 'too early'
  await dbOf(mail.businessId).transaction((tx) =>
    recordReport(tx, report, mail, { user: 'SYSTEM', now: now() }),
  )
  return report.complaint ? 'complaint' : 'bounce'
}
