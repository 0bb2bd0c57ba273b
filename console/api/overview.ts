import { queryOptions } from '@tanstack/react-query'
import { client } from './client.ts'

/** The data of the page Today: the messages of a day, failures, and the service's health. */
export const overviewQuery = (day?: string) =>
  queryOptions({
    queryKey: ['overview', day ?? 'today'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => client.getOverview({ day }, { signal }),
  })
