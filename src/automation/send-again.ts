import type { Db } from '../database/database.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { buildMessage, messageIdOf, messageText, readMessage } from '../email/message.ts'
import { dateText } from '../email/headers.ts'
import { drawEmailIds, insertEmails, type NewEmail, type WholeEmail } from '../store/emails.ts'
import type { Preview } from './preview.ts'
import { senderOf } from './compose.ts'

/** What mails that people send by hand stand on. */
export type Sending = {
  now: Temporal.Instant
  mailFrom: Mailbox
  /** The name of this installation in Message-IDs. */
  host: string
}

/** A new mail that says what an earlier one said. The trigger of that one stays as it is. */
export async function sendAgain(
  tx: Db,
  email: WholeEmail & { html: string; text: string },
  { now, host }: Sending,
): Promise<number> {
  const [emailId] = (await drawEmailIds(tx, 1)) as [number]
  const messageId = messageIdOf(email.businessId, emailId, host)
  insertEmails(tx, [
    {
      ...email,
      ...queued(now),
      emailId,
      eventTriggerId: null,
      toAddress: email.to,
      messageId,
      message: bytesAgain(email, messageId, now),
    },
  ])
  return emailId
}

/** The mail that a template makes of an object, to these addresses, marked as a test. */
export async function sendTests(
  tx: Db,
  { mail, row }: Preview,
  about: Pick<NewEmail, 'emailTemplateId' | 'emailCategoryId' | 'objectType'>,
  addresses: string[],
  { now, mailFrom, host }: Sending,
): Promise<number[]> {
  const ids = await drawEmailIds(tx, addresses.length)
  const from = senderOf(mail, mailFrom)
  const subject = `[Test] ${mail.subject}`
  const emails = addresses.map((address, i): NewEmail => {
    const emailId = ids[i]!
    const messageId = messageIdOf(row.businessId, emailId, host)
    const to = { name: '', address }
    const parts = { ...mail, subject, from, to, cc: null, messageId, date: now }
    const message = buildMessage({ ...parts, calendar: null, unsubscribeLink: null })
    return {
      ...queued(now),
      ...about,
      businessId: row.businessId,
      emailId,
      eventTriggerId: null,
      eventActionId: null,
      objectId: row.objectId,
      objectUUId: row.objectUUId,
      clientId: row.clientId,
      toAddress: address,
      fromAddress: from.address,
      subject,
      html: mail.html,
      text: mail.text,
      message: messageText(message),
      messageId,
      test: true,
    }
  })
  insertEmails(tx, emails)
  return ids
}

const queued = (now: Temporal.Instant) => ({
  recipientKey: '',
  status: 'QUEUED' as const,
  statusReason: null,
  attempts: [],
  nextAttemptTime: now,
  sentTime: null,
  createdDate: now,
})

/** The same message under another name; one that never was in wire form is put into it. */
function bytesAgain(
  email: WholeEmail & { html: string; text: string },
  messageId: string,
  now: Temporal.Instant,
) {
  if (!email.message) {
    const from = { name: '', address: email.fromAddress }
    const to = { name: '', address: email.to }
    const parts = { ...email, from, to, cc: null, replyTo: null, messageId, date: now }
    const message = buildMessage({ ...parts, calendar: null, unsubscribeLink: null })
    return messageText(message)
  }
  const before = readMessage(email.message.toString('latin1'))
  const headers = before.headers
    .replace(/^Message-ID: .*$/m, `Message-ID: ${messageId}`)
    .replace(/^Date: .*$/m, `Date: ${dateText(now)}`)
  return messageText({ ...before, headers, messageId })
}
