import { QueryCache, QueryClient } from '@tanstack/react-query'
import { ConnectionError, ProblemError } from '../../src/client/client.ts'

const MAX_RETRIES = 3

/** Retries only errors that may pass: too many requests, or the database is unavailable. */
const isTransient = (error: unknown) =>
  error instanceof ConnectionError ||
  (error instanceof ProblemError && [429, 502, 503, 504].includes(error.status))

/** Whether the request needs a session that has ended. A wrong password or key is another 401. */
export const isSignedOut = (error: unknown) =>
  (error instanceof ProblemError &&
    (error.code === 'missing-credential' || error.code === 'expired-session')) ||
  isReplaced(error)

/** Whether another person has signed in with this browser since the page was opened. */
export const isReplaced = (error: unknown) =>
  error instanceof ProblemError && error.code === 'other-session'

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // Another window may have signed out: the session query finds out.
    onError: (error, { queryKey }) => {
      if (!isSignedOut(error) || queryKey[0] === 'session') return
      void queryClient.invalidateQueries({ queryKey: ['session'] }, { cancelRefetch: false })
    },
  }),
  defaultOptions: {
    // Saving while offline fails at once; the form keeps its text and shows the error.
    mutations: { networkMode: 'always' },
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => isTransient(error) && failures < MAX_RETRIES,
      retryDelay: (failures, error) => {
        const seconds = error instanceof ProblemError ? error.retryAfterSeconds : undefined
        return seconds ? seconds * 1_000 : Math.min(500 * 2 ** failures, 8_000)
      },
    },
  },
})
