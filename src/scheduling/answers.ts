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

/** What a genuine link asks: of this client, about this appointment at this time. */
export type Question = {
  answer: Answer
  businessId: number
  calendarId: number
  clientId: number
  /** Where the link was sent. */
  toAddress: string
  startTime: Temporal.Instant
}

/**
 * ASKS: the client can answer. DONE: the client has, or somebody else has done the same. MOVED: the link
 * is for another time. OVER: it has begun. CLOSED: its status can no longer be answered. TOO_LATE: only
 * the business can cancel it now. GONE: it was deleted, or belongs to another person.
 */
export type AnswerState = 'ASKS' | 'DONE' | 'MOVED' | 'OVER' | 'CLOSED' | 'TOO_LATE' | 'GONE'

/** What the page of a link shows. `row` has the appointment and everything around it. */
export type AnswerPage = { state: AnswerState; business: BusinessRow; row: ContextRow | undefined }

/** The user in the audit: a client who answered by a link. */
export const CLIENT_USER = 'CLIENT'

/** Reads what a link can do now. Changes nothing. */
export async function readAnswer(db: Db, question: Question, now: Temporal.Instant) {
  const known = await readSurroundings(db, question)
  const current = await findObject(db, question.businessId, calendar, question.calendarId)
  return pageOf(known, decideAnswer(question, current, known, now))
}

/**
 * Sets the status that the answer means, as any other save does, so that definitions fire. What the
 * link can do is decided again under the lock of the appointment.
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
      const known = await readSurroundings(tx, question)
      const body = { calendarId, status: wantedStatus(question.answer, known.business) }
      await saveObject(tx, calendar, body, saving, (current) => {
        const state = decideAnswer(question, current, known, now)
        if (state !== 'ASKS') throw new Unanswerable(pageOf(known, state))
      })
      return pageOf(known, 'DONE')
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

type Surroundings = { business: BusinessRow; statuses: Status[]; row: ContextRow | undefined }

async function readSurroundings(
  db: Db,
  { businessId, calendarId }: Question,
): Promise<Surroundings> {
  const key = { businessId, objectId: calendarId, objectUUId: null }
  const [business, statuses, rows] = await Promise.all([
    getBusiness(db, businessId),
    listStatusesOf(db, businessId, 'CALENDAR'),
    listMailContexts(db, 'CALENDAR', [key]),
  ])
  return { business, statuses, row: rows[0] }
}

const pageOf = ({ business, row }: Surroundings, state: AnswerState): AnswerPage => ({
  state,
  business,
  row,
})

const wantedStatus = (answer: Answer, { confirmStatus, cancelStatus }: BusinessRow) =>
  answer === 'confirm' ? (confirmStatus ?? 'CONFIRMED') : (cancelStatus ?? 'CANCELLED')

/** What a link can do with the appointment as it is now. */
export function decideAnswer(
  question: Question,
  current: StoredObject | undefined,
  { business, statuses, row }: Surroundings,
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
  const isKnown = statuses.some(({ status, active }) => status === wanted && active)
  const isLive = statuses.some(({ status, live }) => status === current.status && live)
  if (!isKnown || !isLive || ARRIVED.has(current.status as string)) return 'CLOSED'
  const until = startTime.subtract({ hours: business.cancelUntilHours ?? 0 })
  return answer === 'cancel' && Temporal.Instant.compare(now, until) > 0 ? 'TOO_LATE' : 'ASKS'
}

/** The client is there: to confirm would undo that. */
const ARRIVED = new Set(['CHECKED_IN', 'IN_PROGRESS'])
