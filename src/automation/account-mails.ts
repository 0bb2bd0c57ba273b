import type { Db } from '../database/database.ts'
import { buildMessage, makeMessageId, messageText } from '../email/message.ts'
import { escapeHtml } from '../email/merge.ts'
import { findBusiness } from '../store/businesses.ts'
import { drawEmailIds, insertEmails } from '../store/emails.ts'
import { senderOf } from './compose.ts'
import { queuedEmail, type Sending } from './send-again.ts'

export type AccountMail = {
  businessId: number
  to: string
  subject: string
  /** The paragraphs before and after the link. */
  before: string[]
  link: string
  after: string[]
}

/**
 * Queues a mail about a user's account. It has no template and is transactional: users cannot
 * unsubscribe from it.
 */
export async function sendAccountMail(
  tx: Db,
  mail: AccountMail,
  { now, mailFrom, host }: Pick<Sending, 'now' | 'mailFrom' | 'host'>,
): Promise<number> {
  const { businessId, to, subject } = mail
  const business = (await findBusiness(tx, businessId))!
  const [emailId] = (await drawEmailIds(tx, 1)) as [number]
  const messageId = makeMessageId(businessId, emailId, host)
  const wanted = { from: null, fromName: '', replyTo: null }
  const sender = senderOf(wanted, business, mailFrom)
  const body = bodyOf(mail)
  const message = buildMessage({
    messageId,
    date: now,
    ...sender,
    to: { name: '', address: to },
    cc: null,
    subject,
    ...body,
    calendar: null,
    unsubscribeLink: null,
  })
  insertEmails(tx, [
    {
      ...queuedEmail(now),
      ...ABOUT_NO_OBJECT,
      businessId,
      emailId,
      toAddress: to,
      fromAddress: sender.from.address,
      subject,
      ...body,
      message: messageText(message),
      messageId,
      test: false,
    },
  ])
  return emailId
}

function bodyOf({ before, link, after }: AccountMail) {
  const url = escapeHtml(link)
  return {
    text: [...before, link, ...after].join('\n\n'),
    html: [
      ...before.map(paragraph),
      `<p><a href="${url}">${url}</a></p>`,
      ...after.map(paragraph),
    ].join('\n'),
  }
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`

const ABOUT_NO_OBJECT = {
  eventTriggerId: null,
  eventActionId: null,
  emailTemplateId: null,
  emailCategoryId: null,
  objectType: null,
  objectId: null,
  objectUUId: null,
  clientId: null,
}
