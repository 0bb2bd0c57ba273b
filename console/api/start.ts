import { client } from './client.ts'
import { asOperator } from './operator-key.ts'
import { queryClient } from './query-client.ts'
import { signIn } from './session.ts'

export type NewBusiness = { businessId: number; name: string; timeZone: string }

/** The new business that has no owner yet, so that a reload continues with it. */
const UNFINISHED = 'bellwether.start'

/** Its owner is here to enter a postal address, unlike that of a business that a program creates. */
export async function makeBusiness(business: { name: string; timeZone: string }) {
  const { businessId, name, timeZone } = await client.createBusiness(
    { ...business, postalAddressRequired: true },
    asOperator(),
  )
  sessionStorage.setItem(UNFINISHED, JSON.stringify({ businessId, name, timeZone }))
  return { businessId, name, timeZone }
}

/** The business that was created in this tab and has no owner yet. */
export function findUnfinished() {
  const stored = sessionStorage.getItem(UNFINISHED)
  return stored === null ? undefined : (JSON.parse(stored) as NewBusiness)
}

type FirstPerson = { username: string; emailAddress: string | null; password: string }

/** Creates the owner of a new business and signs them in. */
export async function makeOwner(businessId: number, person: FirstPerson) {
  await client.createUserOfBusiness({ businessId, ...person, role: 'OWNER' }, asOperator())
  sessionStorage.removeItem(UNFINISHED)
  const { username, password } = person
  await signIn({ username, password })
}

export async function loadDemo(businessId: number) {
  await client.seedBusiness({ businessId }, asOperator())
  await queryClient.invalidateQueries()
}
