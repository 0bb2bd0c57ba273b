import { BUSINESS_FIELDS, BusinessWrite } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import { unknownProperties } from '../contract/unknown-properties.ts'
import type { Db } from '../database/database.ts'
import { invalid } from '../errors.ts'
import { changeBusiness } from './business.ts'
import type { Author } from './saving.ts'

/**
 * A `business` line of an import changes the business only if it names it by `businessId`. Without
 * one, as in an export, it says where the lines come from: it is checked and changes nothing, so an
 * import never renames the business that it goes into (docs/decisions/0025-import-and-export.md).
 */
export async function saveBusinessLine(tx: Db, body: Record<string, unknown>, saving: Author) {
  if (body.businessId === saving.businessId) return changeBusiness(tx, body, saving)
  const { faults } = readFields(BUSINESS_FIELDS, body)
  faults.push(...unknownProperties(BusinessWrite, body))
  if (faults.length > 0) throw invalid(faults)
}
