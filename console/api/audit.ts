import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import { client } from './client.ts'

export type AuditEntry = AnswerOf<'listAuditEntries'>['items'][number]

export type AuditFilters = {
  user?: string
  object?: string
  id?: string
  from?: number
  to?: number
}

const PAGE = 50

/** All changes, newest first. */
export const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listAuditEntries({ ...filters, limit: PAGE, cursor: pageParam }, { signal }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })
