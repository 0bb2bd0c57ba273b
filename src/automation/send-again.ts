import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { domainOf, type Mailbox } from '../contract/addresses.ts'
import type { MailContext } from '../contract/mail-context.ts'
import {
  draftMessage,
  isMessage,
  makeMessageId,
  messageText,
  readMessage,
  withoutIdentity,
  type Draft,
  type MessageAttachment,
} from '../email/message.ts'
import { mailboxHeader } from '../email/headers.ts'
import { replaceLinks, type MailLinks } from '../email/mail-links.ts'
import { compileTemplate, languageOf, mergeAddresses } from '../email/merge.ts'
import { getBusiness } from '../store/businesses.ts'
import { lockTemplatesWithVariants } from '../store/email-templates.ts'
import { drawEmailIds, insertEmails, type NewEmail, type WholeEmail } from '../store/emails.ts'
import { encodeBody, type ReadBody } from '../store/message-bodies.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import {
  calendarEntry,
  needsCalendar,
  withoutClient,
  senderOf,
  type SendingBusiness,
} from './compose.ts'
import { findLogo, withLogo } from './logo.ts'
import { listingOf } from './mails.ts'
import type { Preview } from './preview.ts'
import { usefulUntil } from './timing.ts'

export type Sending = {
  now: Temporal.Instant
  mailFrom: Mailbox
  /** The name of this installation in Message-IDs. */
  host: string
  links: MailLinks
}

type MadeEmail = Omit<WholeEmail, 'message' | 'html' | 'text'>

/** An earlier mail whose content is still stored. */
type RepeatedEmail = MadeEmail & { html: string; text: string; body: ReadBody }

/** Queues a new mail with the content of an earlier one, whose trigger stays as it is. */
export async function sendAgain(
  tx: Db,
  email: RepeatedEmail,
  to: string,
  sending: Sending,
): Promise<number> {
  const { now, host } = sending
  const business = await getBusiness(tx, email.businessId)
  const [emailId] = (await drawEmailIds(tx, 1)) as [number]
  const messageId = makeMessageId(email.businessId, emailId, host)
  const resending = { business, sending }
  const isToSame = to === email.to
  const repeated = isToSame ? email : readdress(email, { emailId, messageId, to }, sending)
  const { text: before, dictionary } = email.body
  const { draft, fromAddress } =
    isMessage(before) && isToSame
      ? replaceHeaders(before, email.fromAddress, resending)
      : await buildAnew(tx, repeated, resending)
  insertEmails(tx, [
    {
      ...repeated,
      ...queuedEmail(now),
      recipientKey: email.recipientKey,
      emailId,
      repeatsEmailId: email.repeatsEmailId ?? email.emailId,
      eventTriggerId: null,
      toAddress: to,
      messageId,
      fromAddress,
      message: encodeBody(draft, dictionary),
      dictionary,
    },
  ])
  return emailId
}

/** The address to send the mail to again: the client's current one, if it went to the client. */
export async function findPresentAddress(tx: Db, email: MadeEmail): Promise<string> {
  const row =
    email.isToClient && email.objectType && (await findContext(tx, email.objectType, email))
  const merged = row && (await mergeAgain(tx, email, row))
  const address = merged && merged.to?.address
  return address && address === row.context.client?.emailAddress ? address : email.to
}

/** The content for another address. Links are bound to a mail and its recipient, so they are replaced. */
function readdress(
  email: RepeatedEmail,
  own: { emailId: number; messageId: string; to: string },
  { links }: Sending,
): RepeatedEmail {
  const { businessId, objectId } = email
  // Mails about objects without a number have no answer links.
  const mail = { businessId, ...own, toAddress: own.to, objectId: objectId ?? 0 }
  const relink = (text: string) => replaceLinks(text, mail, links)
  return { ...email, ...own, html: relink(email.html), text: relink(email.text) }
}

/** Queues a preview to these addresses, marked as a test. */
export async function sendTests(
  tx: Db,
  { mail, row }: Preview,
  about: Pick<NewEmail, 'emailTemplateId' | 'emailCategoryId' | 'objectType' | 'attachments'>,
  addresses: string[],
  { now, mailFrom, host }: Sending,
): Promise<number[]> {
  const { businessId, objectId, objectUUId, clientId } = row
  const { html, text } = mail
  const subject = `[Test] ${mail.subject}`
  const object = { ...about, businessId, objectId, objectUUId, clientId }
  const email = { ...object, eventActionId: null, subject, html, text, test: true }
  const sender = senderOf(mail, row.context.business, mailFrom)
  const { logo } = row.context.business
  return queueMails(tx, email, sender, addresses, { now, host, logo, language: mail.language })
}

/** A mail that no trigger sends, before it has an id and a recipient. */
type UntriggeredMail = Omit<
  NewEmail,
  | keyof ReturnType<typeof queuedEmail>
  | 'eventTriggerId'
  | 'emailId'
  | 'toAddress'
  | 'fromAddress'
  | 'message'
  | 'dictionary'
  | 'messageId'
> & { html: string; text: string }

/** Queues a mail to each address, without calendar entry. */
export async function queueMails(
  tx: Db,
  email: UntriggeredMail,
  sender: ReturnType<typeof senderOf>,
  addresses: string[],
  {
    now,
    host,
    ownFiles = [],
    unsubscribeLink = null,
    logo,
    language = null,
    isAccount,
  }: Pick<Sending, 'now' | 'host'> & {
    ownFiles?: MessageAttachment[]
    unsubscribeLink?: string | null
    logo?: MailContext['business']['logo']
    language?: string | null
    isAccount?: boolean
  },
): Promise<number[]> {
  const ids = await drawEmailIds(tx, addresses.length)
  const emails = ids.map((emailId, i): NewEmail => {
    const toAddress = addresses[i]!
    const messageId = makeMessageId(email.businessId, emailId, host)
    const to = { name: '', address: toAddress }
    const parts = { ...email, ...sender, to, cc: null }
    const files = withLogo(email.attachments, email.html, logo)
    const own = { calendar: null, files, ownFiles, unsubscribeLink, language }
    const draft = draftMessage({ ...parts, ...own })
    return {
      ...queuedEmail(now),
      ...email,
      emailId,
      eventTriggerId: null,
      toAddress,
      fromAddress: sender.from.address,
      message: encodeBody(draft, null),
      dictionary: null,
      messageId,
    }
  })
  insertEmails(tx, emails, { isAccount: isAccount === true })
  return ids
}

const queuedEmail = (now: Temporal.Instant) => ({
  recipientKey: '',
  status: 'QUEUED' as const,
  statusReason: null,
  createdDate: now,
  usefulUntil: usefulUntil({ ...WITHOUT_TRIGGER, createdDate: now }),
})

const WITHOUT_TRIGGER = { anchorTime: null, scheduledTime: null, fireNow: null }

/** The sender's address and the message of a mail. */
type Rebuilt = { fromAddress: string; draft: Draft }

type Resending = { business: SendingBusiness; sending: Sending }

/** The same message with a new Message-ID and date, from an address that is allowed now. */
function replaceHeaders(
  draft: Draft,
  fromAddress: string,
  { business, sending: { mailFrom } }: Resending,
): Rebuilt {
  const before = readMessage(draft)
  const headers = withoutIdentity(before.headers)
  const isAllowed = business.senderDomains.includes(domainOf(fromAddress))
  if (isAllowed || fromAddress === mailFrom.address) {
    return { fromAddress, draft: messageText({ ...before, headers }) }
  }
  const from = { name: business.name, address: mailFrom.address }
  const replaced = headers.replace(FROM, (_, wanted: string) => {
    const replyTo = /^Reply-To:/m.test(headers) ? '' : `Reply-To:${wanted}`
    return mailboxHeader('From', from) + replyTo
  })
  return {
    fromAddress: from.address,
    draft: messageText({ ...before, headers: replaced }),
  }
}

/** A From header with its folded lines. */
const FROM = /^From:((?:.*\r\n[ \t])*.*\r\n)/m

/**
 * Builds the message of a mail that was captured, or that goes to another address than before. The
 * names in its headers and the calendar entry come from template and object as they are now.
 */
async function buildAnew(
  tx: Db,
  email: RepeatedEmail,
  { business, sending: { mailFrom, host, links } }: Resending,
): Promise<Rebuilt> {
  const { objectType } = email
  const row = objectType ? await findContext(tx, objectType, email) : undefined
  const merged = row && (await mergeAgain(tx, email, row))
  const logo = row ? row.context.business.logo : await findLogo(tx, email.businessId)
  const current = merged && senderOf(merged, business, mailFrom)
  const before = { from: { name: '', address: email.fromAddress }, fromName: '' }
  const { from, replyTo } =
    current?.from.address === email.fromAddress
      ? current
      : senderOf({ ...before, replyTo: merged?.replyTo ?? null }, business, mailFrom)
  const recipient = merged?.to?.address === email.to ? merged.to : { name: '', address: email.to }
  const draft = draftMessage({
    ...email,
    from,
    to: recipient,
    cc: null,
    replyTo,
    calendar:
      objectType && row && !email.test && needsCalendar(row.context, null)
        ? calendarEntry(
            objectType,
            { mail: { subject: email.subject, to: merged?.to ?? recipient }, row, recipient },
            from,
            host,
          )
        : null,
    files: withLogo(email.attachments, email.html, logo),
    language: merged?.language ?? null,
    ...(row && !email.test && listingOf({ host }, email, row)),
    // The same link as in its body.
    unsubscribeLink: email.transactional ? null : links.unsubscribe(email),
  })
  return { fromAddress: from.address, draft }
}

/** If the client is no longer a student of the class, the context names no client. */
async function findContext(tx: Db, objectType: ObjectType, email: MadeEmail) {
  const rows = await listMailContexts(tx, objectType, [email])
  return rows.find((row) => row.clientId === email.clientId) ?? (rows[0] && withoutClient(rows[0]))
}

/** Merges only names and addresses: rendering the HTML may take seconds. */
async function mergeAgain(tx: Db, email: MadeEmail, row: ContextRow) {
  const { businessId, emailTemplateId } = email
  if (emailTemplateId === null) return undefined
  const rows = await lockTemplatesWithVariants(tx, [{ businessId, emailTemplateId }])
  const template = rows.find((one) => one.emailTemplateId === emailTemplateId)
  return (
    template && {
      ...mergeAddresses(compileTemplate({ ...template, ...EMPTY_BODY }), row.context, null),
      language: languageOf(template.language, row.context),
    }
  )
}

const EMPTY_BODY = { html: '', text: '', styles: '', because: null, hasLayout: false }
