import type { Database, Db } from '../database/database.ts'
import type { Bounce, Complaint, MailReport } from '../email/bounce.ts'
import { readMailReport } from '../email/bounce.ts'
import { businessIdOf, emailIdOf, randomPartOf } from '../email/message.ts'
import { isBounceSealOf, readBounceAddress } from '../email/verp.ts'
import { findReportedMail, noteBounces, type ReportedMail } from '../store/emails.ts'
import { recordSoftBounces } from '../store/soft-bounces.ts'
import { suppress } from '../store/suppressions.ts'

/** The domain and the secret with which bounce addresses are verified. */
export type BounceSeal = { domain: string; secret: string }

type By = { user: string; now: Temporal.Instant }

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

/**
 * Records a report in the business of the transaction; returns the addresses that are suppressed now.
 * `mail` is the one that its bounce address names; if it is missing, the report identifies its mail.
 */
export async function recordReport(
  tx: Db,
  report: MailReport,
  { businessId, mail }: { businessId: number; mail: ReportedMail | undefined },
  by: By,
): Promise<string[]> {
  const bounces = mail ? bouncesOf(mail, report.bounces) : report.bounces
  const final = bounces.filter(({ permanent }) => permanent)
  const gone = final.filter((bounce) => bounce.isNoSuchMailbox)
  await suppress(
    tx,
    gone.map((bounce) => ({
      businessId,
      emailAddress: bounce.recipient,
      reason: 'BOUNCED' as const,
      detail: detailOf(bounce),
    })),
    by,
  )
  const noted = new Set(await noteBounces(tx, businessId, final.flatMap(noteOf)))
  const soft = final.flatMap((bounce) => {
    const emailId = bounce.isSoft ? idOf(bounce) : undefined
    return emailId !== undefined && noted.has(emailId) ? [{ businessId, emailId }] : []
  })
  const atLimit = await recordSoftBounces(tx, soft, by)
  const { complaint } = report
  const complained = complaint ? await recordComplaint(tx, complaint, { businessId, mail }, by) : []
  return [...gone.map(({ recipient }) => recipient.toLowerCase()), ...atLimit, ...complained]
}

/**
 * The bounce of a mail to one recipient. If the report names only other addresses, the mail was
 * forwarded: the recipient may have a copy, so it counts as a soft bounce.
 */
function bouncesOf({ messageId, toAddress }: ReportedMail, bounces: Bounce[]): Bounce[] {
  const isOfAddress = ({ recipient }: Bounce) => recipient.toLowerCase() === toAddress.toLowerCase()
  const ofAddress = bounces.filter(isOfAddress)
  const [worst] = (ofAddress.length > 0 ? ofAddress : bounces).toSorted(
    (a, b) => Number(b.permanent) - Number(a.permanent),
  )
  if (!worst) return []
  const bounce = { ...worst, messageId, recipient: toAddress }
  const isForwarded = worst.permanent && !isOfAddress(worst)
  const isSoftNow = worst.isSoft || worst.isNoSuchMailbox
  return [isForwarded ? { ...bounce, isNoSuchMailbox: false, isSoft: isSoftNow } : bounce]
}

async function recordComplaint(
  tx: Db,
  complaint: Complaint,
  { businessId, mail: named }: { businessId: number; mail: ReportedMail | undefined },
  by: By,
): Promise<string[]> {
  const mail = named ?? (await findByMessageId(tx, businessId, complaint))
  const emailAddress = (mail?.toAddress ?? complaint.recipient)?.toLowerCase()
  if (emailAddress === undefined) return []
  const detail = `the recipient reported a mail as spam (${complaint.type})`
  await suppress(tx, [{ businessId, emailAddress, reason: 'COMPLAINED', detail }], by)
  if (mail) {
    const { emailId, messageId, toAddress: recipient } = mail
    await noteBounces(tx, businessId, [{ emailId, messageId, recipient, reason: detail }])
  }
  return [emailAddress]
}

async function findByMessageId(db: Db, businessId: number, { messageId }: Complaint) {
  const emailId = messageId === null ? undefined : emailIdOf(messageId)
  const mail = emailId === undefined ? undefined : await findReportedMail(db, businessId, emailId)
  return mail?.messageId === messageId ? mail : undefined
}

const detailOf = ({ status, words }: Bounce) => [status, words].filter(Boolean).join(' ') || null

const idOf = ({ messageId }: Bounce) => (messageId === null ? undefined : emailIdOf(messageId))

function noteOf(bounce: Bounce) {
  const { messageId, recipient } = bounce
  const emailId = idOf(bounce)
  const reason = `bounced: ${detailOf(bounce) ?? 'no reason given'}`
  return emailId === undefined ? [] : [{ emailId, messageId: messageId!, recipient, reason }]
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
  raw: string,
  named: ReportedMail | undefined,
): Promise<Received> {
  const report = await readMailReport(raw)
  const dbOf = (businessId: number) => database.forBusiness(businessId, 'SYSTEM')
  const mail = named ?? (await findReported(dbOf, report, seal))
  const isAbout = report.complaint ?? report.bounces.find(({ permanent }) => permanent)
  if (!mail || !isAbout) return 'ignored'
  if (mail.isPending) return 'too early'
  const { businessId } = mail
  await dbOf(businessId).transaction((tx) =>
    recordReport(tx, report, { businessId, mail }, { user: 'SYSTEM', now: now() }),
  )
  return report.complaint ? 'complaint' : 'bounce'
}

/** Finds the mail by a genuine bounce address in the report, or by a Message-ID with our random part. */
async function findReported(
  dbOf: (businessId: number) => Db,
  { complaint, envelopeSenders }: MailReport,
  seal: BounceSeal,
) {
  for (const address of envelopeSenders.slice(0, MAX_TRIED)) {
    const mail = await findBouncedMail(dbOf, address, seal)
    if (mail) return mail
  }
  // A Message-ID without the random part could be guessed.
  const isUnguessable = complaint?.messageId && randomPartOf(complaint.messageId) !== undefined
  const businessId = isUnguessable ? businessIdOf(complaint.messageId!) : undefined
  return businessId === undefined
    ? undefined
    : findByMessageId(dbOf(businessId), businessId, complaint!)
}

const MAX_TRIED = 5
