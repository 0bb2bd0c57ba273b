import { BUSINESS_BODY } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import type { Db } from '../database/database.ts'
import { invalid } from '../errors.ts'
import { changeBusiness } from './business.ts'
import type { Author } from './saving.ts'

/**
 * Changes the business only if the line has its `businessId`. Lines of an export have none: they are
 * checked and change nothing. See docs/decisions/0025-import-and-export.md.
 */
export async function saveBusinessLine(tx: Db, body: Record<string, unknown>, saving: Author) {
  if (body.businessId === saving.businessId) return changeBusiness(tx, body, saving)
  const { faults } = readFields(BUSINESS_BODY, body)
  if (faults.length > 0) throw invalid(faults)
}
