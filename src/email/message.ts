import { randomUUID } from 'node:crypto'
import { parseAddress, type Mailbox } from '../contract/addresses.ts'
import type { CalendarFile } from './calendar-file.ts'
import { dateText, fileNameParameters, header, mailboxHeader, textHeader } from './headers.ts'
import { headerValue } from './merge.ts'
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
  /** Files that are part of the message from the beginning. */
  ownFiles?: MessageAttachment[]
  /** The one-click unsubscribe link (RFC 8058); null for mail without one. */
  unsubscribeLink: string | null
  language?: string | null
  /** What complaints are counted by, such as `template-7:business-1:bellwether`. */
  feedbackId?: string
  /** The list that a mail with an unsubscribe link belongs to (RFC 2919). */
  list?: { name: string; id: string }
}

/** A file of the library: attached, or part of the HTML, which shows it as `cid:<contentId>`. */
export type MessageFile = { fileUUId: string; name: string; type: string; contentId?: string }

/** A file of any type, or a picture that the HTML shows. The name contains no input of users. */
export type MessageAttachment = {
  fileName: string
  contentType: string
  bytes: Buffer
  contentId?: string
}

/** A mail as it is sent: ASCII, CRLF line ends, headers and body each end with CRLF. */
export type Message = { messageId: string; headers: string; body: string }

/**
 * A message as it is stored, so that mails of one template have long texts in common (see
 * `store/message-bodies.ts`): its text parts are not encoded yet, and marks replace its Message-ID and
 * date, which its row contains. A message that is encoded already is a draft too.
 */
export type Draft = string

/** What a draft does not contain. */
export type DraftOf = { messageId: string; createdDate: Temporal.Instant }

/**
 * The same parts always give the same bytes: the boundary is derived from the Message-ID, the date is
 * a parameter. A retry sends the same mail.
 */
export const buildMessage = ({ messageId, date, ...parts }: MessageParts): Message =>
  readMessage(encodeDraft(draftMessage(parts), { messageId, createdDate: date }))

export function draftMessage(parts: Omit<MessageParts, 'messageId' | 'date'>): Draft {
  const { unsubscribeLink } = parts
  const { headers: contentHeaders, body } = contentEntity(parts)
  const headers =
    mailboxHeader('From', checked(parts.from)) +
    mailboxHeader('To', checked(parts.to)) +
    (parts.cc ? mailboxHeader('Cc', checked(parts.cc)) : '') +
    (parts.replyTo ? mailboxHeader('Reply-To', checked(parts.replyTo)) : '') +
    // Most of it is text of the template too, so it is stored as text.
    unencoded('s', headerValue(parts.subject)) +
    header('Date', DATE) +
    header('Message-ID', ID) +
    (unsubscribeLink ? unsubscribeHeaders(unsubscribeLink) : '') +
    (unsubscribeLink && parts.list ? listHeader(parts.list) : '') +
    (parts.feedbackId ? header('Feedback-ID', parts.feedbackId) : '') +
    (parts.language ? header('Content-Language', parts.language) : '') +
    header('Auto-Submitted', 'auto-generated') +
    header('MIME-Version', '1.0') +
    contentHeaders
  return `${headers}\r\n${body}`
}

/** The content of a mail that will not be sent: a draft without headers. */
export function draftContent({ html, text }: Content): Draft {
  const parts = [
    ...(text === null ? [] : [textEntity('text/plain', text)]),
    ...(html === null ? [] : [textEntity('text/html', html)]),
  ]
  return joinEntities('=_', parts)
}

/** Whether a draft is a message that can be sent. */
export const isMessage = (draft: Draft) => !draft.startsWith('--')

/** The bytes of a draft as they are sent. They must stay the same: a retry sends them again. */
export function encodeDraft(draft: Draft, { messageId, createdDate }: DraftOf) {
  if (!draft.includes(ID)) return draft.replace(UNENCODED, encodePart)
  if (!MESSAGE_ID.test(messageId)) throw new Error(`not a Message-ID: ${messageId}`)
  // No boundary begins with another one (RFC 2046, 5.1.2).
  const boundary = messageId.replace(/[^A-Za-z0-9.-]/g, '').slice(0, 60)
  return draft
    .replace(DATE, () => dateText(createdDate))
    .replace(ID, messageId)
    .replaceAll(BOUNDARY, boundary)
    .replace(UNENCODED, encodePart)
}

const encodePart = (_: string, encoding: string, content: string) => encode(encoding, content)

/** The marks. No text of a message contains them: see `unencoded`. */
const DATE = '\x02'
const ID = '\x03'
const BOUNDARY = '\x04'

/** The draft of an encoded message; the message itself if it would not be encoded to the same bytes. */
export function readDraft(wire: string): Draft {
  const draft = wire.replace(ENCODED, (_, headers: string, encoding: string, encoded: string) => {
    const content = decoded(encoding, encoded)
    const plain = encoding === 'base64' ? content : content.replaceAll('\r\n', '\n')
    return `${headers}${unencoded(encoding === 'base64' ? 'b' : 'q', plain)}\r\n--=_`
  })
  return draft.replace(UNENCODED, encodePart) === wire ? draft : wire
}

const decoded = (encoding: string, encoded: string) =>
  (encoding === 'base64' ? Buffer.from(encoded, 'base64') : unquoted(encoded)).toString()

/** The headers of a message with the Message-ID and date of the next mail that it is sent as. */
export const withoutIdentity = (headers: string) =>
  headers.replace(/^Message-ID: .*$/m, `Message-ID: ${ID}`).replace(/^Date: .*$/m, `Date: ${DATE}`)

/** Content between two marks, to be encoded as quoted-printable (q), base64 (b) or a Subject (s). */
const unencoded = (encoding: Encoding, content: string) =>
  MARKS.some((mark) => content.includes(mark))
    ? encode(encoding, content)
    : `\x01${encoding}${content}\x01`

/** Looked for one by one: that is four times as fast as a regular expression. */
const MARKS = ['\x01', DATE, ID, BOUNDARY]

const ENCODINGS = {
  q: quotedPrintable,
  b: base64,
  s: (subject: string) => textHeader('Subject', subject),
}

const encode = (encoding: string, content: string) => ENCODINGS[encoding as Encoding](content)

type Encoding = keyof typeof ENCODINGS

const UNENCODED = /\x01([qbs])([^\x01]*)\x01/g

/** A text or calendar part up to the next boundary: no encoded body contains its `=_`. */
const ENCODED =
  /(^Content-Type: text\/(?:html|plain|calendar); charset=utf-8.*\r\n(?:[ \w].*\r\n)*?Content-Transfer-Encoding: ([\w-]+)\r\n\r\n)([^\x01]*?)\r\n--=_/gm

export const messageText = ({ headers, body }: Message) => `${headers}\r\n${body}`

/** A message from its text. */
export function readMessage(text: string): Message {
  const end = text.indexOf('\r\n\r\n') + 2
  const messageId = /^Message-ID: (<[^>\r\n]*>)/m.exec(text.slice(0, end))?.[1] ?? ''
  return { messageId, headers: text.slice(0, end), body: text.slice(end + 2) }
}

export type Content = { html: string | null; text: string | null }

/** The text parts of a draft, with `\n` line ends. */
export function contentOf(draft: Draft): Content {
  const content: Content = { html: null, text: null }
  for (const [, type, encoding, body] of draft.matchAll(PART)) {
    const plain = body!.startsWith('\x01') ? body!.slice(2, -1) : decoded(encoding!, body!)
    content[type === 'html' ? 'html' : 'text'] = plain.replace(/\r\n?/g, '\n')
  }
  return content
}

const PART =
  /^Content-Type: text\/(html|plain); charset=utf-8\r\nContent-Transfer-Encoding: ([\w-]+)\r\n\r\n(\x01[qb][^\x01]*\x01|[^]*?)\r\n--=_/gm

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

/** The name is quoted; characters that a quoted string cannot have are left out. */
const listHeader = ({ name, id }: { name: string; id: string }) => {
  const plain = name
    .replace(/[^ !#-[\]-~]/g, '')
    .trim()
    .slice(0, 60)
  return header('List-ID', plain === '' ? `<${id}>` : `"${plain}"\r\n <${id}>`)
}

/** A MIME entity: its Content headers, and its body, which ends with CRLF. */
type Entity = { headers: string; body: string }

function contentEntity(parts: Omit<MessageParts, 'messageId' | 'date'>): Entity {
  const { text, html, calendar, files = [], ownFiles = [] } = parts
  // No body contains `=_`: in quoted-printable hex digits follow `=`, in base64 nothing does.
  const name = BOUNDARY
  const isInline = ({ contentId }: { contentId?: string }) => contentId !== undefined
  const alternative = multipart('alternative', `=_a_${name}`, [
    textEntity('text/plain', text),
    textEntity('text/html', html),
  ])
  return multipart('mixed', `=_${name}`, [
    multipart('related', `=_r_${name}`, [
      alternative,
      ...files.filter(isInline).map(fileEntity),
      ...ownFiles.filter(isInline).map(attachmentEntity),
    ]),
    ...(calendar ? [calendarEntity(calendar)] : []),
    ...files.filter((file) => !isInline(file)).map(fileEntity),
    ...ownFiles.filter((file) => !isInline(file)).map(attachmentEntity),
  ])
}

/** Several entities as one. */
function multipart(kind: string, boundary: string, entities: [Entity, ...Entity[]]): Entity {
  if (entities.length === 1) return entities[0]
  // RFC 2387 requires the type of the first part.
  const type = kind === 'related' ? '\r\n type="multipart/alternative";' : ''
  return {
    headers: header('Content-Type', `multipart/${kind};${type}\r\n boundary="${boundary}"`),
    body: joinEntities(boundary, entities),
  }
}

function joinEntities(boundary: string, entities: Entity[]) {
  // Without `join`, which copies: the text of a mail is copied once, when it is encoded.
  let joined = ''
  for (const { headers, body } of entities) joined += `--${boundary}\r\n${headers}\r\n${body}`
  return `${joined}--${boundary}--\r\n`
}

/** Uses the shorter encoding: quoted-printable for Latin scripts, base64 for most others. */
function textEntity(type: string, content: string): Entity {
  const bytes = Buffer.byteLength(content)
  const mostlyAscii = bytes < content.length * 1.2
  const encoding = mostlyAscii ? 'quoted-printable' : 'base64'
  const draft = mostlyAscii
    ? unencoded('q', content)
    : unencoded('b', content.replace(/\r\n?|\n/g, '\r\n'))
  const headers =
    header('Content-Type', `${type}; charset=utf-8`) + header('Content-Transfer-Encoding', encoding)
  return { headers, body: `${draft}\r\n` }
}

const calendarEntity = ({ method, fileName, content }: CalendarFile): Entity => ({
  headers:
    header(
      'Content-Type',
      `text/calendar; charset=utf-8; method=${method};\r\n name="${fileName}"`,
    ) +
    header('Content-Disposition', `attachment; filename="${fileName}"`) +
    header('Content-Transfer-Encoding', 'base64'),
  body: `${unencoded('b', content)}\r\n`,
})

const attachmentEntity = ({
  fileName,
  contentType,
  bytes,
  contentId,
}: MessageAttachment): Entity => ({
  headers:
    header('Content-Type', `${contentType};\r\n name="${fileName}"`) +
    header(
      'Content-Disposition',
      `${contentId === undefined ? 'attachment' : 'inline'}; filename="${fileName}"`,
    ) +
    (contentId === undefined ? '' : header('Content-ID', `<${contentId}>`)) +
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

function base64(content: string) {
  return wrapped(Buffer.from(content, 'utf8').toString('base64'))
}

const wrapped = (encoded: string) => encoded.replace(/.{76}(?=.)/g, '$&\r\n')
