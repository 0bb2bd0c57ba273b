import { BUSINESS_FIELDS } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound } from '../errors.ts'
import { lockBusiness, updateBusiness, type BusinessFields } from '../store/businesses.ts'
import { isSame } from './events.ts'
import { followZone } from './follow.ts'
import type { Saving } from './save.ts'

/** What a business may change about itself; the other fields are the operator's. */
const {
  externalId: _externalId,
  senderDomains: _senderDomains,
  active: _active,
  ...OWN_FIELDS
} = BUSINESS_FIELDS

/** Changes the caller's own business; reminders follow its clock. */
export async function changeBusiness(tx: Db, body: unknown, { businessId, user, now }: Saving) {
  const before = await lockBusiness(tx, businessId)
  if (!before) throw notFound('business', businessId)
  const { values, faults } = readFields<
    Omit<BusinessFields, 'externalId' | 'senderDomains' | 'active'>
  >(OWN_FIELDS, body, before)
  if (faults.length > 0) throw invalid(faults)
  const wanted = { ...before, ...values }
  if (isSame(before, wanted)) return before
  if (before.timeZone !== wanted.timeZone) await followZone(tx, businessId)
  return updateBusiness(tx, businessId, wanted, { user, now })
}
