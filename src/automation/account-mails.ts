import type { Db } from '../database/database.ts'
import { buildMessage, makeMessageId, messageText } from '../email/message.ts'
import { escapeHtml } from '../email/merge.ts'
import { findBusiness } from '../store/businesses.ts'
import { drawEmailIds, insertEmails } from '../store/emails.ts'
import { senderOf } from './compose.ts'
import type { Sending } from './send-again.ts'

export type AccountMail = {
  businessId: number
  to: string
  subject: string
  /** Paragraphs around the link. */
  before: string[]
  link: string
  after: string[]
}

/**
 * Queues a mail about a person's account, which no template makes. It is transactional: people
 * cannot unsubscribe from it.
 */
export async function sendAccountMail(
  tx: Db,
  { businessId, to, subject, before, link, after }: AccountMail,
  { now, mailFrom, host }: Pick<Sending, 'now' | 'mailFrom' | 'host'>,
): Promise<number> {
  const business = (await findBusiness(tx, businessId))!
  const [emailId] = (await drawEmailIds(tx, 1)) as [number]
  const messageId = makeMessageId(businessId, emailId, host)
  const { from, replyTo } = senderOf(
    { from: null, fromName: '', replyTo: null },
    business,
    mailFrom,
  )
  const text = [...before, link, ...after].join('\n\n')
  const url = escapeHtml(link)
  const html = [
    ...before.map(paragraph),
    `<p><a href="${url}">${url}</a></p>`,
    ...after.map(paragraph),
  ].join('\n')
  const message = buildMessage({
    messageId,
    date: now,
    from,
    to: { name: '', address: to },
    cc: null,
    replyTo,
    subject,
    text,
    html,
    calendar: null,
    unsubscribeLink: null,
  })
  insertEmails(tx, [
    {
      businessId,
      emailId,
      eventTriggerId: null,
      eventActionId: null,
      emailTemplateId: null,
      emailCategoryId: null,
      objectType: null,
      objectId: null,
      objectUUId: null,
      clientId: null,
      recipientKey: '',
      toAddress: to,
      fromAddress: from.address,
      subject,
      html,
      text,
      message: messageText(message),
      messageId,
      test: false,
      status: 'QUEUED',
      statusReason: null,
      createdDate: now,
    },
  ])
  return emailId
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`
