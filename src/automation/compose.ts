import { calendarFile, calendarUid, type CalendarFile } from '../email/calendar-file.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { prepareHtml, textOfHtml } from '../email/html.ts'
import {
  compileTemplate,
  isForEachClient,
  mergeMail,
  type CompiledTemplate,
  type MergedMail,
} from '../email/merge.ts'
import { chooseVariant } from '../email/variants.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { RunningAction } from '../store/event-actions.ts'
import type { StoredTemplate } from '../store/email-templates.ts'
import type { ContextRow } from '../store/mail-contexts.ts'

/** One mail of one action to one recipient. */
export type Composed = {
  emailId: number
  action: RunningAction
  template: StoredTemplate
  row: ContextRow
  /** Whose copy it is: of a class, one for each student. */
  recipientKey: string
  mail: MergedMail & { to: Mailbox }
  /** Null for mail that one cannot unsubscribe from. */
  unsubscribeLink: string | null
}

/** Mails have their ids before they are made: a link in one names it. */
export type Addressing = {
  drawId(): number
  unsubscribeLink(businessId: number, emailId: number): string | null
}

/** What an action comes to: mails, or the reasons for which there is none. */
export type Composition = { mails: Composed[]; skipped: string[] }

/**
 * Makes the mails of one action about one object. `rows` has one entry for each client concerned;
 * `templates` begins with the one that the action names, its variants after it.
 */
export function compose(
  action: RunningAction,
  rows: ContextRow[],
  templates: StoredTemplate[],
  { drawId, unsubscribeLink }: Addressing,
): Composition {
  const [named] = templates
  if (!named?.active) return { mails: [], skipped: ['the template is not active'] }
  const composition: Composition = { mails: [], skipped: [] }
  const once = !isForEachClient(compiled(named), action.recipient)
  for (const row of once ? rows.slice(0, 1) : rows) {
    const template = chooseVariant([variantOf(named), ...templates.slice(1).map(variantOf)], {
      language: row.context.client?.language ?? null,
      reasonId: row.reasonId,
      locationId: row.locationId,
    }).template
    const emailId = drawId()
    const isUnwantable = !(action.transactional ?? template.transactional)
    const link = isUnwantable ? unsubscribeLink(row.businessId, emailId) : null
    const context = { ...row.context, unsubscribeLink: link }
    const mail = mergeMail(compiled(template), context, action.recipient)
    const { to } = mail
    if (!to) composition.skipped.push(noAddress(mail))
    else {
      const recipientKey = once ? '' : `client ${row.clientId}`
      composition.mails.push({
        emailId,
        action,
        template,
        row,
        recipientKey,
        mail: { ...mail, to },
        unsubscribeLink: link,
      })
    }
  }
  if (rows.length === 0 || (rows.length === 1 && rows[0]!.clientId === null && !once)) {
    composition.skipped = ['there is nobody to write to']
  }
  return composition
}

const noAddress = (mail: MergedMail) =>
  mail.badAddresses.some(({ field }) => field === 'toAddress')
    ? 'its address is no plain address'
    : 'there is no address to write to'

const variantOf = (template: StoredTemplate) => ({
  emailTemplateId: template.emailTemplateId,
  language: template.language,
  reasonIdList: template.reasonIdList,
  level: template.level,
  location: template.location === null ? null : Number(template.location),
  sortOrder: template.sortOrder,
  template,
})

/** A template is cut at its tokens once for each of its versions. */
const cache = new Map<string, CompiledTemplate>()
const MOST_CACHED = 500

export function compiled(template: StoredTemplate): CompiledTemplate {
  const key = `${template.emailTemplateId} ${template.version}`
  let found = cache.get(key)
  if (!found) {
    const html = prepareHtml(template.emailBody)
    found = compileTemplate({ ...template, html, text: template.emailBodyText ?? textOfHtml(html) })
    if (cache.size >= MOST_CACHED) cache.clear()
    cache.set(key, found)
  }
  return found
}

/** The entry that a mail about an appointment or a class puts into its reader's calendar. */
export function calendarEntry(
  objectType: ObjectType,
  { mail, row }: Composed,
  from: Mailbox,
  host: string,
): CalendarFile | null {
  const { context } = row
  const visit = context.calendar ?? context.classSchedule
  if (!visit || row.objectId === null) return null
  return calendarFile({
    uid: calendarUid(objectType, row.objectId, row.businessId, host),
    sequence: row.version,
    cancelled: row.objectStatus === 'CANCELLED',
    startTime: visit.startTime,
    endTime: visit.endTime,
    summary: `${context.classSchedule?.name ?? context.reason?.name ?? mail.subject}, ${context.business.name}`,
    description: context.location?.directions ?? null,
    location:
      [context.location?.name, context.location?.address].filter(Boolean).join(', ') || null,
    organizer: from,
    attendee: mail.to,
    changedTime: row.modifiedDate,
  })
}

/** Who a mail comes from: the template's sender, else the installation's with the template's name. */
export function senderOf(mail: MergedMail, mailFrom: Mailbox): Mailbox {
  if (mail.from) return mail.from
  return mail.fromName ? { ...mailFrom, name: mail.fromName } : mailFrom
}
