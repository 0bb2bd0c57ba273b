import { client } from './client.ts'
import { queryClient } from './query-client.ts'

/**
 * The operator's key while the page is open, until the user signs out; it is never stored. The first
 * run, the operator's page and the page of a restored database use it.
 */
let operatorKey: string | undefined

export const asOperator = () => ({ headers: { authorization: `Bearer ${operatorKey}` } })

export function forgetOperatorKey() {
  operatorKey = undefined
  queryClient.removeQueries({ queryKey: ['operator'] })
}

export const hasOperatorKey = () => operatorKey !== undefined

/** Throws a 401 if the key is wrong, a 403 if it is the API key of a business. */
export async function acceptOperatorKey(key: string) {
  operatorKey = key
  try {
    await client.getServiceHealth({}, asOperator())
  } catch (error) {
    operatorKey = undefined
    throw error
  }
}
