import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Session } from '../../src/client/client.ts'
import { client } from './client.ts'
import { isSignedOut, queryClient } from './query-client.ts'

export type { Session }

const queryKey = ['session']

/**
 * The signed-in user; `null` if there is none. If the session ends while a page is open, the query
 * keeps the user and has an error: the page keeps its text.
 */
export const sessionQuery = queryOptions({
  queryKey,
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await client.getSession({}, { signal })
    } catch (error) {
      if (isSignedOut(error) && !queryClient.getQueryData(queryKey)) return null
      throw error
    }
  },
})

/** Whether the session ended while the page was open. */
export const useHasSessionEnded = () => isSignedOut(useQuery(sessionQuery).error)

/** The signed-in user, for routes. A session that has ended is asked for again. */
export async function findSession(): Promise<Session | null> {
  if (!isSignedOut(queryClient.getQueryState(queryKey)?.error)) {
    return queryClient.ensureQueryData(sessionQuery)
  }
  return queryClient.fetchQuery(sessionQuery).catch((error: unknown) => {
    if (isSignedOut(error)) return null
    throw error
  })
}

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
