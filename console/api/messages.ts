import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { NamedTrigger, TriggerStatus } from '../../src/contract/event-trigger.ts'
import { request, type Page } from './request.ts'

/** A message is a trigger with its mails. */
export type Message = NamedTrigger

/** The messages that are sent next. */
export const nextMessagesQuery = (limit: number) =>
  queryOptions({
    queryKey: ['messages', 'next', limit],
    refetchInterval: 30_000,
    queryFn: ({ signal }) =>
      request<Page<Message>>('/eventTriggers', {
        query: { status: 'SCHEDULED', expand: 'names', limit },
        signal,
      }),
  })

/** What the page Activity shows; every filter stands in the address of the page. */
export type MessageFilters = {
  status?: string
  text?: string
  from?: number
  to?: number
  eventDefnId?: number
  locationId?: number
  clientId?: number
}

const PAGE = 100

export const messagesQuery = (filters: MessageFilters) =>
  infiniteQueryOptions({
    queryKey: ['messages', 'list', filters],
    initialPageParam: undefined as string | undefined,
    refetchInterval: 60_000,
    queryFn: ({ pageParam, signal }) =>
      request<Page<Message>>('/eventTriggers', {
        query: {
          ...filters,
          // Of the past the newest come first, of the future the next.
          order: filters.status === 'SCHEDULED' ? 'oldest' : 'newest',
          expand: 'names',
          limit: PAGE,
          cursor: pageParam,
        },
        signal,
      }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

/** How many messages of each status there are, whatever status is chosen. */
export const messageCountsQuery = ({ status: _status, ...filters }: MessageFilters) =>
  queryOptions({
    queryKey: ['messages', 'counts', filters],
    refetchInterval: 60_000,
    queryFn: ({ signal }) =>
      request<Partial<Record<TriggerStatus, number>>>('/eventTriggers/counts', {
        query: filters,
        signal,
      }),
  })
