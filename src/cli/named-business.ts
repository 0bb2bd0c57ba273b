import { InvalidArgumentError } from 'commander'
import type { Database } from '../database/database.ts'
import { StartError } from '../errors.ts'
import { findBusiness, listBusinesses } from '../store/businesses.ts'

/** For options that name an object by its id. */
export function wholeNumber(text: string) {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

export async function findNamedBusiness(database: Database, businessId: number) {
  const business = await findBusiness(database.operator, businessId)
  if (!business) throw new StartError(`There is no business ${businessId}.`)
  return business.businessId
}

/** The named business, or the only one. */
export async function chooseBusiness(database: Database, named: number | undefined) {
  if (named !== undefined) return findNamedBusiness(database, named)
  const [only, another] = await listBusinesses(database.operator, {}, { after: 0, limit: 2 })
  if (only && !another) return only.businessId
  throw new StartError(
    only
      ? 'There are several businesses. Choose one with --business.'
      : 'There is no business yet. Create one with bellwether create-business.',
  )
}
