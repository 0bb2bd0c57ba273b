import { parseAddress, type Mailbox } from '../contract/addresses.ts'
import { invalid } from '../errors.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { colorsFor } from './colors.ts'
import { directionOf, formatsFor, knownLanguage, withRegion, type Formats } from './formats.ts'
import {
  cardInHtml,
  cardInText,
  colorLinks,
  linkAddresses,
  findBodyToken,
  hasOwnColors,
  htmlDocument,
  layOutHtml,
  layOutText,
  placedIn,
  stylesOfLayout,
} from './layout.ts'
import {
  cutHtml,
  cutText,
  fillHtml,
  fillLine,
  fillText,
  joinAllParts,
  MAX_MERGED_LENGTH,
  TooLong,
  type Place,
  type Segment,
  type SegmentValues,
  type TokenSegment,
} from './segments.ts'
import { PIECE, tokensIn } from './token-syntax.ts'
import {
  READER_KINDS,
  visitTimes,
  type ReaderKind,
  type Readers,
  type VisitTimes,
} from './readers.ts'
import { findToken, type Token, type TokenName } from './tokens.ts'
import { textsFor } from '../texts/texts.ts'

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
  because: string | null
  /** The media rules of its style sheets, as `html.ts` returns them. */
  styles: string
  /** Whether the layout is put around it. */
  hasLayout: boolean
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

export type MergedAddresses = Pick<
  MergedMail,
  'from' | 'fromName' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'badAddresses' | 'emptyTokens'
>

export type MergedContent = Pick<
  MergedMail,
  'subject' | 'html' | 'text' | 'language' | 'emptyTokens'
>

/**
 * Merges a template with its values into one mail, in one pass: each value is escaped for its place,
 * and is never read as a token or as markup.
 */
export function mergeMail(
  template: CompiledTemplate,
  context: MailContext,
  recipient: Recipient | null = null,
  now: Temporal.Instant | null = null,
): MergedMail {
  const values = valuesOf(template, context, recipient, now)
  return {
    ...addressesOf(template, values, recipient),
    ...contentOf(template, context, values),
  }
}

export const mergeAddresses = (
  template: CompiledTemplate,
  context: MailContext,
  recipient: Recipient | null,
): MergedAddresses => addressesOf(template, valuesOf(template, context, recipient, null), recipient)

/** Only the subject and the bodies of a mail that is made now. */
export const mergeContent = (
  template: CompiledTemplate,
  context: MailContext,
  recipient: Recipient | null,
  now: Temporal.Instant,
): MergedContent => contentOf(template, context, valuesOf(template, context, recipient, now))

/** Values that many mails of a template have in common, with an example of an appointment. */
export type CommonValues = Pick<
  MailContext,
  'business' | 'location' | 'calendar' | 'unsubscribeLink' | 'calendarLink' | 'answerLinks'
>

/** The text that the mails of a template have in common, with all of its conditions. */
export function mergeCommonText(template: CompiledTemplate, common: CommonValues): MergedContent {
  const context = { ...WITHOUT_OBJECT, ...common }
  const values = valuesOf(template, context, null, null)
  return contentOf(template, context, values, ALL_PARTS)
}

const WITHOUT_OBJECT = {
  professional: null,
  client: null,
  reason: null,
  classSchedule: null,
  invitation: null,
  recall: null,
  disclaimer: null,
  movedFrom: null,
}

const FILLED = { fillLine, fillHtml, fillText }
const ALL_PARTS = { fillLine: joinAllParts, fillHtml: joinAllParts, fillText: joinAllParts }

function valuesOf(
  template: CompiledTemplate,
  context: MailContext,
  recipient: Recipient | null,
  now: Temporal.Instant | null,
) {
  const readBy = readerOf(recipientFields(template, recipient).address)
  return new Values(context, readersOf(context, template.language, { readBy, now }))
}

function addressesOf(
  template: CompiledTemplate,
  values: Values,
  recipient: Recipient | null,
): MergedAddresses {
  const badAddresses: MergedMail['badAddresses'] = []
  const inAddress = values.escapedBy(plain)
  const inName = values.escapedBy(headerValue)

  const mailbox = (field: AddressField, segments: Segment[] | null, name = '') => {
    const text = segments ? fillLine(segments, inAddress) : ''
    if (text === '') return null
    const address = parseAddress(text)
    if (address === undefined) badAddresses.push({ field, text })
    return address === undefined ? null : { name, address }
  }

  const to = recipientFields(template, recipient)
  const fromName = fillLine(template.fromName, inName)
  return {
    from: mailbox('fromAddress', template.fromAddress, fromName),
    fromName,
    to: mailbox('toAddress', to.address, fillLine(to.name, inName)),
    cc: mailbox('ccAddress', template.ccAddress),
    bcc: mailbox('bccAddress', template.bccAddress),
    replyTo: mailbox('replyToAddress', template.replyToAddress),
    badAddresses,
    emptyTokens: values.empty,
  }
}

function contentOf(
  template: CompiledTemplate,
  context: MailContext,
  values: Values,
  { fillLine, fillHtml, fillText } = FILLED,
): MergedContent {
  const language = languageOf(template.language, context)
  const { inSubject, inHtml, inText } = escapesFor(language)
  try {
    const subject = fillLine(template.subject, values.escapedBy(inSubject))
    const { hasLayout, hasOwnColors, styles } = template
    return {
      subject,
      html: htmlDocument({
        body: fillHtml(template.html, values.escapedBy(inHtml)),
        title: escapeHtml(subject),
        language,
        direction: directionOf(language),
        styles,
        layoutStyles: hasLayout
          ? stylesOfLayout(colorsFor(context.business.accentColor), hasOwnColors)
          : null,
      }),
      text: fillText(template.text, values.escapedBy(inText)),
      language,
      emptyTokens: values.empty,
    }
  } catch (error) {
    throw error instanceof TooLong ? tooLong() : error
  }
}

/** How values are escaped in the subject and the bodies of a mail in this language. */
export const escapesFor = (language: string) => ({
  inSubject: headerValue,
  inHtml: directionOf(language) === 'rtl' ? htmlValueInRightToLeft : htmlValue,
  inText: plainTextValue,
})

/** A template without a language is in the language of the business. */
export const languageOf = (
  templateLanguage: string | null,
  { business }: Pick<MailContext, 'business'>,
) => templateLanguage ?? knownLanguage(business.language) ?? 'en'

export const emptyTokensOf = (template: CompiledTemplate, context: MailContext): TokenName[] =>
  mergeMail(template, context).emptyTokens

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
  styles: string
  hasLayout: boolean
  hasOwnColors: boolean
  /** The tokens of the subject and the bodies, each once. */
  tokens: TokenName[]
}

export function compileTemplate(template: MailTemplate): CompiledTemplate {
  const { styles, hasLayout } = template
  const line = (text: string | null) => cutText(text ?? '', { findToken })
  const address = (text: string | null) => (text ? line(text) : null)
  return {
    subject: line(template.subject),
    html: compileHtml(template),
    text: compileText(template),
    fromName: line(template.fromName),
    fromAddress: address(template.fromAddress),
    toName: line(template.toName),
    toAddress: address(template.toAddress),
    ccAddress: address(template.ccAddress),
    bccAddress: address(template.bccAddress),
    replyToAddress: address(template.replyToAddress),
    language: knownLanguage(template.language) ?? null,
    styles,
    hasLayout,
    hasOwnColors: hasOwnColors(template.html),
    tokens: tokensIn(`${template.subject}\n${template.html}\n${template.text}`),
  }
}

function compileHtml({ html, styles, because, hasLayout }: MailTemplate): Segment[] {
  const inserts = { APPT_CARD: cardInHtml(html) }
  const body = hasLayout
    ? cutHtml(colorLinks(linkAddresses(html)), { findToken: findBodyToken, inserts })
    : cutHtml(html, { findToken, inserts })
  const note = (style: string) =>
    because ? cutHtml(`\n<p style="${style}">${escapeHtml(because)}</p>`, { findToken }) : []
  if (hasLayout) {
    return layOutHtml({ body, because: note('margin:12px 0 0'), ...placedIn(html) })
  }
  const tag = styles === '' ? '<body>' : '<body class="bw-body">'
  const [open, close] = [cutHtml(`${tag}\n`, { findToken }), cutHtml('\n</body>', { findToken })]
  return [...open, ...body, ...note('margin-top:24px;color:#6b7280;font-size:12px'), ...close]
}

function compileText({ text, because, hasLayout }: MailTemplate): Segment[] {
  const body = cutText(text, { findToken, inserts: { APPT_CARD: cardInText(text) } })
  const note = because ? cutText(because, { findToken }) : []
  if (hasLayout) return layOutText({ body, because: note, ...placedIn(text) })
  return because ? [...body, ...cutText('\n\n', { findToken }), ...note] : body
}

/**
 * Whether the address depends on the client. A class mail to the same address for every student is
 * sent once.
 */
export const isForEachClient = (template: CompiledTemplate, recipient: Recipient | null) =>
  hasClientToken(recipientFields(template, recipient).address)

/** The same for an address that gets a copy. */
export const holdsClientToken = (template: CompiledTemplate, field: 'ccAddress' | 'bccAddress') =>
  hasClientToken(template[field])

const hasClientToken = (address: Segment[] | null) => readerOf(address) === 'client'

/** Whose address it is. One without a token is the business's own. */
function readerOf(address: Segment[] | null): ReaderKind {
  const kinds = (address ?? []).flatMap((part) => (part.kind === 'token' ? [part.token.kind] : []))
  return READER_KINDS.find((kind) => kinds.includes(kind)) ?? 'business'
}

/**
 * The fault of an address field of a template, or undefined. It is checked with the example values
 * of its tokens: `%CLIENT_EMAILADDRESS%` is an address, `%BUSINESS_NAME%` is not.
 */
export function addressFieldFault(text: string): string | undefined {
  if (/%(?:IF|END):/.test(text)) return 'a condition cannot stand in an address'
  const filledWith = (value: (name: string, fallback: string | undefined) => string) =>
    text.replace(PIECE, (_, _if, _end, name: string, fallback?: string) => value(name, fallback))
  const example = (name: string) => findToken(name)?.example ?? ''
  const filled = [filledWith(example), filledWith((name, fallback) => fallback ?? example(name))]
  if (filled.every((address) => parseAddress(address) !== undefined)) return undefined
  return tokensIn(text).length > 0
    ? 'does not become one plain address when its tokens are filled in'
    : 'must be one plain address: local@domain'
}

const tokenLine = (name: TokenName) => cutText(`%${name}%`, { findToken })

const CLIENT_ADDRESS = tokenLine('CLIENT_EMAILADDRESS')
const CLIENT_NAME = tokenLine('CLIENT_FULLNAME')
const STAFF_ADDRESS = tokenLine('STAFF_EMAIL')
const STAFF_NAME = tokenLine('STAFF_FULLNAME')
const BUSINESS_ADDRESS = tokenLine('BUSINESS_EMAILADDRESS')
const BUSINESS_NAME = tokenLine('BUSINESS_NAME')

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

/**
 * Dates, numbers and fixed texts are in the language of the mail, not of its reader.
 * Formats are created on first use: few mails contain times in the format of the staff.
 */
export function readersOf(
  context: MailContext,
  templateLanguage: string | null,
  { readBy = 'client', now = null }: { readBy?: ReaderKind; now?: Temporal.Instant | null } = {},
): Readers {
  const { business, client, location, professional } = context
  const visit = context.calendar ?? context.classSchedule
  const mailLanguage = languageOf(templateLanguage, context)
  const place = location?.timeZone ?? business.timeZone
  const formatsIn = (language: string | null | undefined, zones: (string | null | undefined)[]) =>
    formatsFor(
      [withRegion(mailLanguage, [language, business.language], place)],
      [...zones, business.timeZone],
    )
  const isForStaff = readBy !== 'client'
  let reader: Formats | undefined
  let staff: Formats | undefined
  let own: Formats | undefined
  let atLocation: Formats | undefined
  let times: VisitTimes | null | undefined
  return {
    get reader() {
      return (reader ??= formatsIn(client?.language, [client?.timeZone, location?.timeZone]))
    },
    get staff() {
      return (staff ??= formatsIn(null, [professional?.timeZone, location?.timeZone]))
    },
    get own() {
      if (readBy === 'client') return this.reader
      if (readBy === 'staff') return this.staff
      return (own ??= formatsIn(null, readBy === 'location' ? [location?.timeZone] : []))
    },
    get atLocation() {
      return (atLocation ??= formatsIn(isForStaff ? null : client?.language, [location?.timeZone]))
    },
    get times() {
      return (times ??= visit && visitTimes(visit, this))
    },
    words: textsFor(mailLanguage).mail,
    isForStaff,
    hasStarted:
      now !== null && visit !== null && Temporal.Instant.compare(visit.startTime, now) < 0,
  }
}

/** The values of one mail: each is computed once, and empty ones are recorded. */
class Values {
  readonly empty: TokenName[] = []
  readonly #known = new Map<Token, string>()
  readonly #context: MailContext
  readonly #readers: Readers

  constructor(context: MailContext, readers: Readers) {
    this.#context = context
    this.#readers = readers
  }

  /** The values, escaped for one part of the mail. */
  escapedBy(escape: SegmentValues['escape']): SegmentValues {
    return {
      valueOf: (segment) => this.#valueOf(segment),
      hasValue: (token) => this.#read(token).trim() !== '',
      escape,
    }
  }

  #valueOf({ token, fallback, mayBeEmpty }: TokenSegment) {
    const value = this.#read(token)
    if (value !== '') return value
    if (!mayBeEmpty && !this.empty.includes(token.name)) this.empty.push(token.name)
    return fallback ?? ''
  }

  #read(token: Token) {
    let value = this.#known.get(token)
    if (value === undefined) {
      value = token.value(this.#context, this.#readers) ?? ''
      this.#known.set(token, value)
    }
    return value
  }
}

const tooLong = () => {
  const detail = `with its tokens filled in it is longer than ${MAX_MERGED_LENGTH} characters`
  return invalid([{ pointer: '/emailBody', detail }])
}

const plain = (value: string) => value

/** For a header: always one line. */
export const headerValue = (value: string) =>
  ONE_LINE.test(value)
    ? value
    : withoutControls(value)
        .replace(/[\s\u2028\u2029]+/g, ' ')
        .trim()

/** For a text of several lines: no control characters, and `\n` for every line break. */
export const textValue = (value: string) =>
  ONE_LINE.test(value) ? value : withoutControls(value).replace(LINE_BREAK, '\n')

/** Words of Latin letters with single spaces. Most values are like this and need no change. */
const ONE_LINE = /^(?:[!-~\u00a1-\u02ff]+(?: [!-~\u00a1-\u02ff]+)*)?$/

/** Within a text part, only links have another place than `text`. */
const plainTextValue = (value: string, place: Place) =>
  place === 'url' || place === 'url-part' ? addressValue(value, place) : textValue(value)

const htmlValueInRightToLeft = (value: string, place: Place) =>
  place === 'text' ? `<bdi>${htmlText(value)}</bdi>` : htmlValue(value, place)

const htmlText = (value: string) => escapeHtml(textValue(value)).replaceAll('\n', '<br>\n')

const htmlValue = (value: string, place: Place) => {
  switch (place) {
    case 'url':
    case 'url-part':
      return escapeHtml(addressValue(value, place))
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

const addressValue = (value: string, place: 'url' | 'url-part') =>
  place === 'url' ? wholeUrl(value) : encodeUrl(value).replaceAll('%40', '@')

function wholeUrl(value: string) {
  const url = URL.parse(value)
  if (!url || !SAFE_SCHEMES.has(url.protocol)) return encodeUrl(value)
  // `URL` leaves these characters in mailto: and tel:; in a text they would end the link.
  return url.href.replace(/[\s<>"]/g, encodeURIComponent)
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
