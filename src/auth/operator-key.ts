import type { Db } from '../database/database.ts'
import { insertOperatorKey } from '../store/api-keys.ts'
import { digest, makeSecret } from './secrets.ts'

/**
 * Makes the operator's key at the first start. Gives it back that once, to be shown: only its hash
 * is kept. Of several nodes that start together, one makes it.
 */
export async function makeOperatorKey(operator: Db) {
  const key = makeSecret('bwo_')
  return (await insertOperatorKey(operator, digest(key))) ? key : undefined
}
