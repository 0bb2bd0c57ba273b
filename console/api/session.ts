import { queryOptions, useQuery } from '@tanstack/react-query'
import { ProblemError, type Session } from '../../src/client/client.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

export type { Session }

/** The signed-in user; `null` if there is none. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    try {
      return await client.getSession({}, { signal })
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401) return null
      throw error
    }
  },
})

/** For pages that need a session: the router has checked that there is one. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('no user is signed in')
  return data
}

export async function signIn(credentials: { username: string; password: string }) {
  const session = await client.signIn(credentials)
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, session)
  return session
}

export async function signOut() {
  await client.signOut()
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
