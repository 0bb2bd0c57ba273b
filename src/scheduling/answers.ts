import type { Answer } from '../email/answer-links.ts'
import { isSameAddress } from '../contract/addresses.ts'
import { objectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { getBusiness, type BusinessRow } from '../store/businesses.ts'
import { listMailContexts, type ContextRow } from '../store/mail-contexts.ts'
import { findObject, type StoredObject } from '../store/objects.ts'
import type { SettingsCache } from '../store/settings.ts'
import { listStatusesOf, type Status } from '../store/statuses.ts'
import { saveObject } from './save.ts'

/** The content of a verified link: a question to this client about an appointment at this time. */
export type Question = {
  answer: Answer
  businessId: number
  calendarId: number
  clientId: number
  /** The address that the link was sent to. */
  toAddress: string
  startTime: Temporal.Instant
}

/**
 * ASKS: the client can answer. DONE: the appointment already has that status. MOVED: the link is for
 * another time. OVER: it has begun. CLOSED: its status allows no answer. TOO_LATE: only the business
 * can cancel it now. GONE: it was deleted, or belongs to another person.
 */
export type AnswerState = 'ASKS' | 'DONE' | 'MOVED' | 'OVER' | 'CLOSED' | 'TOO_LATE' | 'GONE'

/** The content of a link's page. `row` is the appointment with its context. */
export type AnswerPage = { state: AnswerState; business: BusinessRow; row: ContextRow | undefined }

/** The user in the audit: a client who answered by a link. */
export const CLIENT_USER = 'CLIENT'

/** Reads the current state of a link, without changing anything. */
export async function readAnswer(db: Db, question: Question, now: Temporal.Instant) {
  const context = await readAnswerContext(db, question)
  const current = await findObject(db, question.businessId, calendar, question.calendarId)
  return pageOf(context, decideAnswer(question, current, context, now))
}

/**
 * Sets the status for the answer like any other save, so that definitions fire. The state of the link
 * is decided again under the lock of the appointment.
 */
export async function saveAnswer(
  db: Db,
  question: Question,
  { settings, now }: { settings: SettingsCache; now: Temporal.Instant },
): Promise<AnswerPage> {
  const { businessId, calendarId } = question
  const saving = { businessId, user: CLIENT_USER, now, settings }
  try {
    return await db.transaction(async (tx) => {
      const context = await readAnswerContext(tx, question)
      const body = { calendarId, status: wantedStatus(question.answer, context.business) }
      await saveObject(tx, calendar, body, saving, (current) => {
        const state = decideAnswer(question, current, context, now)
        if (state !== 'ASKS') throw new Unanswerable(pageOf(context, state))
      })
      return pageOf(context, 'DONE')
    })
  } catch (error) {
    if (error instanceof Unanswerable) return error.page
    throw error
  }
}

class Unanswerable extends Error {
  readonly page: AnswerPage

  constructor(page: AnswerPage) {
    super(`the link cannot be answered: ${page.state}`)
    this.page = page
  }
}

const calendar = objectKind('calendar')!

type AnswerContext = { business: BusinessRow; statuses: Status[]; row: ContextRow | undefined }

async function readAnswerContext(
  db: Db,
  { businessId, calendarId }: Question,
): Promise<AnswerContext> {
  const key = { businessId, objectId: calendarId, objectUUId: null }
  const [business, statuses, rows] = await Promise.all([
    getBusiness(db, businessId),
    listStatusesOf(db, businessId, 'CALENDAR'),
    listMailContexts(db, 'CALENDAR', [key]),
  ])
  return { business, statuses, row: rows[0] }
}

const pageOf = ({ business, row }: AnswerContext, state: AnswerState): AnswerPage => ({
  state,
  business,
  row,
})

const wantedStatus = (answer: Answer, { confirmStatus, cancelStatus }: BusinessRow) =>
  answer === 'confirm' ? (confirmStatus ?? 'CONFIRMED') : (cancelStatus ?? 'CANCELLED')

/** The state of a link, given the appointment as it is now. */
export function decideAnswer(
  question: Question,
  current: StoredObject | undefined,
  { business, statuses, row }: AnswerContext,
  now: Temporal.Instant,
): AnswerState {
  const { answer, clientId, toAddress } = question
  const isTheirs =
    current?.clientId === clientId && isSameAddress(row?.context.client?.emailAddress, toAddress)
  if (!current?.active || !business.active || !isTheirs) return 'GONE'
  const startTime = current.startTime as Temporal.Instant
  if (!startTime.equals(question.startTime)) return 'MOVED'
  if (Temporal.Instant.compare(now, startTime) >= 0) return 'OVER'
  const wanted = wantedStatus(answer, business)
  if (current.status === wanted) return 'DONE'
  const isUsable = statuses.some(
    ({ status, active, live }) => status === wanted && active && live === (answer === 'confirm'),
  )
  const isLive = statuses.some(({ status, live }) => status === current.status && live)
  if (!isUsable || !isLive || ARRIVED.has(current.status as string)) return 'CLOSED'
  const until = startTime.subtract({ hours: business.cancelUntilHours ?? 0 })
  return answer === 'cancel' && Temporal.Instant.compare(now, until) > 0 ? 'TOO_LATE' : 'ASKS'
}

/** The client has arrived; confirming would undo that. */
const ARRIVED = new Set(['CHECKED_IN', 'IN_PROGRESS'])
