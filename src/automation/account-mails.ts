import type { Db } from '../database/database.ts'
import type { MessageAttachment } from '../email/message.ts'
import { writeOwnMail, type OwnMail } from '../email/own-mail.ts'
import {
  insertAccountMail,
  lockRecentAccountMails,
  type AccountMailPurpose,
} from '../store/account-mails.ts'
import { getBusiness } from '../store/businesses.ts'
import { supportedLanguage } from '../texts/texts.ts'
import { COUNTED_HOURS, findExceededLimit, type ExceededLimit } from './account-mail-limits.ts'
import { senderOf } from './compose.ts'
import { findLogo } from './logo.ts'
import { queueMails, type Sending } from './send-again.ts'

type UserMail = OwnMail & {
  businessId: number
  to: string
  ownFiles?: MessageAttachment[]
  /** The one-click link of a mail that its reader can stop. */
  unsubscribeLink?: string
}

type AccountMail = UserMail & {
  purpose: AccountMailPurpose
  /** The user or key that asked for it; null if that is not known. */
  sender: string | null
}

type OwnSending = Pick<Sending, 'now' | 'mailFrom' | 'host'>

/**
 * Queues a mail about an account, or a notice. It is sent even if the mail of the business is paused,
 * its daily limit is reached, or the address is suppressed, so it has limits of its own.
 */
export async function sendAccountMail(
  tx: Db,
  mail: AccountMail,
  sending: OwnSending,
): Promise<{ emailId: number } | { exceeded: ExceededLimit }> {
  const { businessId, purpose, sender } = mail
  const { now } = sending
  const since = now.subtract({ hours: COUNTED_HOURS })
  const recent = await lockRecentAccountMails(tx, businessId, purpose, since)
  const exceeded = findExceededLimit(recent, mail, now)
  if (exceeded) return { exceeded }
  const emailId = await queueUserMail(tx, mail, sending, true)
  await insertAccountMail(tx, { businessId, emailId, purpose, sender, createdDate: now })
  return { emailId }
}

/**
 * Queues a mail to a user of the business, such as a report. It has no template and is transactional:
 * users cannot unsubscribe from it.
 */
export const sendUserMail = (tx: Db, mail: UserMail, sending: OwnSending) =>
  queueUserMail(tx, mail, sending, false)

async function queueUserMail(
  tx: Db,
  mail: UserMail,
  { now, mailFrom, host }: OwnSending,
  isAccount: boolean,
): Promise<number> {
  const { businessId, to, subject, ownFiles = [], unsubscribeLink = null } = mail
  const business = await getBusiness(tx, businessId)
  const sender = senderOf({ from: null, fromName: '', replyTo: null }, business, mailFrom)
  const logo = await findLogo(tx, businessId)
  const { html, text } = writeOwnMail(mail, { ...business, logo })
  const email = { ...ABOUT_NO_OBJECT, businessId, subject, html, text, test: false }
  const language = supportedLanguage(business.language)
  const sending = { now, host, ownFiles, unsubscribeLink, logo, language, isAccount }
  const [emailId] = await queueMails(tx, email, sender, [to], sending)
  return emailId!
}

const ABOUT_NO_OBJECT = {
  eventActionId: null,
  emailTemplateId: null,
  emailCategoryId: null,
  objectType: null,
  objectId: null,
  objectUUId: null,
  clientId: null,
}
