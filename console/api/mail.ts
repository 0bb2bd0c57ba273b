import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AnswerOf } from '../../src/client/client.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { emailQuery } from './messages.ts'
import { queryClient } from './query-client.ts'

export type SenderDomain = AnswerOf<'getSenderDomain'>
export type ListedEmail = AnswerOf<'listEmails'>['items'][number]

export const senderDomainsQuery = queryOptions({
  queryKey: ['mail', 'domains'],
  queryFn: ({ signal }) => all(client.listSenderDomains({ limit: MAX_PAGE }, { signal })),
})

/** Checks the DNS of the domains, one after the other, and reads everything about mail again. */
export async function checkMail(domains: SenderDomain[]) {
  for (const { domain } of domains) await client.checkSenderDomain({ domain })
  await Promise.all(
    ['mail', 'overview'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  )
}

/** How soon the service has tried the mail server, and the overview says what it found. */
const TRIED_AFTER_MS = 3_000

export async function retryMail() {
  await client.retryMail()
  await new Promise((resolve) => setTimeout(resolve, TRIED_AFTER_MS))
  await queryClient.invalidateQueries({ queryKey: ['overview'] })
}

/** The mails that were not sent because no mail server is set, the newest first. */
export const capturedQuery = infiniteQueryOptions({
  queryKey: ['emails', 'captured'],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    client.listEmails({ status: 'CAPTURED', limit: 50, cursor: pageParam }, { signal }),
  getNextPageParam: (page) => page.nextCursor ?? undefined,
})

export const ANSWER_DAYS = 30
const DAY_MS = 86_400_000
/** The newest mails that were not accepted; their answers are grouped in the browser. */
const MAX_GROUPED = 200

export type ServerAnswers = {
  acceptedCount: number
  lastAccepted: ListedEmail | undefined
  /** Refused, deferred or without an answer; the newest first. */
  notAccepted: ListedEmail[]
  hasMore: boolean
}

/** The answers of the mail server to the mails of the last 30 days. */
export const serverAnswersQuery = queryOptions({
  queryKey: ['mail', 'answers'],
  queryFn: async ({ signal }): Promise<ServerAnswers> => {
    const from = Date.now() - ANSWER_DAYS * DAY_MS
    const [counts, accepted, others] = await Promise.all([
      client.countEmails({ status: 'SENT', from }, { signal }),
      client.listEmails({ status: 'SENT', from, limit: 1 }, { signal }),
      client.listEmails(
        { status: 'FAILED,RETRYING,UNCERTAIN', from, limit: MAX_GROUPED },
        { signal },
      ),
    ])
    return {
      acceptedCount: counts.SENT ?? 0,
      lastAccepted: accepted.items[0],
      notAccepted: others.items,
      hasMore: others.nextCursor !== null,
    }
  },
})

const FOLLOW_MS = 1_500
/** After a minute the mail waits for the server, a pause or a retry. */
const FAST_READS = 40
const FOLLOW_LATER_MS = 30_000
const IS_OPEN = ['QUEUED', 'SENDING', 'RETRYING', 'UNCERTAIN']

export const isOpen = ({ status }: { status: string }) => IS_OPEN.includes(status)

/** A mail that was just made, until it has an outcome. */
export const followedEmailQuery = (emailId: number) =>
  queryOptions({
    ...emailQuery(emailId),
    staleTime: 0,
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      if (data && !isOpen(data)) return false
      return dataUpdateCount < FAST_READS ? FOLLOW_MS : FOLLOW_LATER_MS
    },
  })
