import { queryOptions } from '@tanstack/react-query'

/** Polled every 15 s: is the service ready? */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  refetchInterval: 15_000,
  retry: false,
  queryFn: async ({ signal }): Promise<'well' | 'unwell' | 'unreachable'> => {
    try {
      const response = await fetch('/readyz', { signal })
      return response.ok ? 'well' : 'unwell'
    } catch {
      return 'unreachable'
    }
  },
})
