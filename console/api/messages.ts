import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { BulkResult } from '../../src/client/client.ts'
import type { NamedTrigger } from '../../src/contract/event-trigger.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'

/** A message is a trigger with its mails. */
export type Message = NamedTrigger

/** The number of messages on the page Today. */
const NEXT = 11

/** The messages that are sent next. */
export const nextMessagesQuery = queryOptions({
  queryKey: ['messages', 'next'],
  refetchInterval: 30_000,
  queryFn: ({ signal }) =>
    client.listEventTriggers({ status: 'SCHEDULED', expand: 'names', limit: NEXT }, { signal }),
})

/** The filters of the page Activity, which are part of its URL. */
export type MessageFilters = {
  status?: string
  text?: string
  from?: number
  to?: number
  eventDefnId?: number
  locationId?: number
  clientId?: number
}

/** The first page is shown soon, the others are fetched ahead of the user. */
const FIRST_PAGE = 100
const NEXT_PAGE = 500
/** Longer lists are not fetched again as a whole. */
const MAX_REFETCHED_PAGES = 3

type LoadedPages = { state: { data?: { pages: unknown[] } | undefined } }

const isShort = ({ state: { data } }: LoadedPages) =>
  (data?.pages.length ?? 0) <= MAX_REFETCHED_PAGES

export const messagesQuery = (filters: MessageFilters) =>
  infiniteQueryOptions({
    queryKey: ['messages', 'list', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listEventTriggers(
        {
          ...filters,
          // Past messages newest first, pending ones oldest first.
          order: filters.status === 'SCHEDULED' ? 'oldest' : 'newest',
          expand: 'names',
          limit: pageParam ? NEXT_PAGE : FIRST_PAGE,
          cursor: pageParam,
        },
        { signal },
      ),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    refetchInterval: (query) => isShort(query) && 60_000,
    refetchOnWindowFocus: isShort,
    refetchOnReconnect: isShort,
    // Comparing all loaded pages with every new one blocks the page.
    structuralSharing: false,
  })

/** The number of messages by status; ignores the status filter. */
export const messageCountsQuery = ({ status: _status, ...filters }: MessageFilters) =>
  queryOptions({
    queryKey: ['messages', 'counts', filters],
    refetchInterval: 60_000,
    queryFn: ({ signal }) => client.countEventTriggers(filters, { signal }),
  })

/** One message with its mails, history and checks. */
export const messageQuery = (eventTriggerId: number) =>
  queryOptions({
    queryKey: ['messages', 'one', eventTriggerId],
    refetchInterval: 15_000,
    queryFn: ({ signal }) => client.getEventTrigger({ eventTriggerId }, { signal }),
  })

/** Explains what each automation did, or will do, for the object of a message. */
export const explanationQuery = ({
  objectType,
  objectId,
  objectUUId,
}: Pick<Message, 'objectType' | 'objectId' | 'objectUUId'>) =>
  queryOptions({
    queryKey: ['messages', 'explanation', objectType, objectId ?? objectUUId],
    queryFn: ({ signal }) =>
      client.explainObject({ objectType, objectId: objectId ?? objectUUId! }, { signal }),
  })

/** A rendered mail; `html` is null after its retention time. */
export const emailQuery = (emailId: number) =>
  queryOptions({
    queryKey: ['emails', emailId],
    queryFn: ({ signal }) => client.getEmail({ emailId }, { signal }),
  })

const RECENT_DAYS = 90
const DAY_MS = 86_400_000

/** How many mails were made for the client in the last 90 days. */
export const recentMailCountQuery = (clientId: number) =>
  queryOptions({
    queryKey: ['emails', 'counts', clientId],
    queryFn: async ({ signal }) => {
      const from = Date.now() - RECENT_DAYS * DAY_MS
      const counts = await client.countEmails({ clientId, from }, { signal })
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
  })

export type { BulkResult }

/** The most ids that the service accepts in one request. */
const MAX_IDS = 1_000

type BulkOperation = 'fireEventTriggers' | 'cancelEventTriggers' | 'resendEmails'

async function bulk(operation: BulkOperation, ids: number[]): Promise<BulkResult> {
  const result: BulkResult = { done: [], refused: [] }
  for (let first = 0; first < ids.length; first += MAX_IDS) {
    const body = { ids: ids.slice(first, first + MAX_IDS) }
    const { done, refused, approvalId } = await client[operation](body, { keepalive: true })
    result.done.push(...done)
    result.refused.push(...refused)
    if (approvalId !== undefined) result.approvalId = approvalId
  }
  await queryClient.invalidateQueries({ queryKey: ['messages'] })
  if (result.approvalId !== undefined) {
    await queryClient.invalidateQueries({ queryKey: ['overview'] })
  }
  return result
}

export const fireMessages = (ids: number[]) => bulk('fireEventTriggers', ids)
export const cancelMessages = (ids: number[]) => bulk('cancelEventTriggers', ids)
export const sendEmailsAgain = (emailIds: number[]) => bulk('resendEmails', emailIds)
