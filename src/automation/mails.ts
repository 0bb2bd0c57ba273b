import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import { buildMessage, makeMessageId, messageText } from '../email/message.ts'
import { drawEmailIds, type NewEmail } from '../store/emails.ts'
import type { RunningAction } from '../store/event-actions.ts'
import type { ContextRow } from '../store/mail-contexts.ts'
import { listSuppressed } from '../store/suppressions.ts'
import { keepTransactionAlive, type ClaimedTrigger, type Ending } from '../store/trigger-queue.ts'
import { calendarEntry, compose, senderOf, type Composed } from './compose.ts'
import type { Firing } from './fire.ts'
import type { RenderedTemplate } from './templates.ts'
import { TimeSlice } from './time-slice.ts'

/** A trigger that fires, and everything that its mails can contain, read under locks. */
export type Ready = { trigger: ClaimedTrigger; rows: ContextRow[] }

/** What mails are made of in addition to their object, read under locks. */
export type Making = {
  /** By definition, in the order in which they run. */
  actions: Map<number, RunningAction[]>
  /** By the id that actions name. */
  templates: Map<number, RenderedTemplate[]>
  /** For the mails; more are drawn if these are too few. */
  ids: number[]
  now: Temporal.Instant
}

/** Composes the mails of triggers that fire, and decides how the triggers end. */
export async function makeMails(tx: Db, firing: Firing, ready: Ready[], making: Making) {
  if (ready.length === 0) return { endings: [], emails: [] }
  const { actions, templates, ids, now } = making
  // Copies are rare: ids for three mails each are drawn only if there are any.
  const most = (haveCopies(templates) ? 3 : 1) * countMails(ready, actions)
  if (most > ids.length) ids.push(...(await drawEmailIds(tx, most - ids.length)))
  let drawn = 0
  const addressing = {
    drawName: (businessId: number) => {
      const emailId = ids[drawn++]!
      return { businessId, emailId, messageId: makeMessageId(businessId, emailId, firing.host) }
    },
    unsubscribeLink: firing.unsubscribeLink,
  }

  const composed = await mapInSlices(tx, ready, (one) => ({
    ...one,
    ...composeAll(
      actions.get(one.trigger.eventDefnId) ?? [],
      one.rows,
      templates,
      addressing,
      firing.onError,
    ),
  }))
  const isSuppressed = await suppressions(
    tx,
    composed.flatMap((one) => one.mails),
  )

  const emails: NewEmail[] = []
  const endings = await mapInSlices(tx, composed, ({ trigger, mails, skipped, broken }): Ending => {
    const own = mails.map((mail) => emailOf(firing, trigger, mail, isSuppressed(mail), now))
    emails.push(...own)
    return ended(trigger, endingOf(own, skipped, broken))
  })
  return { endings, emails }
}

/**
 * Shares the event loop: five hundred mails take a tenth of a second, in which requests and replies of
 * the mail server would wait. Batches are composed one after the other: two at once would both be late.
 */
function mapInSlices<Item, Made>(
  tx: Db,
  items: Item[],
  make: (item: Item) => Made,
): Promise<Made[]> {
  if (items.length <= MAX_UNSLICED) return mapInTimeSlices(items, make)
  const made = lastBatch.then(() => mapInTimeSlices(items, make))
  lastBatch = made.catch(() => {})
  // With the batches of other slots before it, a batch may take longer than the server waits.
  const keepAlive = setInterval(() => void keepTransactionAlive(tx).catch(() => {}), KEEP_ALIVE_MS)
  return made.finally(() => clearInterval(keepAlive))
}

let lastBatch: Promise<unknown> = Promise.resolve()

async function mapInTimeSlices<Item, Made>(items: Item[], make: (item: Item) => Made) {
  const made: Made[] = []
  const slice = new TimeSlice()
  for (const item of items) {
    if (slice.isOver()) await slice.next()
    made.push(make(item))
  }
  return made
}

const MAX_UNSLICED = 10
const KEEP_ALIVE_MS = 1_000

export const ended = (
  { businessId, eventTriggerId, scheduledTime }: ClaimedTrigger,
  { status, statusReason, plan = null }: Pick<Ending, 'status' | 'statusReason'> & Partial<Ending>,
): Ending => ({ businessId, eventTriggerId, scheduledTime, status, statusReason, plan })

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
  onError: Firing['onError'],
) {
  const mails: Composed[] = []
  if (rows[0]?.businessActive === false) {
    return { mails, skipped: ['the business is not active'], broken: undefined }
  }
  const skipped: string[] = actions.length === 0 ? ['there is no active action'] : []
  let broken: string | undefined
  for (const action of actions) {
    try {
      const made = compose(action, rows, templates.get(action.emailTemplateId) ?? [], addressing)
      mails.push(...made.mails)
      skipped.push(...made.skipped)
    } catch (error) {
      const isTemplate = error instanceof RequestError
      if (!isTemplate) onError(error)
      broken = `action ${action.eventActionId} could not be made into a mail`
      if (isTemplate) broken += `: ${error.message}`
    }
  }
  return { mails, skipped, broken }
}

/** Captured mails end when they are written; others when the mail server has taken them. */
function endingOf(emails: NewEmail[], skipped: string[], broken: string | undefined) {
  const isLeaving = emails.some((email) => email.status === 'QUEUED')
  if (isLeaving) return { status: 'RUNNING' as const, statusReason: broken ?? null }
  if (broken) return { status: 'FAILED' as const, statusReason: broken }
  if (emails.some((email) => email.status === 'CAPTURED')) {
    return { status: 'COMPLETED' as const, statusReason: null }
  }
  const reasons = new Set([...emails.flatMap((email) => email.statusReason ?? []), ...skipped])
  return { status: 'SKIPPED' as const, statusReason: [...reasons].join('; ') }
}

function emailOf(
  firing: Firing,
  trigger: ClaimedTrigger,
  composed: Composed,
  suppressed: string | undefined,
  now: Temporal.Instant,
): NewEmail {
  const { action, template, row, mail, emailId, messageId } = composed
  const sender = senderOf(mail, row.context.business, firing.mailFrom)
  const status = suppressed ? 'SUPPRESSED' : firing.captures ? 'CAPTURED' : 'QUEUED'
  return {
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
    html: mail.html,
    text: mail.text,
    message:
      status === 'QUEUED' ? wireForm(firing, trigger.objectType, composed, sender, now) : null,
    messageId,
    test: false,
    status,
    statusReason: suppressed ?? null,
    createdDate: now,
  }
}

/** The message as every attempt sends it. */
function wireForm(
  firing: Firing,
  objectType: ObjectType,
  composed: Composed,
  sender: ReturnType<typeof senderOf>,
  date: Temporal.Instant,
) {
  const { mail, messageId, unsubscribeLink } = composed
  const calendar = calendarEntry(objectType, composed, sender.from, firing.host)
  const message = buildMessage({ ...mail, ...sender, messageId, date, calendar, unsubscribeLink })
  return messageText(message)
}

/** Bounced addresses get nothing; unsubscribed ones what they need and no more. */
async function suppressions(tx: Db, mails: Composed[]) {
  // Suppressions of a client's own address were read with the client.
  const asked = mails
    .filter((mail) => !isToClient(mail))
    .map(({ row, recipient }) => ({
      businessId: row.businessId,
      emailAddress: recipient.address,
    }))
  const found = asked.length === 0 ? [] : await listSuppressed(tx, asked)
  const reasons = Map.groupBy(found, (one) => `${one.businessId} ${one.emailAddress}`)
  const reasonsOf = (mail: Composed) =>
    isToClient(mail)
      ? mail.row.suppressed!
      : (reasons.get(`${mail.row.businessId} ${mail.recipient.address.toLowerCase()}`) ?? []).map(
          ({ reason }) => reason as string,
        )
  return (mail: Composed) => {
    const { action, template } = mail
    const given = reasonsOf(mail)
    if (given.includes('BOUNCED')) return 'the address bounced before'
    if (action.transactional ?? template.transactional) return undefined
    return given.includes('UNSUBSCRIBED') ? 'unsubscribed' : undefined
  }
}

const isToClient = ({ row, recipient }: Composed) =>
  row.suppressed !== undefined && recipient.address === row.context.client?.emailAddress
