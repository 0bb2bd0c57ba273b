import type { Database } from '../database/database.ts'
import { conflict, notFound } from '../errors.ts'
import { findBusiness } from '../store/businesses.ts'
import { deleteBusinessRows } from '../store/erasure.ts'

/** One page of each table is one short transaction. */
const PAGE = 5_000

/**
 * Deletes a business with everything that is stored about it, in steps that can be repeated after an
 * interruption. It must be deactivated before, so that nobody changes it meanwhile. Returns the rows deleted.
 */
export async function eraseBusiness(
  { operator, maintenance }: Pick<Database, 'operator' | 'maintenance'>,
  { businessId, name }: { businessId: number; name: string },
  onProgress?: (rows: number) => void,
) {
  const business = await findBusiness(operator, businessId)
  if (!business) throw notFound('business', businessId)
  if (business.name !== name) {
    throw conflict(`Business ${businessId} has another name. Nothing was deleted.`)
  }
  if (business.active) {
    throw conflict(
      `Business ${businessId} is active. Deactivate it first: DELETE /business/${businessId}.`,
    )
  }
  let rows = 0
  for (let deleted = 1; deleted > 0;) {
    deleted = await maintenance.transaction((tx) => deleteBusinessRows(tx, businessId, PAGE))
    onProgress?.((rows += deleted))
  }
  return rows
}
