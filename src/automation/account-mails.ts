import type { Db } from '../database/database.ts'
import { escapeHtml } from '../email/merge.ts'
import type { MessageAttachment } from '../email/message.ts'
import { getBusiness } from '../store/businesses.ts'
import { senderOf } from './compose.ts'
import { queueMails, type Sending } from './send-again.ts'

type AccountMail = {
  businessId: number
  to: string
  subject: string
  /** The paragraphs before and after the link. */
  before: string[]
  link: string | null
  after: string[]
  attachment?: MessageAttachment | undefined
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
  const email = { ...ABOUT_NO_OBJECT, businessId, subject, ...bodyOf(mail), test: false }
  const { attachment } = mail
  const [emailId] = await queueMails(tx, email, sender, [to], { now, host, attachment })
  return emailId!
}

function bodyOf({ before, link, after }: AccountMail) {
  const links = link === null ? [] : [link]
  return {
    text: [...before, ...links, ...after].join('\n\n'),
    html: [...before.map(paragraph), ...links.map(linkParagraph), ...after.map(paragraph)].join(
      '\n',
    ),
  }
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`

const linkParagraph = (link: string) => {
  const url = escapeHtml(link)
  return `<p><a href="${url}">${url}</a></p>`
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
