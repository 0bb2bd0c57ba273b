import PostalMime, { type Email } from 'postal-mime'
import { parseAddress } from '../contract/addresses.ts'

/** A report of a mail server about one recipient of one mail (RFC 3464). */
export type Bounce = {
  recipient: string
  /** The mail was not and will not be delivered. False for a delay or a delivery. */
  permanent: boolean
  /** The mailbox of the recipient does not exist. False if only a mailbox that it forwards to is missing. */
  isNoSuchMailbox: boolean
  /** The mailbox may exist, but could not take the mail: see `isSoft`. */
  isSoft: boolean
  /** Such as `5.1.1`. */
  status: string
  words: string
}

/**
 * Whether an enhanced status code (RFC 3463) says that the recipient's mailbox does not exist: the
 * codes 5.1.x, except 5.1.7 and 5.1.8, which are about the sender. All other refusals are about the
 * message, the sender or the time, so the next mail may be accepted.
 */
export const isNoSuchMailbox = (status: string) =>
  /^5\.1\.\d{1,3}$/.test(status) && status !== '5.1.7' && status !== '5.1.8'

/**
 * Whether an enhanced status code means that a mailbox is full or disabled, or that a server could not be
 * reached. Codes about the message, the sender or a policy (5.3.4, 5.6.x, x.7.x) do not.
 */
export const isSoft = (status: string) =>
  status !== '5.2.3' && /^(?:5\.[24]|4\.[1-5])\.\d{1,3}$/.test(status)

/** The enhanced status code at the beginning of an SMTP reply; empty if the reply has none. */
export const statusOfReply = (reply: string) =>
  /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''

export type MailReport = {
  bounces: Bounce[]
  /** How a reader reported the mail as spam (RFC 5965), such as `abuse`. */
  complaint: string | undefined
  /** Whose mailbox the complaint is from; undefined if it does not say so. */
  complainant: string | undefined
  /** The Message-ID of the mail that was sent, if the report quotes it. */
  messageId: string | null
  /** The addresses that can be the envelope sender of the mail: see verp.ts. */
  envelopeSenders: string[]
}

/**
 * Reads a delivery status notification or a complaint. The result is empty for other messages. Only the
 * thread of `mail-reports.ts` may call it: a message of short lines takes long.
 */
export async function readMailReport(raw: string): Promise<MailReport> {
  const report = await parseMessage(raw)
  if (!report) return NO_REPORT
  // OpenSMTPD writes its notifications as multipart/mixed.
  if (!/^multipart\/(?:report|mixed)\b/i.test(contentType(report))) return readTextReport(report)
  const quoted = await quotedMail(report)
  const bounces = partsOf(report, /^message\/(?:global-)?delivery-status$/)
    .flatMap((status) => status.split(/\r?\n(?:[ \t]*\r?\n)+/).slice(1))
    .filter((fields) => /-recipient:/i.test(fields))
    .flatMap((fields) => bounceOf(readFields(fields), report.text ?? ''))
  const [feedback] = partsOf(report, /^message\/feedback-report$/).map(readFields)
  const envelopeSenders = [
    ...valuesOf(report, RECIPIENT_HEADERS),
    feedback?.get('original-mail-from'),
    quoted.returnPath,
  ].flatMap((value) => plainAddress(value) ?? [])
  return {
    bounces,
    complaint: feedback && complaintOf(feedback),
    complainant: plainAddress(feedback?.get('original-rcpt-to')),
    messageId: quoted.messageId,
    envelopeSenders,
  }
}

export const NO_REPORT: MailReport = {
  bounces: [],
  complaint: undefined,
  complainant: undefined,
  messageId: null,
  envelopeSenders: [],
}

/**
 * Reads a bounce that is plain text, as qmail and older versions of Exim and Sendmail write it: each
 * address is a line of its own, the reason follows until an empty line, and the mail is quoted at the end.
 */
function readTextReport(report: Email): MailReport {
  const lines = (report.text ?? '').replaceAll('\r', '').replaceAll('\0', '').split('\n')
  const end = lines.findIndex(isQuoteMark)
  const own = end === -1 ? lines : lines.slice(0, end)
  const quoted = end === -1 ? [] : lines.slice(end + 1)
  const isFromServer = /^mailer-daemon@/i.test(report.from?.address ?? '')
  if (!isFromServer || !/\bpermanent (?:fatal )?error/i.test(own.join(' '))) return NO_REPORT
  const quotedHeader = (name: string) =>
    quoted.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  return {
    bounces: own.flatMap((line, i) =>
      textBounceOf(line, own.slice(i + 1, i + 1 + MAX_REASON_LINES)),
    ),
    complaint: undefined,
    complainant: undefined,
    messageId: /<[^<>\s]+>/.exec(quotedHeader('message-id') ?? '')?.[0] ?? null,
    envelopeSenders: [...valuesOf(report, RECIPIENT_HEADERS), quotedHeader('return-path')].flatMap(
      (value) => plainAddress(value) ?? [],
    ),
  }
}

const MAX_REASON_LINES = 20

const isQuoteMark = (line: string) =>
  line.trimStart().startsWith('---') && line.toLowerCase().includes('message')

/** The address if the line has nothing else: `ada@example.org`, `<ada@example.org>:`. */
const addressInLine = (line: string) => plainAddress(line.trim().replace(/:$/, ''))

function textBounceOf(line: string, following: string[]): Bounce[] {
  const recipient = addressInLine(line)
  if (recipient === undefined) return []
  const end = following.findIndex((one) => one.trim() === '' || addressInLine(one) !== undefined)
  const reason = end === -1 ? following : following.slice(0, end)
  const words = reason
    .map((one) => one.trim())
    .join(' ')
    .slice(0, 500)
  const status = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/.exec(words)?.[0] ?? ''
  const kind = { isNoSuchMailbox: isNoSuchMailbox(status), isSoft: isSoft(status) }
  return [{ recipient, permanent: true, ...kind, status, words }]
}

const RECIPIENT_HEADERS = ['to', 'delivered-to', 'x-original-to', 'envelope-to']

const valuesOf = ({ headers }: Email, names: string[]) =>
  headers.filter(({ key }) => names.includes(key)).map(({ value }) => value)

/** `rfc822; <a@b.example>`, `<a@b.example>` and `a@b.example` are one address. */
const plainAddress = (text: string | undefined) =>
  text === undefined
    ? undefined
    : parseAddress(
        text
          .replace(/^[^;<@]*;/, '')
          .trim()
          .replace(/^.*<([^<>]*)>$/, '$1'),
      )

/** Only the types abuse and opt-out mean that the reader does not want such mails. */
function complaintOf(fields: Map<string, string>) {
  const type = fields.get('feedback-type')?.toLowerCase()
  return type === 'abuse' || type === 'opt-out' ? type : undefined
}

/**
 * The status and the headers of the quoted mail come first, the rest of that mail is not needed. The
 * parser needs about 30 µs for each line.
 */
const MAX_LENGTH = 128 * 1024
const MAX_LINES = 2_000

function startOf(raw: string) {
  let end = -1
  for (let line = 0; line < MAX_LINES; line += 1) {
    end = raw.indexOf('\n', end + 1)
    if (end === -1 || end >= MAX_LENGTH) return raw.slice(0, MAX_LENGTH)
  }
  return raw.slice(0, end + 1)
}

/** PostgreSQL refuses NUL characters, so they are removed here and from the decoded parts. */
const parseMessage = (raw: string) =>
  PostalMime.parse(startOf(raw).replaceAll('\0', ''), {
    forceRfc822Attachments: true,
    attachmentEncoding: 'utf8',
  }).catch(() => undefined) // nested too deeply

const contentType = ({ headers }: Email) =>
  headers.find(({ key }) => key === 'content-type')?.value ?? ''

const partsOf = ({ attachments }: Email, type: RegExp) =>
  attachments
    .filter(({ mimeType }) => type.test(mimeType))
    .map(({ content }) => String(content).replaceAll('\0', ''))

function bounceOf(fields: Map<string, string>, text: string): Bounce[] {
  const original = plainAddress(fields.get('original-recipient'))
  const final = plainAddress(fields.get('final-recipient'))
  const recipient = original ?? final
  if (recipient === undefined) return []
  const diagnostic = fields.get('diagnostic-code') ?? replyInText(text, recipient)
  const words = diagnostic.replace(/^[a-z0-9-]*;\s*/i, '').slice(0, 500)
  const given = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '')?.[0] ?? ''
  // `5.0.0` says only that it failed; the reply of the other server may say why.
  const status = /^(?:[245]\.0\.0)?$/.test(given) ? statusOfReply(words) || given : given
  const permanent = fields.get('action')?.toLowerCase() === 'failed'
  const isGone = permanent && isNoSuchMailbox(status)
  const isForwarded = final !== undefined && final.toLowerCase() !== recipient.toLowerCase()
  const bounce = { recipient, permanent, status, words }
  return [
    {
      ...bounce,
      isNoSuchMailbox: isGone && !isForwarded,
      isSoft: (permanent && isSoft(status)) || (isGone && isForwarded),
    },
  ]
}

/** Finds `anna@example.org: 550 5.1.1 no such user` in the text part, where some servers write it. */
function replyInText(text: string, recipient: string) {
  const line = text
    .split('\n')
    .map((one) => one.trim().replace(/^<([^<>]*)>/, '$1'))
    .find((one) => one.toLowerCase().startsWith(`${recipient.toLowerCase()}: `))
  const reply = line?.slice(recipient.length + 2) ?? ''
  return /^[245]\d\d[ -]/.test(reply) ? reply : ''
}

/** The last part of a report is the mail itself, or its headers. */
async function quotedMail(report: Email) {
  const quoted = partsOf(report, /^(?:message\/rfc822|text\/rfc822-headers|message\/global)/).at(-1)
  const original = quoted === undefined ? undefined : await parseMessage(quoted)
  return {
    messageId: /<[^<>\s]+>/.exec(original?.messageId ?? '')?.[0] ?? null,
    returnPath: original && valuesOf(original, ['return-path'])[0],
  }
}

/** The fields of one recipient, by lower-case name; the first of each counts. */
function readFields(block: string) {
  const fields = new Map<string, string>()
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
  }
  return fields
}
