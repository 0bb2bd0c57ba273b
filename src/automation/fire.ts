import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { isDatabaseAway } from '../database/postgres.ts'
import { buildMessage, messageIdOf, messageText } from '../email/message.ts'
import { holdTemplatesWithVariants, type StoredTemplate } from '../store/email-templates.ts'
import { drawEmailIds, insertEmails, type NewEmail } from '../store/emails.ts'
import { holdActionsOfDefinitions, type RunningAction } from '../store/event-actions.ts'
import { holdDefinitions, type StoredDefinition } from '../store/event-definitions.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import { holdSubjects } from '../store/subjects.ts'
import { listSuppressed } from '../store/suppressions.ts'
import { CAME_LATE } from '../store/watch.ts'
import {
  beginAlone,
  claimDueTriggers,
  claimSharesOf,
  endTriggers,
  listBusinessesInTurn,
  lockClaimed,
  type Claim,
  type ClaimedTrigger,
  type Ending,
} from '../store/trigger-queue.ts'
import { calendarEntry, compose, senderOf, type Composed } from './compose.ts'
import { refusalsAtFiring } from './match.ts'
import { planEvent } from './plan.ts'
import { planAgainFor, type Moved } from './schedule.ts'
import type { Subject } from './subject.ts'
import { firingTime, isOfUse, isReminder } from './timing.ts'

/** What firing stands on. */
export type Firing = {
  db: Db
  now(): Temporal.Instant
  /** Made anew at each start: a worker that comes back is another one. */
  worker: string
  leaseSeconds: number
  batchSize: number
  /** Mails are kept and shown, none leaves. */
  captures: boolean
  mailFrom: Mailbox
  /** The name of this installation in Message-IDs and calendar entries. */
  host: string
  unsubscribeLink(businessId: number, emailId: number): string | null
  onError(error: unknown): void
  /** Only a proof puts another in its place, to see that it notices. */
  decide?: typeof decide
  /** Told after the commit, for measurements. */
  onEnded?(
    ended: Pick<Ending, 'businessId' | 'status' | 'scheduledTime'>[],
    now: Temporal.Instant,
  ): void
}

/** Makes the mails of what is due; gives back how many triggers it took. */
export async function fireDueTriggers(firing: Firing, turn: Turn): Promise<number> {
  const claimed = await claim(firing, turn)
  const [suspects, fresh] = [[] as ClaimedTrigger[], [] as ClaimedTrigger[]]
  for (const trigger of claimed) (trigger.strikes > 0 ? suspects : fresh).push(trigger)
  if (fresh.length > 0) await fireOrSplit(firing, fresh)
  // One of these may have taken a worker down, and the others with it: each by itself now.
  for (const suspect of suspects) {
    if (await beginAlone(firing.db, firing.worker, suspect)) await fireOrSplit(firing, [suspect])
  }
  return claimed.length
}

/** What a worker remembers from one claim to the next. */
export type Turn = {
  /** Where the round of the businesses stands. */
  afterBusiness: number
  /** The last batch was full: more is due than one holds. */
  isCrowded: boolean
  /** All that was due before this is taken; unset when that is not known. */
  doneUntil: Temporal.Instant | undefined
  /** When it was last made sure of. */
  lookedBackAt: Temporal.Instant | undefined
}

export const firstTurn = (): Turn => ({
  afterBusiness: 0,
  isCrowded: false,
  doneUntil: undefined,
  lookedBackAt: undefined,
})

/** As it comes while there is little; when a batch came back full, first a share for each business. */
async function claim(firing: Firing, turn: Turn): Promise<ClaimedTrigger[]> {
  const { db, worker, batchSize: limit } = firing
  const now = firing.now()
  const request = { worker, now, leaseUntil: now.add({ seconds: firing.leaseSeconds }), limit }
  const shared = turn.isCrowded ? await claimShares(firing, turn, request) : []
  const rest = limit - shared.length
  if (rest <= 0) return shared
  lookBackSometimes(turn, now)
  const claimed = await claimDueTriggers(db, { ...request, limit: rest }, turn.doneUntil)
  turn.isCrowded = claimed.length === rest
  const last = turn.isCrowded
    ? claimed.map(scheduledMs).reduce((a, b) => Math.max(a, b))
    : now.epochMilliseconds
  turn.doneUntil = Temporal.Instant.fromEpochMilliseconds(last).subtract(STRAGGLERS)
  return [...shared, ...claimed]
}

const scheduledMs = ({ scheduledTime }: ClaimedTrigger) => scheduledTime.epochMilliseconds

/** A change may be committed a little after the moment for which it plans. */
const STRAGGLERS = { seconds: 2 }
const LONGEST_WITHOUT_LOOKING_MS = 5_000

/** The engine looks back by itself every second; where it does not, or time jumped, a claim does. */
function lookBackSometimes(turn: Turn, now: Temporal.Instant) {
  const { lookedBackAt } = turn
  const ms = lookedBackAt ? now.epochMilliseconds - lookedBackAt.epochMilliseconds : Infinity
  if (ms >= 0 && ms < LONGEST_WITHOUT_LOOKING_MS) return
  turn.doneUntil = undefined
  turn.lookedBackAt = now
}

/** How many businesses are asked at a time, with what is due and without. */
const VISITS = 200

async function claimShares(firing: Firing, turn: Turn, request: Claim) {
  const { db, batchSize } = firing
  const page = { after: turn.afterBusiness, limit: VISITS }
  const visited = await listBusinessesInTurn(db, request.now, page)
  turn.afterBusiness = visited.length < VISITS ? 0 : visited.at(-1)!.businessId
  const due = visited.filter(({ isDue }) => isDue).map(({ businessId }) => businessId)
  if (due.length === 0) return []
  const share = Math.max(1, Math.floor(batchSize / Math.max(10, due.length)))
  return claimSharesOf(db, request, due.slice(0, batchSize), share)
}

/** One bad row never stops the rest: what fails together is tried in halves. */
async function fireOrSplit(firing: Firing, claimed: ClaimedTrigger[]): Promise<void> {
  try {
    const { endings, now } = await firing.db.transaction((tx) => fireBatch(tx, firing, claimed))
    firing.onEnded?.(endings, now)
  } catch (error) {
    // Nothing is wrong with the triggers.
    if (isDatabaseAway(error)) throw error
    firing.onError(error)
    // Alone, it is left to its lease: after three of them it is set aside.
    if (claimed.length === 1) return
    const half = Math.ceil(claimed.length / 2)
    await fireOrSplit(firing, claimed.slice(0, half))
    await fireOrSplit(firing, claimed.slice(half))
  }
}

/**
 * Object, definition, actions and template are read again, under locks that a booking waits for:
 * what was cancelled before is not sent, and what is cancelled after comes too late.
 */
async function fireBatch(tx: Db, firing: Firing, claimed: ClaimedTrigger[]) {
  const now = firing.now()
  const subjects = await holdAll(tx, claimed)
  const [mine, definitions] = await Promise.all([
    lockClaimed(tx, firing.worker, claimed),
    holdDefinitions(tx, claimed).then((rows) => new Map(rows.map((row) => [row.eventDefnId, row]))),
  ])
  const endings: Ending[] = []
  const moved: Moved[] = []
  const firable: Ready[] = []
  for (const trigger of claimed) {
    if (!mine.has(trigger.eventTriggerId)) continue
    const definition = definitions.get(trigger.eventDefnId)!
    const subject = subjects.get(keyOf(trigger))!
    const decision = (firing.decide ?? decide)(trigger, definition, subject, now)
    if (decision === 'fire') firable.push({ trigger, definition, subject })
    else {
      endings.push({ ...trigger, ...decision })
      if (decision.isMoved) {
        moved.push({ subject, definition, isOldVersion: trigger.defnVersion < definition.version })
      }
    }
  }
  const made = await makeMails(tx, firing, firable, now)
  endings.push(...made.endings)
  await Promise.all([endTriggers(tx, firing.worker, endings, now), insertEmails(tx, made.emails)])
  if (moved.length > 0) await planAgainFor(tx, moved, now)
  return { endings, now }
}

type Ready = { trigger: ClaimedTrigger; definition: StoredDefinition; subject: Subject }

async function holdAll(tx: Db, claimed: ClaimedTrigger[]) {
  const subjects = new Map<string, Subject>()
  for (const [objectType, triggers] of byObjectType(claimed)) {
    for (const subject of await holdSubjects(tx, objectType, triggers)) {
      subjects.set(keyOf(subject), subject)
    }
  }
  return subjects
}

type Decision = Pick<Ending, 'status' | 'statusReason'> & Partial<Ending> & { isMoved?: boolean }

/** Is it still what the definition asks for, and still of use? */
function decide(
  trigger: ClaimedTrigger,
  definition: StoredDefinition,
  subject: Subject,
  now: Temporal.Instant,
): 'fire' | Decision {
  const [refusal] = refusalsAtFiring(definition, subject)
  if (refusal) return { status: 'CANCELLED', statusReason: refusal }
  if (trigger.fireNow) return 'fire'
  if (isReminder(definition)) {
    const asked = firingTime(definition, subject)
    // A zone may have changed since, and the plan not yet be made again: nothing fires early.
    const isOther = asked && !asked.scheduledTime.equals(trigger.scheduledTime)
    const isEarly = isOther && Temporal.Instant.compare(asked.scheduledTime, now) > 0
    const isOld = trigger.defnVersion < definition.version
    const isMoved =
      !asked?.anchorTime.equals(trigger.anchorTime) || isEarly || (isOld && isOther === true)
    if (isMoved) return { status: 'CANCELLED', statusReason: 'its time moved as it came', isMoved }
  } else if (trigger.defnVersion < definition.version) {
    const [again] = planEvent(
      definition,
      { ...trigger, occurrence: trigger.occurrence! },
      subject,
      now,
    )
    const isAhead = again && Temporal.Instant.compare(again.scheduledTime, now) > 0
    if (again && (again.status !== 'SCHEDULED' || isAhead)) return again
  }
  // The clock was set back since it was claimed: its time is still to come.
  if (Temporal.Instant.compare(trigger.scheduledTime, now) > 0) {
    return { status: 'SCHEDULED', statusReason: null }
  }
  if (!isOfUse(definition, trigger.anchorTime, trigger.scheduledTime, now)) {
    return {
      status: 'EXPIRED',
      statusReason: `${CAME_LATE}${lateness(trigger, now)} late, of no use then`,
    }
  }
  return 'fire'
}

function lateness({ scheduledTime }: ClaimedTrigger, now: Temporal.Instant) {
  const minutes = Math.round((now.epochMilliseconds - scheduledTime.epochMilliseconds) / 60_000)
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}

async function makeMails(tx: Db, firing: Firing, ready: Ready[], now: Temporal.Instant) {
  if (ready.length === 0) return { endings: [], emails: [] }
  const [actions, contexts] = await Promise.all([
    holdActionsOfDefinitions(
      tx,
      ready.map((one) => one.definition),
    ),
    listContexts(tx, ready),
  ])
  const actionsOf = Map.groupBy(actions, (action) => action.eventDefnId)
  const most = ready.reduce(
    (sum, { trigger }) =>
      sum +
      (actionsOf.get(trigger.eventDefnId)?.length ?? 0) *
        (contexts.get(keyOf(trigger))?.length ?? 0),
    0,
  )
  const [templates, ids] = await Promise.all([listTemplates(tx, actions), drawEmailIds(tx, most)])
  // Copies are rare, so they are counted only where there are any.
  if (haveCopies(templates)) ids.push(...(await drawEmailIds(tx, 2 * most)))
  let drawn = 0
  const addressing = { drawId: () => ids[drawn++]!, unsubscribeLink: firing.unsubscribeLink }

  const composed = ready.map((one) => ({
    ...one,
    ...composeAll(
      actionsOf.get(one.definition.eventDefnId) ?? [],
      contexts.get(keyOf(one.trigger)) ?? [],
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
  const endings = composed.map(({ trigger, mails, skipped, broken }): Ending => {
    const own = mails.map((mail) => emailOf(firing, trigger, mail, isSuppressed(mail), now))
    emails.push(...own)
    return { ...trigger, ...endingOf(own, skipped, broken) }
  })
  return { endings, emails }
}

const haveCopies = (templates: Map<number, StoredTemplate[]>) =>
  [...templates.values()].flat().some((template) => template.ccAddress || template.bccAddress)

function composeAll(
  actions: RunningAction[],
  rows: ContextRow[],
  templates: Map<number, StoredTemplate[]>,
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
      onError(error)
      broken = `action ${action.eventActionId} could not be made into a mail`
    }
  }
  return { mails, skipped, broken }
}

/** Captured mails are done when they are written; others when the mail server has taken them. */
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
  const { action, template, row, mail, emailId } = composed
  const from = senderOf(mail, firing.mailFrom)
  const messageId = messageIdOf(row.businessId, emailId, firing.host)
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
    fromAddress: from.address,
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    message:
      status === 'QUEUED' ? wireForm(firing, trigger.objectType, composed, messageId, now) : null,
    messageId,
    test: false,
    status,
    statusReason: suppressed ?? null,
    attempts:
      status === 'CAPTURED'
        ? [{ time: now.epochMilliseconds, phase: 'captured', reply: 'kept here, not sent' }]
        : [],
    nextAttemptTime: status === 'QUEUED' ? now : null,
    sentTime: status === 'CAPTURED' ? now : null,
    createdDate: now,
  }
}

/** The bytes that every attempt sends. */
function wireForm(
  firing: Firing,
  objectType: ObjectType,
  composed: Composed,
  messageId: string,
  date: Temporal.Instant,
) {
  const { mail, unsubscribeLink } = composed
  const from = senderOf(mail, firing.mailFrom)
  const calendar = calendarEntry(objectType, composed, from, firing.host)
  const message = buildMessage({ ...mail, messageId, date, from, calendar, unsubscribeLink })
  return messageText(message)
}

async function listContexts(tx: Db, ready: Ready[]) {
  const contexts = new Map<string, ContextRow[]>()
  const triggers = ready.map((one) => one.trigger)
  for (const [objectType, some] of byObjectType(triggers)) {
    for (const row of await listMailContexts(tx, objectType, distinct(some))) {
      const key = keyOf({ ...row, objectType })
      contexts.set(key, [...(contexts.get(key) ?? []), row])
    }
  }
  return contexts
}

/** The templates that actions name: by that id, the one itself first, then its variants. */
export async function listTemplates(
  tx: Db,
  actions: { businessId: number; emailTemplateId: number }[],
) {
  if (actions.length === 0) return new Map<number, StoredTemplate[]>()
  const rows = await holdTemplatesWithVariants(tx, actions)
  const byName = Map.groupBy(rows, (row) => row.namedId)
  for (const [namedId, some] of byName) {
    byName.set(
      namedId,
      some.toSorted((a, b) => rank(a, namedId) - rank(b, namedId)),
    )
  }
  return byName as Map<number, StoredTemplate[]>
}

const rank = (template: StoredTemplate, namedId: number) =>
  template.emailTemplateId === namedId ? 0 : template.emailTemplateId

/** Bounced addresses get nothing; unsubscribed ones what they need and no more. */
async function suppressions(tx: Db, mails: Composed[]) {
  const asked = mails.map(({ row, recipient }) => ({
    businessId: row.businessId,
    emailAddress: recipient.address,
  }))
  const found = asked.length === 0 ? [] : await listSuppressed(tx, asked)
  const reasons = new Set(found.map((one) => `${one.businessId} ${one.emailAddress} ${one.reason}`))
  return ({ row, recipient, action, template }: Composed) => {
    const address = `${row.businessId} ${recipient.address.toLowerCase()}`
    if (reasons.has(`${address} BOUNCED`)) return 'the address bounced before'
    if (action.transactional ?? template.transactional) return undefined
    return reasons.has(`${address} UNSUBSCRIBED`) ? 'unsubscribed' : undefined
  }
}

const byObjectType = (triggers: ClaimedTrigger[]) =>
  Map.groupBy(triggers, (trigger) => trigger.objectType)

type Keyed = Pick<ClaimedTrigger, 'objectType' | 'objectId' | 'objectUUId'>

const keyOf = ({ objectType, objectId, objectUUId }: Keyed) =>
  `${objectType} ${objectId ?? objectUUId}`

const distinct = (triggers: ClaimedTrigger[]) => [
  ...new Map(triggers.map((trigger) => [keyOf(trigger), trigger])).values(),
]
