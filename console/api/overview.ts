import { queryOptions } from '@tanstack/react-query'
import { client } from './client.ts'

/** The data of the page Today: the messages of some days, failures, and the service's health. */
export const overviewQuery = (day?: string, days?: number) =>
  queryOptions({
    queryKey: ['overview', day ?? 'today', days ?? 1],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => client.getOverview({ day, days }, { signal }),
  })
