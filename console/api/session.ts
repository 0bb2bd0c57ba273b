import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { Session as SessionSchema } from '../../src/contract/credentials.ts'
import { queryClient } from './query-client.ts'
import { ProblemError, request } from './request.ts'

export type Session = Static<typeof SessionSchema>

/** The person who is signed in; `null` if nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    try {
      return await request<Session>('/session', { signal })
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401) return null
      throw error
    }
  },
})

/** For pages behind the sign-in: the router has made sure that somebody is signed in. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('nobody is signed in')
  return data
}

export async function signIn(credentials: { username: string; password: string }) {
  const session = await request<Session>('/session', { method: 'POST', body: credentials })
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, session)
  return session
}

export async function signOut() {
  await request('/session', { method: 'DELETE' })
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
