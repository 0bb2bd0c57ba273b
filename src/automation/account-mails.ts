import type { Db } from '../database/database.ts'
import type { MessageAttachment } from '../email/message.ts'
import { writeOwnMail, type OwnMail } from '../email/own-mail.ts'
import { getBusiness } from '../store/businesses.ts'
import { senderOf } from './compose.ts'
import { findLogo } from './logo.ts'
import { queueMails, type Sending } from './send-again.ts'

type AccountMail = OwnMail & {
  businessId: number
  to: string
  attachment?: MessageAttachment | undefined
  /** It is sent even if the mail of the business is paused or its daily limit is reached. */
  isAccount?: boolean
}

/**
 * Queues a mail to a user of the business, about their account or with a report. It has no template
 * and is transactional: users cannot unsubscribe from it.
 */
export async function sendAccountMail(
  tx: Db,
  mail: AccountMail,
  { now, mailFrom, host }: Pick<Sending, 'now' | 'mailFrom' | 'host'>,
): Promise<number> {
  const { businessId, to, subject } = mail
  const business = await getBusiness(tx, businessId)
  const sender = senderOf({ from: null, fromName: '', replyTo: null }, business, mailFrom)
  const logo = await findLogo(tx, businessId)
  const { html, text } = writeOwnMail(mail, { ...business, logo })
  const email = { ...ABOUT_NO_OBJECT, businessId, subject, html, text, test: false }
  const { attachment, isAccount = false } = mail
  const sending = { now, host, attachment, logo, isAccount }
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
