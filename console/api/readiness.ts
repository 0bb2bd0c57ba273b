import { queryOptions } from '@tanstack/react-query'

const POLL_MS = 15_000
/** A lost connection may never answer. */
const ANSWER_MS = 8_000
/** How often a service that cannot be reached is asked again. */
export const RETRY_MS = 10_000

/** Whether the service is ready. Also asked if the browser reports that it is offline. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  networkMode: 'always',
  refetchInterval: ({ state }) => (state.data === 'unreachable' ? RETRY_MS : POLL_MS),
  retry: false,
  queryFn: async ({ signal }): Promise<'well' | 'unwell' | 'unreachable'> => {
    try {
      const signalOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
      const response = await fetch('/readyz', { signal: signalOrTimeout })
      return response.ok ? 'well' : 'unwell'
    } catch (error) {
      // Leaving the page cancels the request.
      if (signal.aborted) throw error
      return 'unreachable'
    }
  },
})
