import { queryOptions } from '@tanstack/react-query'
import type { Overview } from '../../src/contract/overview.ts'
import { request } from './request.ts'

/** The page Today: what happens on a day, what failed, how the service is. */
export const overviewQuery = (day?: string) =>
  queryOptions({
    queryKey: ['overview', day ?? 'today'],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => request<Overview>('/overview', { query: { day }, signal }),
  })
