import { queryOptions } from '@tanstack/react-query'
import type { User } from '../../src/contract/credentials.ts'
import { changesOf } from '../records/changes.ts'
import { pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) => all(client.listUsers({ limit: MAX_PAGE }, { signal })),
})

export type PersonFields = Pick<
  User,
  'username' | 'emailAddress' | 'role' | 'professionalId' | 'locationIdList'
> & { password: string }

const changed = () => queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey })

export const personKind: RecordKind<User, PersonFields> = {
  queryKey: ['person'],
  idOf: ({ userId }) => userId,
  draftOf: pickFields<PersonFields>({
    username: '',
    emailAddress: null,
    role: 'USER',
    professionalId: null,
    locationIdList: [],
    password: '',
  }),
  settings: [['role', 'professionalId', 'locationIdList']],
  read: (id, signal) => storedOf(client.getUser({ userId: Number(id) }, { signal })),
  /** A new person without a password is invited: a mail has a link to choose one. */
  save: async ({ id, draft, base, options }) => {
    const { role } = draft
    const seen = {
      professionalId: role === 'USER' ? draft.professionalId : null,
      locationIdList: role === 'LOCATION_SUPER_USER' ? draft.locationIdList : [],
    }
    const { password, ...fields } = { ...draft, ...seen }
    const { password: _typed, ...changes } = changesOf(base, { ...draft, ...seen })
    const saved = await storedOf(
      id !== undefined
        ? client.createUser(
            { ...changes, userId: Number(id), ...(password && { password }) },
            options,
          )
        : password
          ? client.createUser({ ...fields, password }, options)
          : client.inviteUser(fields, options),
    )
    await changed()
    return saved
  },
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
