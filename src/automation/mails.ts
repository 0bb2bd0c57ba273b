import { REASONS, reasonText, shadowReason, SUPPRESSED_REASONS } from '../contract/reasons.ts'
import type { Mailbox } from '../contract/addresses.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import { draftContent, draftMessage, makeMessageId } from '../email/message.ts'
import type { UnsubscribedMail } from '../email/unsubscribe.ts'
import { drawEmailIds, type NewEmail } from '../store/emails.ts'
import type { RunningAction } from '../store/event-actions.ts'
import type { ContextRow } from '../store/mail-contexts.ts'
import { listSuppressed } from '../store/suppressions.ts'
import { keepTransactionAlive, type ClaimedTrigger, type Ending } from '../store/trigger-queue.ts'
import { encodeSoon } from '../store/message-bodies.ts'
import { withLogo } from './logo.ts'
import { dictionaryFor } from './mail-bodies.ts'
import {
  calendarEntry,
  compose,
  needsCalendar,
  senderOf,
  type AnswerLinks,
  type Composed,
} from './compose.ts'
import type { RenderedTemplate } from './templates.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { usefulUntil } from './timing.ts'
import type { WorkQueue } from '../work-queue.ts'

export type MailParts = {
  /** Large batches of an engine are made one after the other. */
  batches: WorkQueue
  /** Emails are stored and shown, none is sent. */
  captures: boolean
  mailFrom: Mailbox
  /** The name of this installation in Message-IDs and calendar entries. */
  host: string
  unsubscribeLink(mail: UnsubscribedMail): string | null
  calendarLink(mail: UnsubscribedMail): string | null
  answerLinks?: AnswerLinks
  onError(error: unknown): void
}

/** A trigger that fires, and the data for its mails, read under locks. */
export type Ready = { trigger: ClaimedTrigger; rows: ContextRow[]; allowPast: boolean }

/** The data that mails need in addition to their object, read under locks. */
export type Making = {
  /** By the id of the definition, in the order in which they run. */
  actions: Map<number, RunningAction[]>
  /** By the id that actions name. */
  templates: Map<number, RenderedTemplate[]>
  /** Ids for the mails; more are drawn if these are too few. */
  ids: number[]
  now: Temporal.Instant
}

export async function makeMails(tx: Db, parts: MailParts, ready: Ready[], making: Making) {
  if (ready.length === 0) return { endings: [], emails: [] }
  const { actions, templates, ids, now } = making
  // To, Cc and Bcc are three mails. Most templates have no copies.
  const maxMails = (haveCopies(templates) ? 3 : 1) * countMails(ready, actions)
  if (maxMails > ids.length) ids.push(...(await drawEmailIds(tx, maxMails - ids.length)))
  let drawn = 0
  const addressing = {
    drawName: (businessId: number) => {
      const emailId = ids[drawn++]!
      return { businessId, emailId, messageId: makeMessageId(businessId, emailId, parts.host) }
    },
    unsubscribeLink: parts.unsubscribeLink,
    calendarLink: parts.calendarLink,
    now,
    answerLinks: parts.answerLinks,
  }

  const endings: Ending[] = []
  const emails: Promise<NewEmail>[] = []
  const make = async (piece: Ready[]) => {
    const composed = await mapInSlices(piece, (one) => ({
      ...one,
      ...composeAll(
        actions.get(one.trigger.eventDefnId) ?? [],
        one.rows,
        templates,
        addressing,
        parts.onError,
      ),
    }))
    const isSuppressed = await suppressions(
      tx,
      composed.flatMap((one) => one.mails),
    )
    await mapInSlices(composed, ({ trigger, allowPast, mails, skipped, broken }) => {
      const own = mails.map((mail) => {
        const fate = fateOf(parts, mail, isSuppressed(mail))
        const email = emailOf(parts, trigger, mail, { ...fate, allowPast, now })
        email.catch(() => {}) // awaited below, with all others
        emails.push(email)
        return fate
      })
      endings.push(ended(trigger, endingOf(own, skipped, broken)))
    })
  }
  await inTurn(tx, parts.batches, ready, make)
  return { endings, emails: await Promise.all(emails) }
}

/**
 * Makes a few mails after the other, so that their texts are garbage before the next ones are made. Runs one
 * large batch at a time: two that alternate would both end late, while the database is idle.
 */
async function inTurn(
  tx: Db,
  batches: WorkQueue,
  ready: Ready[],
  make: (piece: Ready[]) => Promise<void>,
) {
  if (ready.length <= MAX_SMALL_BATCH) return make(ready)
  const made = batches.run({}, async () => {
    for (let i = 0; i < ready.length; i += PIECE) await make(ready.slice(i, i + PIECE))
  })
  // Behind the batches of other worker slots, this may wait longer than the idle timeout of a transaction.
  const keepAlive = setInterval(() => void keepTransactionAlive(tx).catch(() => {}), KEEP_ALIVE_MS)
  return made.finally(() => clearInterval(keepAlive))
}

/** Yields to the event loop: 500 mails take 0.1 s, and requests would wait. */
async function mapInSlices<Item, Made>(items: Item[], make: (item: Item) => Made) {
  const made: Made[] = []
  for (const item of items) {
    if (isSliceOver()) await nextSlice()
    made.push(make(item))
  }
  return made
}

const PIECE = 50
const MAX_SMALL_BATCH = 10
const KEEP_ALIVE_MS = 1_000

export const ended = (
  { businessId, eventTriggerId, scheduledTime }: ClaimedTrigger,
  ending: Pick<Ending, 'status' | 'statusReason'> & Partial<Ending>,
): Ending => {
  const { status, statusReason, plan = null, notBefore = null } = ending
  return { businessId, eventTriggerId, scheduledTime, status, statusReason, plan, notBefore }
}

const countMails = (ready: Ready[], actions: Making['actions']) =>
  ready.reduce(
    (sum, { trigger, rows }) => sum + (actions.get(trigger.eventDefnId)?.length ?? 0) * rows.length,
    0,
  )

const haveCopies = (templates: Map<number, RenderedTemplate[]>) =>
  [...templates.values()].flat().some((template) => template.ccAddress || template.bccAddress)

function composeAll(
  actions: RunningAction[],
  rows: ContextRow[],
  templates: Map<number, RenderedTemplate[]>,
  addressing: Parameters<typeof compose>[3],
  onError: MailParts['onError'],
) {
  const mails: Composed[] = []
  if (rows[0]?.businessActive === false) {
    return { mails, skipped: [REASONS.businessInactive], broken: undefined }
  }
  const skipped: string[] = actions.length === 0 ? [REASONS.noActiveAction] : []
  let broken: string | undefined
  for (const action of actions) {
    try {
      const made = compose(action, rows, templates.get(action.emailTemplateId) ?? [], addressing)
      mails.push(...made.mails)
      skipped.push(...made.skipped)
    } catch (error) {
      const isTemplate = error instanceof RequestError
      if (!isTemplate) onError(error)
      broken = reasonText('mailNotMade', { name: action.eventActionId })
      if (isTemplate) broken += `: ${error.message}`
    }
  }
  return { mails, skipped, broken }
}

/** A captured mail ends when it is inserted; any other when the mail server has accepted it. */
type Fate = Pick<NewEmail, 'status' | 'statusReason'>

function fateOf({ captures }: MailParts, { row }: Composed, suppressed: string | undefined): Fate {
  const { shadowFeed } = row
  if (suppressed) return { status: 'SUPPRESSED', statusReason: suppressed }
  const statusReason = shadowFeed === null ? null : shadowReason(shadowFeed)
  return { status: captures || shadowFeed !== null ? 'CAPTURED' : 'QUEUED', statusReason }
}

function endingOf(emails: Fate[], skipped: string[], broken: string | undefined) {
  const hasQueued = emails.some((email) => email.status === 'QUEUED')
  if (hasQueued) return { status: 'RUNNING' as const, statusReason: broken ?? null }
  if (broken) return { status: 'FAILED' as const, statusReason: broken }
  if (emails.some((email) => email.status === 'CAPTURED')) {
    return { status: 'COMPLETED' as const, statusReason: null }
  }
  const reasons = new Set([...emails.flatMap((email) => email.statusReason ?? []), ...skipped])
  return { status: 'SKIPPED' as const, statusReason: [...reasons].join('; ') }
}

async function emailOf(
  parts: MailParts,
  trigger: ClaimedTrigger,
  composed: Composed,
  { status, statusReason, allowPast, now }: Fate & { allowPast: boolean; now: Temporal.Instant },
): Promise<NewEmail> {
  const { action, template, row, mail, emailId, messageId } = composed
  const sender = senderOf(mail, row.context.business, parts.mailFrom)
  const dictionary = dictionaryFor(parts, template, row)
  const draft =
    status === 'QUEUED'
      ? draftOf(parts, trigger.objectType, composed, {
          sender,
          hasCalendar: needsCalendar(row.context, allowPast ? null : now),
        })
      : draftContent(mail)
  const email = {
    businessId: row.businessId,
    emailId,
    eventTriggerId: trigger.eventTriggerId,
    eventActionId: action.eventActionId,
    emailTemplateId: template.emailTemplateId,
    emailCategoryId: action.emailCategoryId ?? template.emailCategoryId,
    objectType: trigger.objectType,
    objectId: trigger.objectId,
    objectUUId: trigger.objectUUId,
    clientId: row.clientId,
    recipientKey: composed.recipientKey,
    toAddress: composed.recipient.address,
    fromAddress: sender.from.address,
    subject: mail.subject,
    dictionary,
    messageId,
    attachments: template.attachments,
    test: false,
    status,
    statusReason,
    createdDate: now,
    usefulUntil: usefulUntil({ ...trigger, createdDate: now }),
  }
  return { ...email, message: await encodeSoon(draft, dictionary) }
}

function draftOf(
  parts: MailParts,
  objectType: ObjectType,
  composed: Composed,
  { sender, hasCalendar }: { sender: ReturnType<typeof senderOf>; hasCalendar: boolean },
) {
  const { mail, template, row, unsubscribeLink } = composed
  const calendar = hasCalendar ? calendarEntry(objectType, composed, sender.from, parts.host) : null
  const files = withLogo(template.attachments, mail.html, composed.row.context.business.logo)
  const more = { calendar, files, unsubscribeLink, ...listingOf(parts, template, row) }
  return draftMessage({ ...mail, ...sender, ...more })
}

/** By these headers mail providers count complaints, and readers sort mails. */
export const listingOf = (
  { host }: Pick<MailParts, 'host'>,
  { emailTemplateId, emailCategoryId }: Pick<NewEmail, 'emailTemplateId' | 'emailCategoryId'>,
  { businessId, context }: ContextRow,
) => ({
  feedbackId: `template-${emailTemplateId}:business-${businessId}:bellwether`,
  list: {
    name: context.business.name,
    id: `category-${emailCategoryId ?? 0}.business-${businessId}.${host}`,
  },
})

/**
 * Addresses that bounced or complained get no mail. Unsubscribed ones get only transactional mail, or no
 * mail of the categories that they unsubscribed from.
 */
async function suppressions(tx: Db, mails: Composed[]) {
  // Suppressions of the client's own address were read with the client.
  const addresses = mails
    .filter((mail) => !isToClient(mail))
    .map(({ row, recipient }) => ({
      businessId: row.businessId,
      emailAddress: recipient.address,
    }))
  const found = addresses.length === 0 ? [] : await listSuppressed(tx, addresses)
  const reasons = Map.groupBy(found, (one) => `${one.businessId} ${one.emailAddress}`)
  const reasonsOf = (mail: Composed) =>
    isToClient(mail)
      ? mail.row.suppressed!
      : (reasons.get(`${mail.row.businessId} ${mail.recipient.address.toLowerCase()}`) ?? []).map(
          ({ reason, emailCategoryId }) =>
            emailCategoryId === null ? reason : `${emailCategoryId}`,
        )
  return (mail: Composed) => {
    const { action, template } = mail
    const given = reasonsOf(mail)
    if (given.includes('BOUNCED')) return SUPPRESSED_REASONS.BOUNCED
    if (given.includes('COMPLAINED')) return SUPPRESSED_REASONS.COMPLAINED
    if (action.transactional ?? template.transactional) return undefined
    const topic = String(action.emailCategoryId ?? template.emailCategoryId)
    const isUnwanted = given.includes('UNSUBSCRIBED') || given.includes(topic)
    return isUnwanted ? SUPPRESSED_REASONS.UNSUBSCRIBED : undefined
  }
}

const isToClient = ({ row, recipient }: Composed) =>
  row.suppressed !== undefined && recipient.address === row.context.client?.emailAddress
