import type { Scope } from '../contract/credentials.ts'
import type { Db } from '../database/database.ts'
import { insertApiKey } from '../store/api-keys.ts'
import type { By } from '../store/businesses.ts'
import { digest, makeSecret } from './secrets.ts'

type Wanted = { name: string; scopes: readonly Scope[]; expiresTime: Temporal.Instant | null }

/** Makes a key of the business; `key` is shown this once. */
export async function createApiKey(db: Db, businessId: number, wanted: Wanted, by: By) {
  const key = makeSecret('bw_')
  const kept = { ...wanted, prefix: key.slice(0, 9), keyHash: digest(key) }
  return { ...(await insertApiKey(db, businessId, kept, by)), key }
}
