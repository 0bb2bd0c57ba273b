import type { Scope } from '../contract/credentials.ts'
import type { Db } from '../database/database.ts'
import { unauthorized } from '../errors.ts'
import { insertApiKey } from '../store/api-keys.ts'
import type { By } from '../store/businesses.ts'
import { shareUser } from '../store/users.ts'
import type { Account } from './caller.ts'
import { digest, makeSecret } from './secrets.ts'

type Wanted = { name: string; scopes: readonly Scope[]; expiresTime: Temporal.Instant | null }

/**
 * Makes a key of the business; `key` is shown this once. `maker` is the account of the caller who
 * makes it; null for the operator and for a key that belongs to the business.
 */
export async function createApiKey(
  tx: Db,
  businessId: number,
  wanted: Wanted,
  by: By,
  maker: Account | null,
) {
  const makerUserId = await lockMaker(tx, businessId, maker)
  const key = makeSecret('bw_')
  const kept = { ...wanted, makerUserId, prefix: key.slice(0, 9), keyHash: digest(key) }
  return { ...(await insertApiKey(tx, businessId, kept, by)), key }
}

/** The person to whom a new key is bound. An OWNER's key belongs to the business. */
async function lockMaker(tx: Db, businessId: number, maker: Account | null) {
  if (maker === null || maker.role === 'OWNER') return null
  const user = await shareUser(tx, businessId, maker.userId)
  // Another node may have deactivated them a moment ago.
  if (!user?.active || user.role !== maker.role) {
    throw unauthorized('expired-session', 'Your session has ended; sign in again.')
  }
  return user.userId
}
