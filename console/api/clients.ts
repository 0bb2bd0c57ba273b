import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

export type Client = AnswerOf<'getClient'>

export type ClientBody = InputOf<'createClient'>

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

export const clientQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'one', clientId],
    queryFn: ({ signal }) => client.getClient({ clientId }, { signal }),
  })

export const clientAppointmentsQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'appointments', clientId],
    queryFn: ({ signal }) =>
      client.listAppointments({ clientId, expand: 'names,messages', limit: 500 }, { signal }),
  })

/** Why an address gets no mail, or only transactional mail. */
export const suppressionsQuery = (emailAddress: string) =>
  queryOptions({
    queryKey: ['clients', 'suppressions', emailAddress],
    queryFn: ({ signal }) => client.listSuppressions({ emailAddress }, { signal }),
  })

export type Suppression = AnswerOf<'listSuppressions'>['items'][number]

/** All suppressed addresses, or this one only. */
export const suppressionListQuery = (emailAddress: string) =>
  infiniteQueryOptions({
    queryKey: ['clients', 'suppressions', 'list', emailAddress],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listSuppressions(
        { limit: PAGE, cursor: pageParam, emailAddress: emailAddress || undefined },
        { signal },
      ),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => ['clients', 'calendar', 'messages'].includes(String(queryKey[0])),
  })

/** A client with its version, for `If-Match`. */
export async function readClient(clientId: number) {
  const { body, response } = await client.getClient({ clientId }).withResponse()
  return { client: body, etag: response.headers.get('etag') }
}

/** Saves the given properties. A stale `etag` is answered with 412. */
export async function saveClient(body: ClientBody, etag: string | null = null) {
  const saved = await client.createClient(body, { ifMatch: etag })
  await refresh()
  return saved
}

/** Removes every reason of the address. */
export async function clearSuppression(emailAddress: string) {
  await client.deleteSuppression({ emailAddress })
  await refresh()
}
