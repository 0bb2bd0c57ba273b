import { calendarFile, calendarUid, type CalendarFile } from '../email/calendar-file.ts'
import { domainOf, isSameAddress, type Mailbox } from '../contract/addresses.ts'
import { unusableTemplate } from '../email/html-pool.ts'
import { placeOf, postalAddressOf } from '../email/layout-tokens.ts'
import {
  compileTemplate,
  holdsClientToken,
  isForEachClient,
  mergeAddresses,
  mergeContent,
  readersOf,
  type CompiledTemplate,
  type MergedAddresses,
  type MergedMail,
} from '../email/merge.ts'
import { withCommonValues } from '../email/common-values.ts'
import { visitTimes, type ReaderKind } from '../email/readers.ts'
import type { AskingMail } from '../email/answer-links.ts'
import type { UnsubscribedMail } from '../email/unsubscribe.ts'
import { chooseVariant } from '../email/variants.ts'
import type { ObjectType } from '../contract/event-type.ts'
import { REASONS } from '../contract/reasons.ts'
import type { RunningAction } from '../store/event-actions.ts'
import type { ContextRow } from '../store/mail-contexts.ts'
import type { RenderedTemplate } from './templates.ts'

export type Composed = {
  emailId: number
  messageId: string
  action: RunningAction
  template: RenderedTemplate
  row: ContextRow
  /** Identifies the copy: one per student of a class, and one each for cc and bcc. */
  recipientKey: string
  /** The actual recipient; for cc and bcc copies this differs from `mail.to`. */
  recipient: Mailbox
  mail: MergedMail & { to: Mailbox }
  /** Null for transactional mail. */
  unsubscribeLink: string | null
}

/** Ids are drawn before composing, because the links in a mail contain them. */
export type Addressing = {
  drawName(businessId: number): UnsubscribedMail
  unsubscribeLink(mail: UnsubscribedMail): string | null
  calendarLink(mail: UnsubscribedMail): string | null
  now: Temporal.Instant
  answerLinks?: AnswerLinks | undefined
}

/** The links with which a client answers about an appointment or class, or signs a form. */
export type AnswerLinks = (mail: AskingMail) => NonNullable<ContextRow['context']['answerLinks']>

/** The mails of an action, or the reasons why there are none. */
export type Composition = { mails: Composed[]; skipped: string[] }

/**
 * Composes the mails of one action about one object. `rows` has one entry per client; `templates`
 * begins with the one that the action names, followed by its variants.
 */
export function compose(
  action: RunningAction,
  rows: ContextRow[],
  templates: RenderedTemplate[],
  addressing: Addressing,
): Composition {
  const [named] = templates
  if (!named?.active) return { mails: [], skipped: [REASONS.templateInactive] }
  const composition: Composition = { mails: [], skipped: [] }
  const isSingleMail = !isForEachClient(compiled(named), action.recipient)
  const written = new Set<string>()
  for (const row of isSingleMail ? asOne(rows) : rows) {
    const template = templates.length === 1 ? named : variantFor(row, action.recipient, templates)
    const key = isSingleMail ? '' : `client ${row.clientId}`
    const canUnsubscribe = !(action.transactional ?? template.transactional)
    if (canUnsubscribe && lacksPostalAddress(row)) {
      composition.skipped.push(REASONS.noPostalAddress)
      continue
    }
    const addresses = mergeAddresses(compiled(template), row.context, action.recipient)
    const { to } = addresses
    if (!to) {
      composition.skipped.push(noAddress(addresses))
      continue
    }
    const add = (recipientKey: string, recipient: Mailbox) => {
      if (written.has(recipientKey)) return
      written.add(recipientKey)
      const name = addressing.drawName(row.businessId)
      // Each recipient has their own link, so that it unsubscribes only that address.
      const unsubscribeLink = canUnsubscribe ? addressing.unsubscribeLink(name) : null
      const calendarLink = isVisit(row.context) ? addressing.calendarLink(name) : null
      const asking = recipientKey === key && askingMail(name, row, template, recipient)
      const answerLinks = asking ? addressing.answerLinks?.(asking) : undefined
      const context = {
        ...row.context,
        unsubscribeLink,
        calendarLink,
        ...(answerLinks && { answerLinks }),
      }
      const common = commonPart(template, row.context, action.recipient)
      const content = mergeContent(common, context, action.recipient, addressing.now)
      composition.mails.push({
        ...name,
        action,
        template,
        row,
        recipientKey,
        recipient,
        mail: { ...addresses, ...content, to, emptyTokens: union(addresses, content) },
        unsubscribeLink,
      })
    }
    add(key, to)
    for (const { field, recipient } of copiesOf(addresses)) {
      // A copy goes once to an address that is the same for every client.
      const isPerClient = !isSingleMail && holdsClientToken(compiled(template), field)
      add(isPerClient ? `${key} ${field}` : field, recipient)
    }
  }
  if (rows.length === 0 || (rows.length === 1 && rows[0]!.clientId === null && !isSingleMail)) {
    composition.skipped = [REASONS.noClient]
  }
  return composition
}

const union = (...parts: Pick<MergedMail, 'emptyTokens'>[]) => [
  ...new Set(parts.flatMap(({ emptyTokens }) => emptyTokens)),
]

const lacksPostalAddress = ({ context }: ContextRow) =>
  context.business.postalAddressRequired && !postalAddressOf(context)

const isVisit = ({ calendar, classSchedule }: ContextRow['context']) =>
  calendar !== null || classSchedule !== null

/** Only a mail to the client has answer links. A copy would give them to others. */
function askingMail(
  name: UnsubscribedMail,
  { context, clientId, objectId, createdDate }: ContextRow,
  template: RenderedTemplate,
  { address }: Mailbox,
): AskingMail | undefined {
  const visit = context.calendar ?? context.classSchedule
  const startTime = visit ? visit.startTime : context.disclaimer && createdDate
  const isClient = isSameAddress(context.client?.emailAddress, address)
  if (!startTime || objectId === null || clientId === null || !isClient) return undefined
  if (!hasAnswerTokens(template)) return undefined
  return { ...name, toAddress: address, objectId, startTime }
}

function hasAnswerTokens(template: RenderedTemplate) {
  const known = answerTokens.get(template)
  if (known !== undefined) return known
  const { subject, emailBody, emailBodyText, emailBecause } = template
  const texts = [subject, emailBody, emailBodyText, emailBecause]
  const found = texts.some(
    (text) => text !== null && /%(?:IF:)?(?:CONFIRM|CANCEL|SIGN)_URL\b/.test(text),
  )
  answerTokens.set(template, found)
  return found
}

const answerTokens = new WeakMap<RenderedTemplate, boolean>()

/** Which of the versions of a mail its reader gets. */
export function variantFor(
  row: ContextRow,
  recipient: RunningAction['recipient'],
  templates: RenderedTemplate[],
) {
  const variants = templates.map(variantOf) as [Variant, ...Variant[]]
  return chooseVariant(variants, {
    language: readerLanguage(row, recipient),
    reasonId: row.reasonId,
    locationId: row.locationId,
  }).template
}

type Variant = ReturnType<typeof variantOf>

/** One mail for all students of a class names none of them, even if there is only one. */
function asOne(rows: ContextRow[]): ContextRow[] {
  const [first] = rows
  return first?.context.classSchedule ? [withoutClient(first)] : rows
}

export const withoutClient = (row: ContextRow): ContextRow => ({
  ...row,
  clientId: null,
  context: { ...row.context, client: null },
})

/** Clients have their own language; staff get the business's. */
const readerLanguage = ({ context }: ContextRow, recipient: RunningAction['recipient']) =>
  recipient === 'staff' || recipient === 'business'
    ? context.business.language
    : (context.client?.language ?? null)

/** The cc and bcc recipients, each address once. */
function copiesOf({ to, cc, bcc }: MergedAddresses) {
  const copies: { field: 'ccAddress' | 'bccAddress'; recipient: Mailbox }[] = []
  if (!cc && !bcc) return copies
  const known = new Set([to?.address.toLowerCase()])
  for (const [field, recipient] of [['ccAddress', cc] as const, ['bccAddress', bcc] as const]) {
    if (!recipient || known.has(recipient.address.toLowerCase())) continue
    known.add(recipient.address.toLowerCase())
    copies.push({ field, recipient })
  }
  return copies
}

const noAddress = (mail: MergedAddresses) =>
  mail.badAddresses.some(({ field }) => field === 'toAddress')
    ? REASONS.invalidAddress
    : REASONS.noAddress

const variantOf = (template: RenderedTemplate) => ({
  emailTemplateId: template.emailTemplateId,
  language: template.language,
  reasonIdList: template.reasonIdList,
  level: template.level,
  location: template.location === null ? null : Number(template.location),
  sortOrder: template.sortOrder,
  template,
})

/** Splits a template at its tokens, once for all mails made from the same row. */
export function compiled(template: RenderedTemplate): CompiledTemplate {
  let found = compiledTemplates.get(template)
  if (!found) compiledTemplates.set(template, (found = compileRendered(template)))
  return found
}

const compiledTemplates = new WeakMap<RenderedTemplate, CompiledTemplate>()

/** The template with what its mails about this location have in common, from the second mail on. */
function commonPart(
  template: RenderedTemplate,
  { business, location }: ContextRow['context'],
  recipient: RunningAction['recipient'],
): CompiledTemplate {
  const whole = compiled(template)
  const isForStaff = !isForEachClient(whole, recipient)
  const parts = isForStaff ? commonParts.staff : commonParts.client
  const ofLocations = parts.get(template) ?? new Map<unknown, CompiledTemplate>()
  parts.set(template, ofLocations)
  let part = ofLocations.get(location)
  if (part === whole) part = withCommonValues(whole, { business, location }, isForStaff)
  part ??= whole
  ofLocations.set(location, part)
  return part
}

/** A batch reads each template once, with the business that it belongs to. */
const commonParts = {
  client: new WeakMap<RenderedTemplate, Map<unknown, CompiledTemplate>>(),
  staff: new WeakMap<RenderedTemplate, Map<unknown, CompiledTemplate>>(),
}

function compileRendered(template: RenderedTemplate): CompiledTemplate {
  const { rendered, emailBodyText, emailBecause, noHeader } = template
  if ('unusable' in rendered) throw unusableTemplate(rendered)
  const text = emailBodyText ?? rendered.text
  return compileTemplate({
    ...template,
    ...rendered,
    text,
    because: emailBecause || null,
    hasLayout: !noHeader,
  })
}

type Entry = Pick<Composed, 'row' | 'recipient'> & {
  /** Copies have the entry of the mail that they are a copy of. */
  mail: { subject: string; to: Mailbox; language?: string | null }
}

/** Whether a reader needs the calendar file: not of a visit that they missed, and not of one that is over. */
export function needsCalendar(
  { calendar, classSchedule }: ContextRow['context'],
  now: Temporal.Instant | null,
) {
  const visit = calendar ?? classSchedule
  if (!visit || visit.isMissed) return false
  return now === null || Temporal.Instant.compare(visit.endTime, now) > 0
}

export function calendarEntry(
  objectType: ObjectType,
  { mail, row, recipient }: Entry,
  from: Mailbox,
  host: string,
): CalendarFile | null {
  const { context } = row
  const visit = context.calendar ?? context.classSchedule
  const { objectId } = row
  if (!visit || objectId === null) return null
  // In the calendar of staff, the client's name is more useful than the business's.
  const readBy = readerOf(mail.to, context)
  // Only staff may see the client's name: anyone may have a copy of the mail, or an old link.
  const client = readBy === 'client' ? null : context.client
  const other = client ? `${client.firstName} ${client.lastName}`.trim() : context.business.name
  const details = client ? client.phone : (context.location?.directions ?? null)
  return calendarFile({
    uid: calendarUid({ ...row, objectType, objectId }, host),
    sequence: row.version,
    cancelled: visit.isCancelled,
    startTime: visit.startTime,
    endTime: visit.endTime,
    summary: `${context.classSchedule?.name ?? context.reason?.name ?? mail.subject}, ${other}`,
    description: [placeTimeOf(visit, mail, context, readBy), details].filter(Boolean).join('\n'),
    location: placeOf(context.location),
    url: context.business.website,
    organizer: from,
    attendee: recipient,
    changedTime: row.modifiedDate,
  })
}

/** Calendars show their owner's clock, so the entry of a reader with another one has the location's time. */
function placeTimeOf(
  visit: { startTime: Temporal.Instant; endTime: Temporal.Instant },
  { language }: Entry['mail'],
  context: ContextRow['context'],
  readBy: ReaderKind,
) {
  const readers = readersOf(context, language ?? null, { readBy })
  const { date, time, ownTime } = visitTimes(visit, readers)
  return ownTime === null ? null : `${date}, ${time}`
}

function readerOf(
  { address }: Mailbox,
  { professional, business }: ContextRow['context'],
): ReaderKind {
  if (isSameAddress(professional?.emailAddress, address)) return 'staff'
  return isSameAddress(business.emailAddress, address) ? 'business' : 'client'
}

/** The business data that From and Reply-To depend on. */
export type SendingBusiness = Pick<
  ContextRow['context']['business'],
  'name' | 'emailAddress' | 'replyTo' | 'senderDomains'
>

/**
 * From and Reply-To of a mail. A template's `fromAddress` counts only if its domain is allowed for the
 * business; otherwise the mail comes from MAIL_FROM's address, and the wanted address gets the replies.
 * Without a `fromName`, readers see the name of the business.
 */
export function senderOf(
  { from: wanted, fromName, replyTo }: Pick<MergedMail, 'from' | 'fromName' | 'replyTo'>,
  { name, emailAddress, replyTo: repliesTo, senderDomains }: SendingBusiness,
  mailFrom: Mailbox,
): { from: Mailbox; replyTo: Mailbox | null } {
  const isAllowed = wanted !== null && senderDomains.includes(domainOf(wanted.address))
  const refused = isAllowed || wanted?.address === mailFrom.address ? null : wanted
  const address = repliesTo ?? emailAddress
  const contact = address === null ? null : { name: '', address }
  return {
    from: { name: fromName || name, address: isAllowed ? wanted.address : mailFrom.address },
    replyTo: replyTo ?? refused ?? contact,
  }
}
