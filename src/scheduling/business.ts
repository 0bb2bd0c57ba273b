import { isDeepStrictEqual } from 'node:util'
import { ANSWER_STATUSES, BUSINESS_BODY, BUSINESS_FIELDS } from '../contract/business.ts'
import { isUnchanged, readFields } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound, type Fault } from '../errors.ts'
import { listStatusesOf } from '../store/statuses.ts'
import {
  lockBusiness,
  updateBusiness,
  type BusinessFields,
  type BusinessRow,
} from '../store/businesses.ts'
import { logoFaults } from './files.ts'
import { followBusiness } from './follow.ts'
import type { Author } from './saving.ts'

/** Changes the caller's own business, and plans reminders again if its time zone or quiet hours change. */
export async function changeBusiness(tx: Db, body: unknown, { businessId, user, now }: Author) {
  const before = await lockBusiness(tx, businessId)
  if (!before) throw notFound('business', businessId)
  const { values, faults } = readFields<BusinessFields>(BUSINESS_BODY, body, before)
  faults.push(...operatorFieldFaults(values, before), ...mailPauseFaults(values, before))
  faults.push(...(await referenceFaults(tx, values, before)))
  if (faults.length > 0) throw invalid(faults)
  if (isUnchanged(values, before)) return before
  const wanted = { ...before, ...values }
  await followBusiness(tx, before, wanted)
  return updateBusiness(tx, businessId, wanted, { user, now })
}

/** Faults of the logo and of the statuses that a business refers to, if they change. */
export async function referenceFaults(
  tx: Db,
  values: BusinessFields,
  current: BusinessRow,
): Promise<Fault[]> {
  const { businessId } = current
  const faults: Fault[] = []
  if (values.logo && values.logo !== current.logo) {
    faults.push(...(await logoFaults(tx, businessId, values.logo)))
  }
  const changed = ANSWER_STATUSES.filter(
    ({ property }) => values[property] !== null && values[property] !== current[property],
  )
  if (changed.length === 0) return faults
  const statuses = await listStatusesOf(tx, businessId, 'CALENDAR')
  for (const { property, live } of changed) {
    const usable = statuses.filter((status) => status.active && status.live === live)
    if (usable.some(({ status }) => status === values[property])) continue
    const names = usable.map(({ status }) => status).join(', ')
    faults.push({ pointer: `/${property}`, detail: `must be one of ${names}` })
  }
  return faults
}

/** The fields that a business may not change about itself. */
const OPERATOR_FIELDS = ['active', 'externalId', 'senderDomains', 'dailyMailLimit'] as const

/** The fields that a business may change itself; an export contains these. */
export const OWN_FIELDS = Object.keys(BUSINESS_FIELDS).filter(
  (property) => !OPERATOR_FIELDS.some((field) => field === property),
)

export const operatorFieldFaults = (values: BusinessFields, current: BusinessRow): Fault[] =>
  OPERATOR_FIELDS.filter((property) => !isDeepStrictEqual(values[property], current[property])).map(
    (property) => ({ pointer: `/${property}`, detail: 'is the operator’s to change' }),
  )

/** A body that ends a pause may repeat its reason. */
export const mailPauseFaults = (
  { mailPaused, mailPausedReason }: BusinessFields,
  current?: BusinessRow,
): Fault[] =>
  mailPaused || mailPausedReason === null || mailPausedReason === current?.mailPausedReason
    ? []
    : [{ pointer: '/mailPausedReason', detail: 'needs mailPaused: true' }]
