import { queryOptions } from '@tanstack/react-query'
import { client } from './client.ts'

/** The page Today: what happens on a day, what failed, how the service is. */
export const overviewQuery = (day?: string) =>
  queryOptions({
    queryKey: ['overview', day ?? 'today'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => client.getOverview({ day }, { signal }),
  })
