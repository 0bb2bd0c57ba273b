import { queryOptions } from '@tanstack/react-query'

const POLL_MS = 15_000
/** A lost connection may never answer. */
const ANSWER_MS = 8_000
/** How often a service that cannot be reached is asked again. */
export const RETRY_MS = 10_000

/** `noMail`: the only warning of a ready service is that the mail server takes no mail. */
export type Readiness = 'well' | 'noMail' | 'unwell' | 'unreachable'

/** Whether the service is ready. Also asked if the browser reports that it is offline. */
export const readinessQuery = queryOptions<Readiness>({
  queryKey: ['readiness'],
  networkMode: 'always',
  refetchInterval: ({ state }) => (state.data === 'unreachable' ? RETRY_MS : POLL_MS),
  retry: false,
  queryFn: async ({ signal }): Promise<Readiness> => {
    try {
      const signalOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
      const response = await fetch('/readyz', { signal: signalOrTimeout })
      if (!response.ok) return 'unwell'
      const { warnings = [] } = (await response.json()) as { warnings?: string[] }
      return warnings.length > 0 ? 'noMail' : 'well'
    } catch (error) {
      // Leaving the page cancels the request.
      if (signal.aborted) throw error
      return 'unreachable'
    }
  },
})
