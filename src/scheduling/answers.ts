import type { ClientAnswer } from '../email/answer-links.ts'
import { isSameAddress } from '../contract/addresses.ts'
import type { ClassAnswer } from '../contract/fields.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { isStaffBusy, type AnsweredType } from '../store/answer-links.ts'
import { listStatusMoves } from '../store/audit.ts'
import { getBusiness, type BusinessRow } from '../store/businesses.ts'
import { lockPlans } from '../store/event-definitions.ts'
import { findMailContext, type ContextRow } from '../store/mail-contexts.ts'
import {
  findObject,
  lockObjectsForUpdate,
  ofKind,
  type Disclaimer,
  type StoredObject,
} from '../store/objects.ts'
import type { SettingsCache } from '../store/settings.ts'
import { listStatusesOf, type Status } from '../store/statuses.ts'
import { saveObject } from './save.ts'

/** The content of a verified link: a question to this client about an object at this time. */
export type Question = {
  answer: ClientAnswer
  businessId: number
  objectType: AnsweredType
  objectId: number
  clientId: number
  /** The address that the link was sent to. */
  toAddress: string
  startTime: Temporal.Instant
}

/**
 * ASKS: the client can answer. DONE: it already is as the answer says. UNDONE: a cancellation was taken
 * back. MOVED: the link is for another time. CANCELLED: it was cancelled, or the client has left the class.
 * OVER: it has begun. CLOSED: its status allows no answer. TOO_LATE: only the business can cancel it now.
 * GONE: it was deleted, or belongs to another person.
 */
export type AnswerState =
  | 'ASKS'
  | 'DONE'
  | 'UNDONE'
  | 'MOVED'
  | 'CANCELLED'
  | 'OVER'
  | 'CLOSED'
  | 'TOO_LATE'
  | 'GONE'

export type AnswerPage = {
  state: AnswerState
  business: BusinessRow
  /** The object with its context; undefined if it was deleted or belongs to another person. */
  row: ContextRow | undefined
  /** A client who cancelled by the link can still take it back. */
  canUndo: boolean
  signature: Signature | null
}

/** A signed form: its text as the client read it. */
export type Signature = { name: string; time: Temporal.Instant; text: string }

/** What the form of the page sends, next to the answer of the link. */
export type GivenAnswer = {
  /** Why the client cancels. */
  note: string | null
  /** Takes a cancellation back. */
  isUndo: boolean
  /** The name under a form. */
  name: string | null
}

/** The user in the audit: a client who answered by a link. */
export const CLIENT_USER = 'CLIENT'

export async function readAnswer(db: Db, question: Question, now: Temporal.Instant) {
  const { businessId, objectType, objectId } = question
  const context = await readAnswerContext(db, question)
  const current = await findObject(db, businessId, kindOfObjectType(objectType), objectId)
  return pageOf(db, question, context, current, decideAnswer(question, current, context, now), now)
}

/**
 * Saves the answer like any other change, so that definitions fire. The state of the link is decided
 * under the lock of the object.
 */
export async function saveAnswer(
  db: Db,
  question: Question,
  given: GivenAnswer,
  { settings, now }: { settings: SettingsCache; now: Temporal.Instant },
): Promise<AnswerPage> {
  const { businessId, objectType, objectId } = question
  const kind = kindOfObjectType(objectType)
  return db.transaction(async (tx) => {
    lockPlans(tx, businessId)
    const named = { ids: [objectId], externalIds: [], visibility: null }
    const [current] = await lockObjectsForUpdate(tx, businessId, kind, named)
    const context = await readAnswerContext(tx, question)
    const state = decideAnswer(question, current, context, now)
    const page = await pageOf(tx, question, context, current, state, now)
    const isUndo = given.isUndo && page.canUndo
    if (!current || (state !== 'ASKS' && !isUndo)) return page
    const change = isUndo
      ? await undoOf(tx, question, current, context)
      : answerOf(question, given, current, context, now)
    const answered = answeredBy(question, given, current, isUndo, now)
    const body = { [kind.id]: objectId, ...change, ...answered.properties }
    const saving = { businessId, user: CLIENT_USER, now, settings, ...answered.saving }
    const { object } = await saveObject(tx, kind, body, saving)
    return pageOf(tx, question, context, object, isUndo ? 'UNDONE' : 'DONE', now)
  })
}

type AnswerContext = {
  business: BusinessRow
  statuses: Status[]
  row: ContextRow | undefined
}

async function readAnswerContext(db: Db, question: Question): Promise<AnswerContext> {
  const { businessId, objectType, objectId, clientId } = question
  const [business, statuses, row] = await Promise.all([
    getBusiness(db, businessId),
    listStatusesOf(db, businessId, objectType),
    findMailContext(db, objectType, { businessId, objectId, objectUUId: null }, clientId),
  ])
  return { business, statuses, row }
}

async function pageOf(
  db: Db,
  question: Question,
  context: AnswerContext,
  object: StoredObject | undefined,
  state: AnswerState,
  now: Temporal.Instant,
): Promise<AnswerPage> {
  const { business, row } = context
  const { form } = byKind(question, object)
  const canUndo =
    state === 'DONE' && question.answer === 'cancel' && object !== undefined
      ? await isUndoable(db, question, object, context, now)
      : false
  return {
    state,
    business,
    row: state === 'GONE' ? undefined : row,
    canUndo,
    signature: form && state === 'DONE' ? signatureOf(form) : null,
  }
}

const signatureOf = ({ signedName, signedTime, signedText }: Disclaimer): Signature | null =>
  signedTime && { name: signedName ?? '', time: signedTime, text: signedText ?? '' }

/** The object of a question is an appointment, a class or a form. */
function byKind({ objectType }: Question, object: StoredObject | undefined) {
  const kind = kindOfObjectType(objectType)
  return {
    appointment: object && ofKind('calendar', kind, object),
    lesson: object && ofKind('classSchedule', kind, object),
    form: object && ofKind('disclaimer', kind, object),
  }
}

const wantedStatus = (answer: ClientAnswer, { confirmStatus, cancelStatus }: BusinessRow) =>
  answer === 'confirm' ? (confirmStatus ?? 'CONFIRMED') : (cancelStatus ?? 'CANCELLED')

/** The change that an answer makes. A class keeps its status: one student comes or does not. */
function answerOf(
  question: Question,
  { name }: GivenAnswer,
  current: StoredObject,
  { business, row }: AnswerContext,
  now: Temporal.Instant,
): Record<string, unknown> {
  const { answer, clientId } = question
  const { lesson, form } = byKind(question, current)
  if (form) {
    return {
      status: SIGNED,
      signedName: name,
      signedTime: now.epochMilliseconds,
      signedText: row?.context.disclaimer?.formBody ?? null,
    }
  }
  if (!lesson) return { status: wantedStatus(answer, business) }
  const others = (ids: number[]) => ids.filter((id) => id !== clientId)
  const confirmedClientIdList = others(lesson.confirmedClientIdList)
  return answer === 'confirm'
    ? { confirmedClientIdList: [...confirmedClientIdList, clientId] }
    : { clientIdList: others(lesson.clientIdList), confirmedClientIdList }
}

const SIGNED = 'SIGNED'

/** Definitions can wait for the answer of a client: see ANSWER in src/contract/event-type.ts. */
function answeredBy(
  question: Question,
  given: GivenAnswer,
  current: StoredObject,
  isUndo: boolean,
  now: Temporal.Instant,
): { properties?: object; saving?: { answers: ClassAnswer[] } } {
  const { clientId } = question
  const { appointment, lesson } = byKind(question, current)
  const time = now.epochMilliseconds
  const note = isUndo ? null : given.note
  if (appointment) {
    // The note of an earlier change by staff is not about this one.
    return { properties: { answeredTime: time, answerNote: note, changeNote: null } }
  }
  if (!lesson) return {}
  const others = lesson.answers.filter((one) => one.clientId !== clientId)
  const answer = isUndo ? 'RETURNED' : question.answer === 'confirm' ? 'CONFIRMED' : 'CANCELLED'
  return { saving: { answers: [...others, { clientId, answer, time, note }] } }
}

/** Whether the cancellation was by a link, and the place is still free. */
async function isUndoable(
  db: Db,
  question: Question,
  object: StoredObject,
  { statuses }: AnswerContext,
  now: Temporal.Instant,
) {
  const { businessId, clientId } = question
  const { appointment, lesson } = byKind(question, object)
  const visit = appointment ?? lesson
  if (!visit || Temporal.Instant.compare(now, visit.startTime) >= 0) return false
  const namesOf = (some: Status[]) => some.filter(({ live }) => live).map(({ status }) => status)
  if (lesson) {
    const { answers, capacity, clientIdList, status } = lesson
    const answer = answers.find((one) => one.clientId === clientId)?.answer
    const isFree = capacity === null || clientIdList.length < capacity
    return answer === 'CANCELLED' && isFree && namesOf(statuses).includes(status)
  }
  if (!appointment || (await lastMoveOf(db, question))?.user !== CLIENT_USER) return false
  const live = {
    CALENDAR: namesOf(statuses),
    CLASS_SCHEDULE: namesOf(await listStatusesOf(db, businessId, 'CLASS_SCHEDULE')),
  }
  return !(await isStaffBusy(db, appointment, live))
}

/** The change that takes a cancellation back: an appointment gets the status that it had before. */
async function undoOf(
  tx: Db,
  question: Question,
  current: StoredObject,
  { statuses }: AnswerContext,
): Promise<Record<string, unknown>> {
  const { lesson } = byKind(question, current)
  if (lesson) return { clientIdList: [...lesson.clientIdList, question.clientId] }
  const last = await lastMoveOf(tx, question)
  const isUsable = statuses.some(
    ({ status, active, live }) => status === last?.oldStatus && active && live,
  )
  return { status: isUsable ? last!.oldStatus : 'OPEN' }
}

/** The last change of the status of an appointment. */
async function lastMoveOf(db: Db, { businessId, objectId }: Question) {
  const changed = { object: 'calendar', id: objectId, columns: ['status'] }
  const [last] = await listStatusMoves(db, businessId, changed, 1)
  return last
}

export function decideAnswer(
  question: Question,
  current: StoredObject | undefined,
  { business, statuses, row }: AnswerContext,
  now: Temporal.Instant,
): AnswerState {
  const { answer, objectType, clientId, toAddress } = question
  const isTheirs =
    (objectType === 'CLASS_SCHEDULE' || current?.clientId === clientId) &&
    isSameAddress(row?.context.client?.emailAddress, toAddress)
  if (!current?.active || !business.active || !isTheirs) return 'GONE'
  const { appointment, lesson } = byKind(question, current)
  const isLive = statuses.some(({ status, live }) => status === current.status && live)
  const visit = appointment ?? lesson
  if (!visit) return current.status === SIGNED ? 'DONE' : isLive ? 'ASKS' : 'CLOSED'
  const { startTime } = visit
  const isComing = lesson?.clientIdList.includes(clientId)
  const shown = row?.context.calendar ?? row?.context.classSchedule
  const isCancelled = isComing === false || shown?.isCancelled === true
  const closed = isCancelled ? 'CANCELLED' : 'CLOSED'
  if (!startTime.equals(question.startTime)) return isLive && !isCancelled ? 'MOVED' : closed
  if (Temporal.Instant.compare(now, startTime) >= 0) return 'OVER'
  const wanted = wantedStatus(answer, business)
  const isAsAnswered = !lesson
    ? visit.status === wanted
    : answer === 'confirm'
      ? lesson.confirmedClientIdList.includes(clientId)
      : !isComing
  if (isAsAnswered) return 'DONE'
  const isUsable = statuses.some(
    ({ status, active, live }) => status === wanted && active && live === (answer === 'confirm'),
  )
  const isAnswerable = lesson ? isComing : isUsable && !ARRIVED.has(visit.status)
  if (!isLive || !isAnswerable) return closed
  const until = startTime.subtract({ hours: business.cancelUntilHours ?? 0 })
  return answer === 'cancel' && Temporal.Instant.compare(now, until) > 0 ? 'TOO_LATE' : 'ASKS'
}

/** The client has arrived; confirming would undo that. */
const ARRIVED = new Set(['CHECKED_IN', 'IN_PROGRESS'])
