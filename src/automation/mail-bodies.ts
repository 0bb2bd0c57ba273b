import { createHash } from 'node:crypto'
import type { Mailbox } from '../contract/addresses.ts'
import type { MailContext } from '../contract/mail-context.ts'
import type { Db } from '../database/database.ts'
import { calendarFile } from '../email/calendar-file.ts'
import { placeOf } from '../email/layout-tokens.ts'
import { mergeCommonText, type CompiledTemplate } from '../email/merge.ts'
import {
  contentOf,
  draftContent,
  draftMessage,
  encodeDraft,
  isMessage,
  readDraft,
  type Draft,
} from '../email/message.ts'
import {
  encodeBody,
  lockBodiesToConvert,
  lockOldBodies,
  makeDictionary,
  readBody,
  replaceBodies,
  UnreadableBody,
  type Dictionary,
  type LockedBody,
  type ReadBody,
} from '../store/message-bodies.ts'
import type { ContextRow } from '../store/mail-contexts.ts'
import { compiled, senderOf, type Addressing } from './compose.ts'
import type { RenderedTemplate } from './templates.ts'

/** The stored contents of mails: see store/message-bodies.ts. */

/** The dictionary of a template's mails about visits to one location. */
export function dictionaryFor(
  parts: LinkedParts,
  template: RenderedTemplate,
  { context: { business, location } }: ContextRow,
): Dictionary {
  const ofLocations = dictionaries.get(template) ?? new Map<unknown, Dictionary>()
  dictionaries.set(template, ofLocations)
  let dictionary = ofLocations.get(location)
  if (!dictionary) {
    dictionary = dictionaryOf(compiled(template), { business, location }, parts)
    ofLocations.set(location, dictionary)
  }
  return dictionary
}

/** A batch reads each template once, with the business that it belongs to. */
const dictionaries = new WeakMap<RenderedTemplate, Map<unknown, Dictionary>>()

type LinkedParts = Pick<Addressing, 'unsubscribeLink' | 'calendarLink' | 'answerLinks'> & {
  mailFrom: Mailbox
  host: string
}

/**
 * It contains the text of the template, the business and the location, but no data of clients and
 * staff, and nothing of a mail.
 */
export function dictionaryOf(
  template: CompiledTemplate,
  { business, location }: Pick<MailContext, 'business' | 'location'>,
  parts: LinkedParts,
): Dictionary {
  const { mailFrom, host } = parts
  const unsubscribeLink = beginningOf(parts.unsubscribeLink(NO_MAIL))
  const calendarLink = beginningOf(parts.calendarLink(NO_MAIL))
  const answers = parts.answerLinks?.(NO_ANSWER)
  const answerLinks = answers && {
    confirm: beginningOf(answers.confirm)!,
    cancel: beginningOf(answers.cancel)!,
    sign: beginningOf(answers.sign)!,
  }
  const common = {
    business,
    location,
    calendar: EXAMPLE_VISIT,
    unsubscribeLink,
    calendarLink,
    ...(answerLinks && { answerLinks }),
  }
  const sender = senderOf(
    { from: null, fromName: business.name, replyTo: null },
    business,
    mailFrom,
  )
  const calendar = calendarFile({
    ...EXAMPLE_ENTRY,
    uid: `@${host}`,
    summary: `, ${business.name}`,
    description: location?.directions ?? null,
    location: placeOf(location),
    url: business.website,
    organizer: sender.from,
  })
  const content = mergeCommonText(template, common)
  const draft = draftMessage({
    ...content,
    ...sender,
    to: NOBODY,
    cc: null,
    calendar,
    unsubscribeLink,
    feedbackId: 'template-:business-:bellwether',
    list: { name: business.name, id: `category-.business-.${host}` },
  })
  return makeDictionary(draft)
}

const beginningOf = (link: string | null) => link && link.slice(0, link.lastIndexOf('/') + 1)

const BEGINNING = Temporal.Instant.fromEpochMilliseconds(1_800_000_000_000)
const NOBODY = { name: '', address: 'nobody@example.invalid' }
const NO_MAIL = { businessId: 0, emailId: 0, messageId: '<0.0@example.invalid>' }
const NO_ANSWER = { ...NO_MAIL, toAddress: NOBODY.address, objectId: 0, startTime: BEGINNING }
const EXAMPLE_VISIT = {
  calendarId: 0,
  startTime: BEGINNING,
  endTime: BEGINNING,
  status: '',
  isCancelled: false,
  isMissed: false,
  isLive: true,
  note: null,
  changeNote: null,
  answerNote: null,
  previousStartTime: null,
  externalId: null,
  tags: {},
}
const EXAMPLE_ENTRY = {
  sequence: 1,
  cancelled: false,
  startTime: BEGINNING,
  endTime: BEGINNING,
  attendee: NOBODY,
  changedTime: BEGINNING,
}

/** The content of a mail; null if it was deleted. Throws `UnreadableBody`. */
export async function readMailBody(
  db: Db,
  { businessId, message, html, text }: Pick<LockedBody, 'businessId' | 'message' | 'html' | 'text'>,
): Promise<ReadBody | null> {
  if (message) return readBody(db, businessId, message)
  if (html === null && text === null) return null
  return { text: draftContent({ html, text }), dictionary: null }
}

/** Replaces the content of old mails by its SHA-256. Returns how many. */
export const forgetBodies = (engine: Db, before: Temporal.Instant, limit: number) =>
  engine.transaction(async (tx) => {
    const mails = await lockOldBodies(tx, before, limit)
    const forgotten = await Promise.all(
      mails.map(async (mail) => ({ ...mail, message: null, bodyHash: await hashOf(tx, mail) })),
    )
    if (mails.length > 0) await replaceBodies(tx, forgotten)
    return mails.length
  })

/** Null if the content cannot be read. */
async function hashOf(tx: Db, mail: LockedBody) {
  try {
    const { text: draft } = (await readMailBody(tx, mail))!
    return createHash('sha256').update(provableText(draft, mail)).digest('hex')
  } catch (error) {
    if (error instanceof UnreadableBody) return null
    throw error
  }
}

/** The message as it was sent, or the content of one that was not. */
function provableText(draft: Draft, mail: LockedBody) {
  if (isMessage(draft)) return encodeDraft(draft, mail)
  const { html, text } = contentOf(draft)
  return `${html ?? ''}${text ?? ''}`
}

/** Converts contents that older versions stored. Returns how many. */
export const convertBodies = (engine: Db, limit: number) =>
  engine.transaction(async (tx) => {
    const mails = await lockBodiesToConvert(tx, limit)
    const converted = mails.map((mail) => {
      const { message, html, text } = mail
      const draft = message ? readDraft(message.toString('latin1')) : draftContent({ html, text })
      return { ...mail, message: encodeBody(draft, null), bodyHash: null }
    })
    if (mails.length > 0) await replaceBodies(tx, converted)
    return mails.length
  })
