import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Session } from '../../src/client/client.ts'
import { client, expectUser } from './client.ts'
import { forgetOperatorKey } from './operator-key.ts'
import { isReplaced, isSignedOut, queryClient } from './query-client.ts'

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
      const session = await client.getSession({}, { signal })
      expectUser(session.userId)
      return session
    } catch (error) {
      if (isSignedOut(error) && !queryClient.getQueryData(queryKey)) return null
      throw error
    }
  },
})

/** Whether the session ended while the page was open, or another person's session replaced it. */
export function useEndOfSession(): 'ended' | 'replaced' | undefined {
  const { error } = useQuery(sessionQuery)
  if (isReplaced(error)) return 'replaced'
  return isSignedOut(error) ? 'ended' : undefined
}

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

/** The business of the signed-in user, for requests. */
export const signedInBusinessId = () =>
  queryClient.getQueryData<Session>(queryKey)?.business.businessId ?? 0

/** For pages that need a session: the router has checked that there is one. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('no user is signed in')
  return data
}

export async function signIn(credentials: { username: string; password: string }) {
  const session = await client.signIn(credentials)
  queryClient.clear()
  expectUser(session.userId)
  queryClient.setQueryData(sessionQuery.queryKey, session)
  return session
}

/** Stores the language of the signed-in user. */
export async function saveLanguage(language: Session['language']) {
  await client.chooseLanguage({ language })
  const change = (session: Session | null | undefined) => session && { ...session, language }
  queryClient.setQueryData<Session | null>(queryKey, change)
}

/** After another language was chosen: names of reports and statuses, among others, have changed. */
export const readAgain = () =>
  queryClient.resetQueries({ predicate: (query) => query.queryKey[0] !== queryKey[0] })

export async function signOut() {
  await client.signOut()
  forgetOperatorKey()
  queryClient.clear()
  expectUser(undefined)
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
