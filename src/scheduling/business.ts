import { isDeepStrictEqual } from 'node:util'
import { BUSINESS_FIELDS, BusinessWrite } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import { unknownProperties } from '../contract/unknown-properties.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound, type Fault } from '../errors.ts'
import {
  lockBusiness,
  updateBusiness,
  type BusinessFields,
  type BusinessRow,
} from '../store/businesses.ts'
import { isSame } from './events.ts'
import { followBusiness } from './follow.ts'
import type { Author } from './saving.ts'

/** Changes the caller's own business; reminders follow its time zone. */
export async function changeBusiness(tx: Db, body: unknown, { businessId, user, now }: Author) {
  const before = await lockBusiness(tx, businessId)
  if (!before) throw notFound('business', businessId)
  const { values, faults } = readFields<BusinessFields>(BUSINESS_FIELDS, body, before)
  faults.push(...operatorFieldFaults(values, before))
  faults.push(...unknownProperties(BusinessWrite, body))
  if (faults.length > 0) throw invalid(faults)
  const wanted = { ...before, ...values }
  if (isSame(before, wanted)) return before
  await followBusiness(tx, before, wanted)
  return updateBusiness(tx, businessId, wanted, { user, now })
}

/** The fields that a business may not change about itself. */
export const operatorFieldFaults = (values: BusinessFields, current: BusinessRow): Fault[] =>
  (['active', 'externalId', 'senderDomains'] as const)
    .filter((property) => !isDeepStrictEqual(values[property], current[property]))
    .map((property) => ({ pointer: `/${property}`, detail: 'is the operator’s to change' }))
