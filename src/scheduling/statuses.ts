import { ANSWER_STATUSES } from '../contract/business.ts'
import { EVENT_TYPES, type ObjectType } from '../contract/event-type.ts'
import { foreignBusiness, readFields } from '../contract/read-fields.ts'
import { defaultOutcome, firstStatus, isFollowedUp, STATUS_BODY } from '../contract/status.ts'
import type { Db } from '../database/database.ts'
import { conflict, invalid, type Fault } from '../errors.ts'
import { getBusiness } from '../store/businesses.ts'
import { lockSettings, planAgain, waitForBookings } from '../store/event-definitions.ts'
import {
  insertStatus,
  isStatusUsed,
  lockStatus,
  updateStatus,
  type Status,
  type StatusInput,
} from '../store/statuses.ts'
import type { Author } from './saving.ts'

type Allow = (current: Status | undefined) => void

/** Creates a status, or changes one. Plans reminders again if `live` or `liveAfter` changes. */
export async function saveStatusOf(
  tx: Db,
  body: unknown,
  saving: Author,
  allow?: Allow,
): Promise<{ status: Status; before: Status | undefined }> {
  lockSettings(tx, saving.businessId)
  const asNew = readFields<StatusFields>(STATUS_BODY, body)
  const { objectType, status } = asNew.values
  const isKnowable = !asNew.faults.some(({ pointer }) => KEY.has(pointer))
  const before = isKnowable ? await lockStatus(tx, { ...saving, objectType, status }) : undefined
  allow?.(before)
  const { values, faults } = before ? readFields<StatusFields>(STATUS_BODY, body, before) : asNew
  faults.push(...foreignBusiness(body, saving.businessId))
  if (before) faults.push(...(await answerFaults(tx, before, values.live)))
  if (faults.length > 0) throw invalid(faults)

  const liveAfter = values.liveAfter ?? isFollowedUp(objectType, status, values.live)
  const named = { objectType, status, live: values.live, liveAfter }
  const outcome = values.outcome ?? defaultOutcome(named)
  const wanted: StatusInput = { ...named, ...values, liveAfter, outcome }
  if (before) return { status: await change(tx, before, wanted, saving), before }
  const made = await insertStatus(tx, saving, wanted)
  // Another transaction has just created it, so this is a change.
  return made ? { status: made, before } : saveStatusOf(tx, body, saving, allow)
}

/** The fault of a change that would make the links in mails set a status of the wrong kind. */
async function answerFaults(tx: Db, before: Status, live: boolean): Promise<Fault[]> {
  if (before.objectType !== 'CALENDAR' || before.live === live) return []
  const business = await getBusiness(tx, before.businessId)
  return ANSWER_STATUSES.filter((answer) => business[answer.property] === before.status)
    .filter((answer) => answer.live !== live)
    .map(({ property }) => ({
      pointer: '/live',
      detail: `must stay ${before.live}: ${before.status} is the ${property} of the business. Choose another one first`,
    }))
}

const KEY = new Set(['', '/objectType', '/status'])

type StatusFields = Pick<Status, 'objectType' | 'status' | 'label' | 'live' | 'active'> & {
  outcome: Status['outcome'] | null
  liveAfter: boolean | null
}

/** Removes a status that no object has; returns undefined if it does not exist. */
export async function removeStatus(
  tx: Db,
  { objectType, status }: Pick<Status, 'objectType' | 'status'>,
  saving: Author,
  allow: (current: Status) => void,
) {
  lockSettings(tx, saving.businessId)
  const before = await lockStatus(tx, { ...saving, objectType, status })
  if (!before) return undefined
  allow(before)
  return change(tx, before, { ...before, active: false }, saving)
}

async function change(tx: Db, before: Status, wanted: StatusInput, saving: Author) {
  if (CHANGEABLE.every((property) => before[property] === wanted[property])) return before
  if (!wanted.active) await refuseWhileUsed(tx, wanted, saving.businessId)
  const saved = await updateStatus(tx, saving, wanted)
  if (before.live !== saved.live || before.liveAfter !== saved.liveAfter) {
    await planAgain(tx, saving.businessId, reminderTypesOf([saved.objectType]))
  }
  return saved
}

const CHANGEABLE = ['label', 'outcome', 'live', 'liveAfter', 'active'] as const

async function refuseWhileUsed(tx: Db, { objectType, status }: StatusInput, businessId: number) {
  if (status === firstStatus(objectType)) {
    throw conflict(`${status} is the status of new objects and cannot be removed.`)
  }
  // Saves in progress may have read this status. After they commit, their objects are seen.
  await waitForBookings(tx, businessId)
  if (await isStatusUsed(tx, businessId, objectType, status)) {
    throw conflict(`${status} is in use, by an object, a definition or the business.`)
  }
}

/** The event types whose triggers are planned from objects of these types. */
export const reminderTypesOf = (objectTypes: readonly ObjectType[]): number[] =>
  EVENT_TYPES.filter(
    (type) => type.eventCategory === 'REMINDER' && objectTypes.includes(type.objectType),
  ).map((type) => type.eventTypeId)
