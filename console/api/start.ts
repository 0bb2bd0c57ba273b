import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { signIn } from './session.ts'

/**
 * The operator's key while the page is open; it is never stored. Only the first run uses it, to
 * create a business.
 */
let operatorKey: string | undefined

const asOperator = () => ({ headers: { authorization: `Bearer ${operatorKey}` } })

export const hasOperatorKey = () => operatorKey !== undefined

/** Throws a 401 if the key is wrong. */
export async function acceptOperatorKey(key: string) {
  operatorKey = key
  try {
    await client.listBusinesses({ limit: 1 }, asOperator())
  } catch (error) {
    operatorKey = undefined
    throw error
  }
}

export type NewBusiness = { businessId: number; name: string; timeZone: string }

export const makeBusiness = (business: { name: string; timeZone: string }) =>
  client.createBusiness(business, asOperator())

type FirstPerson = { username: string; emailAddress: string | null; password: string }

/** Creates the owner of a new business and signs them in. */
export async function makeOwner(businessId: number, person: FirstPerson) {
  await client.createUserOfBusiness({ businessId, ...person, role: 'OWNER' }, asOperator())
  const { username, password } = person
  await signIn({ username, password })
}

export async function loadDemo(businessId: number) {
  await client.seedBusiness({ businessId }, asOperator())
  await queryClient.invalidateQueries()
}
