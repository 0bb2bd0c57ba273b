import { queryOptions } from '@tanstack/react-query'
import type { Role, User } from '../../src/contract/credentials.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) => all(client.listUsers({ limit: MAX_PAGE }, { signal })),
})

export type PersonFields = {
  userId?: number
  username: string
  emailAddress: string | null
  role: Role
  professionalId: number | null
  locationIdList: number[]
}

const changed = () => queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })

/** Creates or updates a user, and sets the password if one is given. */
export async function savePerson(person: PersonFields & { password?: string }) {
  await client.createUser(person)
  await changed()
}

/** Creates or updates a user and mails them a link to choose their password. */
export async function invitePerson(person: PersonFields) {
  await client.inviteUser(person)
  await changed()
}

/** Mails the user a new link; earlier links stop working. */
export async function sendPasswordLink({ userId }: Pick<User, 'userId'>) {
  await client.inviteUser({ userId })
  await changed()
}

export async function deactivatePerson({ userId }: Pick<User, 'userId'>) {
  await client.deleteUser({ userId })
  await changed()
}
