import { randomUUID } from 'node:crypto'
import { parseAddress, type Mailbox } from '../contract/addresses.ts'
import type { CalendarFile } from './calendar-file.ts'
import { dateText, fileNameParameters, header, mailboxHeader, textHeader } from './headers.ts'
import { quotedPrintable, unquoted } from './quoted-printable.ts'

export type MessageParts = {
  /** `<…@…>`, the same for every attempt: see `makeMessageId`. */
  messageId: string
  date: Temporal.Instant
  from: Mailbox
  to: Mailbox
  cc: Mailbox | null
  replyTo: Mailbox | null
  subject: string
  text: string
  html: string
  calendar: CalendarFile | null
  /** Files of the library. The message names them; `fillFiles` inserts their content. */
  files?: MessageFile[]
  /** A file that is part of the message from the beginning. */
  attachment?: MessageAttachment | undefined
  /** The one-click unsubscribe link (RFC 8058); null for mail without one. */
  unsubscribeLink: string | null
}

/** A file of the library: attached, or part of the HTML, which shows it as `cid:<contentId>`. */
export type MessageFile = { fileUUId: string; name: string; type: string; contentId?: string }

/** A file of any type. The name contains no input of users. */
export type MessageAttachment = { fileName: string; contentType: string; bytes: Buffer }

/** A mail as it is sent: ASCII, CRLF line ends, headers and body each end with CRLF. */
export type Message = { messageId: string; headers: string; body: string }

/**
 * The same parts always give the same bytes: the boundary is derived from the Message-ID, the date is
 * a parameter. A retry sends the same mail.
 */
export function buildMessage(parts: MessageParts): Message {
  const { messageId, unsubscribeLink } = parts
  if (!MESSAGE_ID.test(messageId)) throw new Error(`not a Message-ID: ${messageId}`)
  const { headers: contentHeaders, body } = contentEntity(parts)
  const headers =
    mailboxHeader('From', checked(parts.from)) +
    mailboxHeader('To', checked(parts.to)) +
    (parts.cc ? mailboxHeader('Cc', checked(parts.cc)) : '') +
    (parts.replyTo ? mailboxHeader('Reply-To', checked(parts.replyTo)) : '') +
    textHeader('Subject', parts.subject) +
    header('Date', dateText(parts.date)) +
    header('Message-ID', messageId) +
    (unsubscribeLink ? unsubscribeHeaders(unsubscribeLink) : '') +
    header('Auto-Submitted', 'auto-generated') +
    header('MIME-Version', '1.0') +
    contentHeaders
  return { messageId, headers, body }
}

/** A message as it is stored: ASCII text. */
export const messageText = ({ headers, body }: Message) => `${headers}\r\n${body}`

/** A message from its stored text. */
export function readMessage(text: string): Message {
  const end = text.indexOf('\r\n\r\n') + 2
  const messageId = /^Message-ID: (<[^>\r\n]*>)/m.exec(text.slice(0, end))?.[1] ?? ''
  return { messageId, headers: text.slice(0, end), body: text.slice(end + 2) }
}

/** The decoded text parts of a message that `buildMessage` built, with `\n` line ends. */
export function contentOf(text: string): { html: string; text: string } {
  const content = { html: '', text: '' }
  for (const [, type, encoding, encoded] of text.matchAll(PART)) {
    const bytes = encoding === 'base64' ? Buffer.from(encoded!, 'base64') : unquoted(encoded!)
    content[type === 'html' ? 'html' : 'text'] = bytes.toString().replaceAll('\r\n', '\n')
  }
  return content
}

/** Up to the next boundary: no body contains its `=_`. */
const PART =
  /^Content-Type: text\/(html|plain); charset=utf-8\r\nContent-Transfer-Encoding: ([\w-]+)\r\n\r\n([^]*?)\r\n--=_/gm

/**
 * A new Message-ID, stored with its mail. The ids alone are not unique: after a backup is restored,
 * they are assigned again.
 */
export function makeMessageId(businessId: number, emailId: number, host: string) {
  // A host may be written as `[::1]`.
  const domain = host.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^-|-$/g, '') || 'localhost'
  return `<${emailId}.${businessId}.${random96Bits()}@${domain}>`
}

/** The random digits of a UUID, in hex: Node makes UUIDs much faster than random bytes. */
function random96Bits() {
  const uuid = randomUUID()
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(24)
}

/** The id of the mail with this Message-ID; undefined if the Message-ID is not ours. */
export function emailIdOf(messageId: string): number | undefined {
  const [, emailId] = OWN_MESSAGE_ID.exec(messageId) ?? []
  return emailId === undefined ? undefined : Number(emailId)
}

/** The id of the business whose mail has this Message-ID; undefined if the Message-ID is not ours. */
export function businessIdOf(messageId: string): number | undefined {
  const [, , businessId] = OWN_MESSAGE_ID.exec(messageId) ?? []
  return businessId === undefined ? undefined : Number(businessId)
}

/** The random part of a Message-ID of ours; undefined for old ones, which have none. */
export const randomPartOf = (messageId: string): string | undefined =>
  OWN_MESSAGE_ID.exec(messageId)?.[3]

const OWN_MESSAGE_ID = /^<(\d{1,15})\.(\d{1,15})(?:\.([0-9a-f]{24}))?@/

const MESSAGE_ID = /^<[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+>$/

/** The last check: only one plain address can become an address header. */
function checked(mailbox: Mailbox): Mailbox {
  const address = parseAddress(mailbox.address)
  if (address === undefined) throw new Error('an address of this mail is not one plain address')
  return address === mailbox.address ? mailbox : { ...mailbox, address }
}

const unsubscribeHeaders = (link: string) =>
  header('List-Unsubscribe', `<${new URL(link).href.replaceAll('>', '%3E')}>`) +
  header('List-Unsubscribe-Post', 'List-Unsubscribe=One-Click')

/** A MIME entity: its Content headers, and its body, which ends with CRLF. */
type Entity = { headers: string; body: string }

function contentEntity(parts: MessageParts): Entity {
  const { messageId, text, html, calendar, files = [], attachment } = parts
  // No body contains `=_`: in quoted-printable hex digits follow `=`, in base64 nothing does. No
  // boundary begins with another one (RFC 2046, 5.1.2).
  const name = messageId.replace(/[^A-Za-z0-9.-]/g, '').slice(0, 60)
  const isInline = ({ contentId }: MessageFile) => contentId !== undefined
  const alternative = multipart('alternative', `=_a_${name}`, [
    textEntity('text/plain', text),
    textEntity('text/html', html),
  ])
  return multipart('mixed', `=_${name}`, [
    multipart('related', `=_r_${name}`, [alternative, ...files.filter(isInline).map(fileEntity)]),
    ...(calendar ? [calendarEntity(calendar)] : []),
    ...files.filter((file) => !isInline(file)).map(fileEntity),
    ...(attachment ? [attachmentEntity(attachment)] : []),
  ])
}

/** Several entities as one. */
function multipart(kind: string, boundary: string, entities: [Entity, ...Entity[]]): Entity {
  if (entities.length === 1) return entities[0]
  const parts = entities.map(({ headers, body }) => `--${boundary}\r\n${headers}\r\n${body}`)
  // RFC 2387 requires the type of the first part.
  const type = kind === 'related' ? '\r\n type="multipart/alternative";' : ''
  return {
    headers: header('Content-Type', `multipart/${kind};${type}\r\n boundary="${boundary}"`),
    body: `${parts.join('')}--${boundary}--\r\n`,
  }
}

/** Uses the shorter encoding: quoted-printable for Latin scripts, base64 for most others. */
function textEntity(type: string, content: string): Entity {
  const bytes = Buffer.byteLength(content)
  const mostlyAscii = bytes < content.length * 1.2
  const encoding = mostlyAscii ? 'quoted-printable' : 'base64'
  const encoded = mostlyAscii
    ? quotedPrintable(content)
    : base64(content.replace(/\r\n?|\n/g, '\r\n'))
  const headers =
    header('Content-Type', `${type}; charset=utf-8`) + header('Content-Transfer-Encoding', encoding)
  return { headers, body: `${encoded}\r\n` }
}

const calendarEntity = ({ method, fileName, content }: CalendarFile): Entity => ({
  headers:
    header(
      'Content-Type',
      `text/calendar; charset=utf-8; method=${method};\r\n name="${fileName}"`,
    ) +
    header('Content-Disposition', `attachment; filename="${fileName}"`) +
    header('Content-Transfer-Encoding', 'base64'),
  body: `${base64(content)}\r\n`,
})

const attachmentEntity = ({ fileName, contentType, bytes }: MessageAttachment): Entity => ({
  headers:
    header('Content-Type', `${contentType};\r\n name="${fileName}"`) +
    header('Content-Disposition', `attachment; filename="${fileName}"`) +
    header('Content-Transfer-Encoding', 'base64'),
  body: encodeFile(bytes),
})

/** The body is one line that names the file: `fillFiles` replaces it. */
const fileEntity = ({ fileUUId, name, type, contentId }: MessageFile): Entity => ({
  headers:
    header('Content-Type', `${type};\r\n ${folded(fileNameParameters('name', name))}`) +
    header(
      'Content-Disposition',
      `${contentId === undefined ? 'attachment' : 'inline'};\r\n ${folded(fileNameParameters('filename', name))}`,
    ) +
    (contentId === undefined ? '' : header('Content-ID', `<${contentId}>`)) +
    header('Content-Transfer-Encoding', 'base64'),
  body: `${FILE_LINE}${fileUUId}\r\n`,
})

const folded = (parameters: string) => parameters.replace('; ', ';\r\n ')

/** No other line of a body begins with `=_`. */
const FILE_LINE = '=_file '
const FILE_LINES = /^=_file ([a-z0-9]{32})\r\n/m

/** The files of the library that a message names. */
export function filesIn({ body }: Message): string[] {
  if (!body.includes(`\r\n${FILE_LINE}`)) return []
  // At odd indexes `split` returns the match of the group.
  return body.split(FILE_LINES).filter((_, i) => i % 2 === 1)
}

/** The message with its files, given in base64 as `encodeFile` returns it. */
export function fillFiles(message: Message, contents: Map<string, string>): Message {
  // `+` joins strings of megabytes without a copy.
  const body = message.body
    .split(FILE_LINES)
    .reduce((whole, piece, i) => whole + (i % 2 === 1 ? contents.get(piece)! : piece), '')
  return { ...message, body }
}

/** A file as it is sent. */
export const encodeFile = (bytes: Buffer) => `${wrapped(bytes.toString('base64'))}\r\n`

const base64 = (content: string) => wrapped(Buffer.from(content, 'utf8').toString('base64'))

const wrapped = (encoded: string) => encoded.replace(/.{76}(?=.)/g, '$&\r\n')
