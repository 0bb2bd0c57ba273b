import { queryOptions } from '@tanstack/react-query'
import type { NamedTrigger } from '../../src/contract/event-trigger.ts'
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
