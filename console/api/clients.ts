import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { Email, Suppression as SuppressionSchema } from '../../src/contract/email.ts'
import type { Appointment } from './calendar.ts'
import { queryClient } from './query-client.ts'
import { request, type Page } from './request.ts'

export type Client = {
  clientId: number
  firstName: string
  lastName: string
  emailAddress: string | null
  phone: string | null
  timeZone: string | null
  language: string | null
  tags: Record<string, string[]> | null
  active: boolean
}

export type ClientBody = Partial<Client>
export type Suppression = Static<typeof SuppressionSchema>

export const nameOf = ({ firstName, lastName }: Pick<Client, 'firstName' | 'lastName'>) =>
  `${firstName} ${lastName}`

const PAGE = 50

/** Clients whose name or address has words that begin so; all of them for an empty search. */
export const clientsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ['clients', 'list', search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<Page<Client>>('/client', {
        query: { search, limit: PAGE, cursor: pageParam },
        signal,
      }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

export const clientQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'one', clientId],
    queryFn: ({ signal }) => request<Client>(`/client/${clientId}`, { signal }),
  })

export const clientAppointmentsQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'appointments', clientId],
    queryFn: ({ signal }) =>
      request<Page<Appointment>>('/calendar', {
        query: { clientId, expand: 'names,messages', limit: 500 },
        signal,
      }),
  })

export const clientEmailsQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['clients', 'emails', clientId],
    queryFn: ({ signal }) => request<Email[]>(`/emails/client/${clientId}`, { signal }),
  })

/** Why an address gets no mail, or only what it needs. */
export const suppressionsQuery = (emailAddress: string) =>
  queryOptions({
    queryKey: ['clients', 'suppressions', emailAddress],
    queryFn: ({ signal }) =>
      request<Page<Suppression>>('/suppression', { query: { emailAddress }, signal }),
  })

const refresh = () =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => ['clients', 'calendar', 'messages'].includes(String(queryKey[0])),
  })

export async function saveClient(body: ClientBody) {
  const saved = await request<Client>('/client', { method: 'POST', body })
  await refresh()
  return saved
}

export async function clearSuppression(emailAddress: string) {
  await request(`/suppression/${encodeURIComponent(emailAddress)}`, { method: 'DELETE' })
  await refresh()
}
