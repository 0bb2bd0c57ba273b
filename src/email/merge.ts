import { parseAddress, type Mailbox } from '../contract/addresses.ts'
import { invalid } from '../errors.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { directionOf, formatsFor, knownLanguage, type Formats } from './formats.ts'
import { findToken, TOKEN, tokensIn, type Readers, type TokenName } from './tokens.ts'

/** The fields of an email template that a mail uses. `html` is the output of `html.ts`. */
export type MailTemplate = {
  subject: string
  html: string
  text: string
  fromName: string | null
  fromAddress: string | null
  toName: string | null
  toAddress: string | null
  ccAddress: string | null
  bccAddress: string | null
  replyToAddress: string | null
  language: string | null
}

/** The recipient of an action; `template` is the template's own `toAddress`. */
export type Recipient = 'client' | 'staff' | 'business' | 'template'

export type MergedMail = {
  /** Null if the template names no sender: `MAIL_FROM` is used then. */
  from: Mailbox | null
  fromName: string
  /** Null if there is no address: nothing is sent. */
  to: Mailbox | null
  cc: Mailbox | null
  bcc: Mailbox | null
  replyTo: Mailbox | null
  subject: string
  /** A complete HTML document. */
  html: string
  text: string
  language: string
  /** Tokens that had no value, each once. */
  emptyTokens: TokenName[]
  /** Address fields whose merged text is not an address. */
  badAddresses: { field: AddressField; text: string }[]
}

export type AddressField =
  | 'fromAddress'
  | 'toAddress'
  | 'ccAddress'
  | 'bccAddress'
  | 'replyToAddress'

/**
 * Merges a template with its values into one mail, in one pass: each value is escaped for its place,
 * and is never read as a token or as markup.
 */
export function mergeMail(
  template: CompiledTemplate,
  context: MailContext,
  recipient: Recipient | null = null,
): MergedMail {
  const readers = readersOf(context, template.language)
  // A template without a language is in the language of the business.
  const language = template.language ?? knownLanguage(context.business.language) ?? 'en'
  const values = new Values(context, readers)
  const badAddresses: MergedMail['badAddresses'] = []

  const address = (field: AddressField, segments: Segment[] | null) => {
    if (!segments) return null
    const text = values.fill(segments, plain)
    if (text === '') return null
    const parsed = parseAddress(text)
    if (parsed === undefined) badAddresses.push({ field, text })
    return parsed ?? null
  }
  const mailbox = (field: AddressField, segments: Segment[] | null, name = '') => {
    const parsed = address(field, segments)
    return parsed === null ? null : { name, address: parsed }
  }

  const direction = directionOf(language)
  const subject = values.fill(template.subject, headerValue)
  const to = recipientFields(template, recipient)
  const fromName = values.fill(template.fromName, headerValue)
  return {
    from: mailbox('fromAddress', template.fromAddress, fromName),
    fromName,
    to: mailbox('toAddress', to.address, values.fill(to.name, headerValue)),
    cc: mailbox('ccAddress', template.ccAddress),
    bcc: mailbox('bccAddress', template.bccAddress),
    replyTo: mailbox('replyToAddress', template.replyToAddress),
    subject,
    html: htmlDocument(
      values.fill(template.html, direction === 'rtl' ? htmlValueInRightToLeft : htmlValue),
      subject,
      language,
      direction,
    ),
    text: values.fill(template.text, textValue),
    language,
    emptyTokens: values.empty,
    badAddresses,
  }
}

/** The tokens without a value in a mail, without making the mail. */
export function emptyTokensOf(template: CompiledTemplate, context: MailContext): TokenName[] {
  const values = new Values(context, readersOf(context, template.language))
  for (const name of template.tokens) values.read(name)
  return values.empty
}

/** A template split at its tokens once, so that each of its mails only joins strings. */
export type CompiledTemplate = {
  subject: Segment[]
  html: Segment[]
  text: Segment[]
  fromName: Segment[]
  fromAddress: Segment[] | null
  toName: Segment[]
  toAddress: Segment[] | null
  ccAddress: Segment[] | null
  bccAddress: Segment[] | null
  replyToAddress: Segment[] | null
  language: string | null
  /** The tokens of a mail to the template's own recipient, each once. */
  tokens: TokenName[]
}

export function compileTemplate(template: MailTemplate): CompiledTemplate {
  const fields = cutFields(template)
  return { ...fields, tokens: tokensOf(fields) }
}

function cutFields(template: MailTemplate) {
  const cutAddress = (text: string | null) => (text ? cut(text, 'text') : null)
  return {
    subject: cut(template.subject, 'text'),
    html: cutHtml(template.html),
    text: cut(template.text, 'text'),
    fromName: cut(template.fromName ?? '', 'text'),
    fromAddress: cutAddress(template.fromAddress),
    toName: cut(template.toName ?? '', 'text'),
    toAddress: cutAddress(template.toAddress),
    ccAddress: cutAddress(template.ccAddress),
    bccAddress: cutAddress(template.bccAddress),
    replyToAddress: cutAddress(template.replyToAddress),
    language: knownLanguage(template.language) ?? null,
  }
}

function tokensOf(fields: Omit<CompiledTemplate, 'tokens'>): TokenName[] {
  const to = recipientFields(fields, null)
  const names = new Set<TokenName>()
  for (const segments of [
    fields.fromName,
    fields.fromAddress,
    to.name,
    to.address,
    fields.ccAddress,
    fields.bccAddress,
    fields.replyToAddress,
    fields.subject,
    fields.html,
    fields.text,
  ]) {
    for (const segment of segments ?? []) if (typeof segment !== 'string') names.add(segment.name)
  }
  return [...names]
}

/**
 * Whether the address depends on the client. A class mail to the same address for every student is
 * sent once.
 */
export const isForEachClient = (template: CompiledTemplate, recipient: Recipient | null) =>
  speaksOfClient(recipientFields(template, recipient).address)

/** The same for an address that gets a copy. */
export const holdsClientToken = (template: CompiledTemplate, field: 'ccAddress' | 'bccAddress') =>
  speaksOfClient(template[field])

const speaksOfClient = (address: Segment[] | null) =>
  (address ?? []).some(
    (segment) => typeof segment !== 'string' && findToken(segment.name)?.kind === 'client',
  )

/**
 * The fault of an address field of a template, or undefined. It is checked with the example values
 * of its tokens: `%CLIENT_EMAILADDRESS%` is an address, `%BUSINESS_NAME%` is not.
 */
export function addressFieldFault(text: string): string | undefined {
  const filled = text.replace(TOKEN, (_, name: string) => findToken(name)?.example ?? '')
  if (parseAddress(filled) !== undefined) return undefined
  return tokensIn(text).length > 0
    ? 'does not become one plain address when its tokens are filled in'
    : 'must be one plain address: local@domain'
}

type Place = 'text' | 'attribute' | 'style' | 'url' | 'url-part' | 'tel'
type Segment = string | { name: TokenName; place: Place }

const CLIENT_ADDRESS: Segment[] = [{ name: 'CLIENT_EMAILADDRESS', place: 'text' }]
const CLIENT_NAME: Segment[] = [{ name: 'CLIENT_FULLNAME', place: 'text' }]
const STAFF_ADDRESS: Segment[] = [{ name: 'STAFF_EMAIL', place: 'text' }]
const STAFF_NAME: Segment[] = [{ name: 'STAFF_FULLNAME', place: 'text' }]
const BUSINESS_ADDRESS: Segment[] = [{ name: 'BUSINESS_EMAILADDRESS', place: 'text' }]
const BUSINESS_NAME: Segment[] = [{ name: 'BUSINESS_NAME', place: 'text' }]

/** The explicit recipient, else the template's own address, else the client. */
function recipientFields(
  template: Pick<CompiledTemplate, 'toAddress' | 'toName'>,
  recipient: Recipient | null,
) {
  switch (recipient ?? (template.toAddress ? 'template' : 'client')) {
    case 'client':
      return { address: CLIENT_ADDRESS, name: CLIENT_NAME }
    case 'staff':
      return { address: STAFF_ADDRESS, name: STAFF_NAME }
    case 'business':
      return { address: BUSINESS_ADDRESS, name: BUSINESS_NAME }
    case 'template':
      return { address: template.toAddress, name: template.toName }
  }
}

/** Created on first use: few mails contain times in the format of the staff. */
export function readersOf(context: MailContext, templateLanguage: string | null): Readers {
  const { business, client, location, professional } = context
  let reader: Formats | undefined
  let staff: Formats | undefined
  return {
    get reader() {
      return (reader ??= formatsFor(
        [client?.language, templateLanguage, business.language],
        [client?.timeZone, location?.timeZone, business.timeZone],
      ))
    },
    get staff() {
      return (staff ??= formatsFor(
        [templateLanguage, business.language],
        [professional?.timeZone, location?.timeZone, business.timeZone],
      ))
    },
  }
}

/** The values of one mail: each is computed once, and empty ones are recorded. */
class Values {
  readonly empty: TokenName[] = []
  readonly #known: Partial<Record<TokenName, string>> = {}
  readonly #context: MailContext
  readonly #readers: Readers

  constructor(context: MailContext, readers: Readers) {
    this.#context = context
    this.#readers = readers
  }

  fill(segments: Segment[], escape: (value: string, place: Place) => string) {
    let filled = ''
    for (const segment of segments) {
      filled +=
        typeof segment === 'string' ? segment : escape(this.read(segment.name), segment.place)
      // A long value that many tokens repeat would make a mail of any size.
      if (filled.length > MAX_MERGED_LENGTH) throw tooLong()
    }
    return filled
  }

  read(name: TokenName) {
    let value = this.#known[name]
    if (value === undefined) {
      value = findToken(name)?.value(this.#context, this.#readers) ?? ''
      if (value === '') this.empty.push(name)
      this.#known[name] = value
    }
    return value
  }
}

const MAX_MERGED_LENGTH = 1_000_000

const tooLong = () => {
  const detail = `with its tokens filled in it is longer than ${MAX_MERGED_LENGTH} characters`
  return invalid([{ pointer: '/emailBody', detail }])
}

function cut(text: string, place: Place): Segment[] {
  const segments: Segment[] = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const name = match[1] as TokenName
    if (!findToken(name)) continue
    if (match.index > end) segments.push(text.slice(end, match.index))
    segments.push({ name, place })
    end = match.index + match[0].length
  }
  if (end < text.length) segments.push(text.slice(end))
  return segments
}

/** Sanitised HTML contains `<` and `>` only around tags, and quotes every attribute with `"`. */
function cutHtml(html: string): Segment[] {
  return html
    .split(/(<[^>]*>)/)
    .flatMap((piece) => (piece.startsWith('<') ? cutTag(piece) : cut(piece, 'text')))
}

function cutTag(tag: string): Segment[] {
  if (!tag.includes('%')) return [tag]
  const segments: Segment[] = []
  let end = 0
  for (const attribute of tag.matchAll(/([\w:-]+)="([^"]*)"/g)) {
    const [whole, name = '', value = ''] = attribute
    const from = attribute.index + whole.length - value.length - 1
    segments.push(tag.slice(end, from), ...cutAttribute(name, value))
    end = from + value.length
  }
  segments.push(tag.slice(end))
  return segments
}

function cutAttribute(name: string, value: string): Segment[] {
  if (name.toLowerCase() === 'style') return cut(value, 'style')
  if (!URL_ATTRIBUTES.has(name.toLowerCase())) return cut(value, 'attribute')
  if (/^\s*tel:/i.test(value)) return cut(value, 'tel')
  const segments = cut(value, 'url-part')
  const [first] = segments
  // Only a value at the beginning can set the scheme, so only there it is checked as a URL.
  if (first && typeof first !== 'string') segments[0] = { name: first.name, place: 'url' }
  return segments
}

const URL_ATTRIBUTES = new Set(['href', 'src', 'background', 'cite', 'longdesc', 'action'])

const plain = (value: string) => value

/** For a header: always one line. */
export const headerValue = (value: string) => (ONE_LINE.test(value) ? value : oneLineOf(value))

const oneLineOf = (value: string) =>
  withoutControls(value)
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim()

/** For a text of several lines: no control characters, and `\n` for every line break. */
export const textValue = (value: string) =>
  ONE_LINE.test(value) ? value : withoutControls(value).replace(LINE_BREAK, '\n')

/**
 * Words of Latin letters with single spaces. Most values are such, and need no change.
 */
const ONE_LINE = /^(?:[!-~\u00a1-\u02ff]+(?: [!-~\u00a1-\u02ff]+)*)?$/

const htmlValueInRightToLeft = (value: string, place: Place) =>
  place === 'text' ? `<bdi>${htmlText(value)}</bdi>` : htmlValue(value, place)

const htmlText = (value: string) => escapeHtml(textValue(value)).replaceAll('\n', '<br>\n')

const htmlValue = (value: string, place: Place) => {
  switch (place) {
    case 'url':
      return escapeHtml(wholeUrl(value))
    case 'url-part':
      return escapeHtml(encodeUrl(value).replaceAll('%40', '@'))
    case 'tel':
      return value.replace(/[^\d+*#;=-]/g, '')
    case 'style':
      return value.replace(/[^\w #.-]/g, '')
    case 'attribute':
      return escapeHtml(headerValue(value))
    case 'text':
      if (ONE_LINE.test(value)) return escapeHtml(value)
      // Isolates a name of the other writing direction from the words around it.
      return RIGHT_TO_LEFT.test(value) ? `<bdi>${htmlText(value)}</bdi>` : htmlText(value)
  }
}

/** Line breaks of every kind: only `\n` is converted to CRLF later. */
const LINE_BREAK = /\r\n|[\r\v\f\u0085\u2028\u2029]/g

/**
 * Control characters, directional embeddings, overrides and isolates, which would reorder the text
 * after the value, and unpaired surrogates, which cannot be encoded.
 */
const withoutControls = (value: string) =>
  value
    .toWellFormed()
    .replace(/[[\p{Cc}\u202a-\u202e\u2066-\u2069\ufeff]--[\t\n\v\f\r\u0085]]/gv, '')

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\u200f\u061c]/u

function wholeUrl(value: string) {
  const url = URL.parse(value)
  return url && SAFE_SCHEMES.has(url.protocol) ? url.href : encodeUrl(value)
}

const SAFE_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:'])

const encodeUrl = (value: string) => encodeURIComponent(value.toWellFormed())

export const escapeHtml = (text: string) =>
  /[&<>"']/.test(text)
    ? text.replace(/[&<>"']/g, (character) => HTML_ESCAPES[character] as string)
    : text

const HTML_ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const htmlDocument = (body: string, title: string, language: string, direction: string) =>
  `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body>
${body}
</body>
</html>
`
