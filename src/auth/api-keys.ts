import type { KeyScope } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import { unauthorized } from '../errors.ts'
import { insertApiKey, insertOperatorKey, replaceOperatorKeyHash } from '../store/api-keys.ts'
import type { By } from '../store/rows.ts'
import { shareUser } from '../store/users.ts'
import type { Account } from './caller.ts'
import { digest, makeSecret } from './secrets.ts'

type KeyFields = { name: string; scopes: readonly KeyScope[]; expiresTime: Temporal.Instant | null }

/**
 * Creates a key. The caller must show `key` to the user now: only its hash is stored. `maker` is the
 * account of the caller; null for the operator and for a key that belongs to the business.
 */
export async function createApiKey(
  tx: Db,
  businessId: number,
  fields: KeyFields,
  by: By,
  maker: Account | null,
) {
  const makerUserId = await lockMaker(tx, businessId, maker)
  const key = makeSecret('bw_')
  const stored = { ...fields, makerUserId, prefix: key.slice(0, 9), keyHash: digest(key) }
  return { ...(await insertApiKey(tx, businessId, stored, by)), key }
}

/** The person to whom a new key belongs. A key that an OWNER creates belongs to the business. */
async function lockMaker(tx: Db, businessId: number, maker: Account | null) {
  if (maker === null || maker.role === 'OWNER') return null
  const user = await shareUser(tx, businessId, maker.userId)
  // Another node may have just deactivated the person.
  if (!user?.active || user.role !== maker.role) {
    throw unauthorized('expired-session', 'Your session has ended. Sign in again.')
  }
  return user.userId
}

/**
 * Creates the operator's key at the first start and returns it to be shown: only its hash is stored. If
 * several nodes start together, one of them creates it.
 */
export async function createOperatorKey(operator: Db) {
  const key = makeSecret('bwo_')
  return (await insertOperatorKey(operator, digest(key))) ? key : undefined
}

/** Makes the operator's key anew, for one that was lost or leaked. The old one is refused within a second. */
export async function replaceOperatorKey(operator: Db) {
  const key = makeSecret('bwo_')
  await replaceOperatorKeyHash(operator, digest(key))
  return key
}
