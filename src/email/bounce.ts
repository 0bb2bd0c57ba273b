import PostalMime, { type Email } from 'postal-mime'
import { parseAddress } from '../contract/addresses.ts'

/** What a mail server reports about one recipient of one mail (RFC 3464). */
export type Bounce = {
  /** Of the mail that was sent, if the report quotes it. */
  messageId: string | null
  recipient: string
  /** The refusal is final: not a delay, not a delivery. */
  permanent: boolean
  /** The refusal is final because the mailbox does not exist. */
  isNoSuchMailbox: boolean
  /** `5.1.1` and the like. */
  status: string
  /** The reply of the other server. */
  words: string
}

/**
 * Whether an enhanced status code (RFC 3463) says that the recipient's mailbox does not exist: the
 * codes 5.1.x, except 5.1.7 and 5.1.8, which are about the sender. All other refusals are about the
 * message, the sender or the time; they say nothing about the next mail.
 */
export const isNoSuchMailbox = (status: string) =>
  /^5\.1\.\d{1,3}$/.test(status) && status !== '5.1.7' && status !== '5.1.8'

/** The enhanced status code at the beginning of an SMTP reply; empty if the reply has none. */
export const statusOfReply = (reply: string) =>
  /^[245]\d\d[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''

/** Reads a delivery status notification; returns none if the message is not one. */
export async function readBounces(raw: string): Promise<Bounce[]> {
  const report = await parseMessage(raw)
  if (!report || !/^multipart\/report\b/i.test(contentType(report))) return []
  const messageId = await quotedMessageId(report)
  return partsOf(report, /^message\/(?:global-)?delivery-status$/)
    .flatMap((status) => status.split(/\r?\n(?:[ \t]*\r?\n)+/).slice(1))
    .filter((fields) => /-recipient:/i.test(fields))
    .flatMap((fields) => bounceOf(readFields(fields), messageId))
}

/**
 * The status and the headers of the quoted mail come first, the rest of that mail is not needed. The
 * parser's time grows with the square of the number of lines: 262 s for 5 MB of empty lines.
 */
const MAX_READ = 128 * 1024

/** PostgreSQL stores no NUL, so it is removed here and from the decoded parts. */
const parseMessage = (raw: string) =>
  PostalMime.parse(raw.slice(0, MAX_READ).replaceAll('\0', ''), {
    forceRfc822Attachments: true,
    attachmentEncoding: 'utf8',
  }).catch(() => undefined) // nested too deeply

const contentType = ({ headers }: Email) =>
  headers.find(({ key }) => key === 'content-type')?.value ?? ''

const partsOf = ({ attachments }: Email, type: RegExp) =>
  attachments
    .filter(({ mimeType }) => type.test(mimeType))
    .map(({ content }) => String(content).replaceAll('\0', ''))

function bounceOf(fields: Map<string, string>, messageId: string | null): Bounce[] {
  const recipient = parseAddress(
    (fields.get('original-recipient') ?? fields.get('final-recipient') ?? '')
      .replace(/^[^;]*;/, '')
      .trim()
      .replace(/^<(.*)>$/, '$1'),
  )
  if (recipient === undefined) return []
  const words = (fields.get('diagnostic-code') ?? '').replace(/^[^;]*;\s*/, '').slice(0, 500)
  const given = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(fields.get('status') ?? '')?.[0] ?? ''
  // `5.0.0` says only that it failed; the reply of the other server may say why.
  const status = /^(?:[245]\.0\.0)?$/.test(given) ? statusOfReply(words) || given : given
  const failed = fields.get('action')?.toLowerCase() === 'failed'
  const permanent = failed && !status.startsWith('4')
  const isOfMailbox = permanent && isNoSuchMailbox(status)
  return [{ messageId, recipient, permanent, isNoSuchMailbox: isOfMailbox, status, words }]
}

/** The report ends with the mail itself, or with its headers. */
async function quotedMessageId(report: Email) {
  const quoted = partsOf(report, /^(?:message\/rfc822|text\/rfc822-headers|message\/global)/).at(-1)
  const original = quoted === undefined ? undefined : await parseMessage(quoted)
  return /<[^<>\s]+>/.exec(original?.messageId ?? '')?.[0] ?? null
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
