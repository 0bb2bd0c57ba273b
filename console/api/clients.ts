import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import { recordQuery } from '../records/editor.ts'
import { isStored, pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export type Client = AnswerOf<'getClient'>

export type ClientFields = {
  [name in 'firstName' | 'lastName' | 'emailAddress' | 'phone' | 'language' | 'timeZone']:
    | string
    | null
} & { tags: Record<string, string[]> }

export const nameOf = ({ firstName, lastName }: Pick<Client, 'firstName' | 'lastName'>) =>
  `${firstName} ${lastName}`

const PAGE = 50

/** Clients with a name or address that begins with the search words; all for an empty search. */
export const clientsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['clients', 'list', search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listClients({ search, limit: PAGE, cursor: pageParam }, { signal }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

export const clientKind: RecordKind<Client, ClientFields> = {
  queryKey: ['clients'],
  idOf: ({ clientId }) => clientId,
  draftOf: pickFields<ClientFields>({
    firstName: null,
    lastName: null,
    emailAddress: null,
    phone: null,
    language: null,
    timeZone: null,
    tags: {},
  }),
  plan: {
    fields: ['tags'],
    isAsked: isStored,
    read: (changes, id, signal) =>
      client.planClient({ ...changes, clientId: Number(id) } as InputOf<'createClient'>, {
        signal,
      }),
  },
  read: (id, signal) => storedOf(client.getClient({ clientId: Number(id) }, { signal })),
  save: async ({ id, changes, options }) => {
    const clientId = id === undefined ? undefined : Number(id)
    // Without a name the service says that it is required.
    const body = { ...changes, clientId } as InputOf<'createClient'>
    const saved = await storedOf(client.createClient(body, options))
    await refresh()
    return saved
  },
}

export const clientQuery = (clientId: number) =>
  queryOptions({ ...recordQuery(clientKind, clientId), select: ({ item }) => item })

/** All appointments of a client, the earliest first. */
export const clientAppointmentsQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'appointments', clientId],
    queryFn: ({ signal }) =>
      all(
        client.listAppointments(
          { clientId, expand: 'names,messages', limit: MAX_PAGE },
          { signal },
        ),
      ),
  })

/** Why an address gets no mail, or only transactional mail. */
export const suppressionsQuery = (emailAddress: string) =>
  queryOptions({
    queryKey: ['clients', 'suppressions', emailAddress],
    queryFn: ({ signal }) => client.listSuppressions({ emailAddress }, { signal }),
  })

export type Suppression = AnswerOf<'listSuppressions'>['items'][number]

/** All suppressed addresses, or those that contain the text. */
export const suppressionListQuery = (text: string) =>
  infiniteQueryOptions({
    queryKey: ['clients', 'suppressions', 'list', text],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listSuppressions(
        { limit: PAGE, cursor: pageParam, text: text || undefined },
        { signal },
      ),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => ['clients', 'calendar', 'messages'].includes(String(queryKey[0])),
  })

/** Everything that is stored about a client. */
export const readClientData = (clientId: number) => client.getClientData({ clientId })

/** Overwrites all personal data of a client. */
export async function eraseClient(clientId: number) {
  await client.eraseClient({ clientId })
  await queryClient.invalidateQueries()
}

export async function addSuppression(body: InputOf<'createSuppression'>) {
  await client.createSuppression(body)
  await refresh()
}

/** Removes every reason of the address. */
export async function clearSuppression(emailAddress: string) {
  await client.deleteSuppression({ emailAddress })
  await refresh()
}
