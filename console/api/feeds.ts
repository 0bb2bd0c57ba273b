import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { AnswerOf, InputOf } from '../../src/client/client.ts'
import { pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'

export type Feed = AnswerOf<'getFeed'>
export type FeedEntry = AnswerOf<'listFeedEntries'>['items'][number]
export type FeedMatch = AnswerOf<'listFeedMatches'>['items'][number]
export type FeedRun = AnswerOf<'getFeedRun'>
export type FeedTest = AnswerOf<'testFeed'>
export type FeedDifference = AnswerOf<'listFeedDifferences'>['items'][number]
export type FeedBody = InputOf<'createFeed'>

const KEY = ['feeds']
const SHOWN_EVERY_MS = 30_000
const RUNNING_EVERY_MS = 1_000
const PAGE = 50

export const feedsQuery = queryOptions({
  queryKey: [...KEY, 'list'],
  refetchInterval: SHOWN_EVERY_MS,
  queryFn: ({ signal }) => all(client.listFeeds({ limit: MAX_PAGE }, { signal })),
})

/** It was just started: its appointments appear within seconds. */
const waitsForFirstPull = ({ source, mode, state }: Feed) =>
  source !== 'INLET' && mode === 'SHADOW' && state.completeTime === null && state.health === 'OK'

export const feedQuery = (feedId: number) =>
  queryOptions({
    queryKey: [...KEY, feedId],
    refetchInterval: ({ state: { data } }: { state: { data?: Feed | undefined } }) =>
      data && waitsForFirstPull(data) ? RUNNING_EVERY_MS : SHOWN_EVERY_MS,
    queryFn: ({ signal }) => client.getFeed({ feedId }, { signal }),
  })

export const entriesQuery = (feedId: number, state: FeedEntry['state'], reason?: string) =>
  infiniteQueryOptions({
    queryKey: [...KEY, feedId, 'entries', state, reason],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listFeedEntries({ feedId, state, reason, limit: PAGE, cursor: pageParam }, { signal }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

export const matchesQuery = (feedId: number) =>
  infiniteQueryOptions({
    queryKey: [...KEY, feedId, 'matches'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      client.listFeedMatches({ feedId, limit: PAGE, cursor: pageParam }, { signal }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

/** The latest ones, the latest first. */
export const runsQuery = (feedId: number) =>
  queryOptions({
    queryKey: [...KEY, feedId, 'runs'],
    queryFn: async ({ signal }) =>
      (await client.listFeedRuns({ feedId, limit: PAGE }, { signal })).items,
  })

/** One run, read again until it ends. */
export const runQuery = (feedId: number, feedRunId: number | undefined) =>
  queryOptions({
    queryKey: [...KEY, feedId, 'run', feedRunId],
    enabled: feedRunId !== undefined,
    queryFn: ({ signal }) => client.getFeedRun({ feedId, feedRunId: feedRunId ?? 0 }, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'RUNNING' ? RUNNING_EVERY_MS : false),
  })

/** What the source of a stored feed shows now. */
export const feedTestQuery = (feedId: number, enabled: boolean) =>
  queryOptions({
    queryKey: ['feed-test', feedId],
    enabled,
    retry: false,
    queryFn: () => client.testFeed({ feedId }),
  })

export const capturedQuery = (feedId: number) =>
  queryOptions({
    queryKey: [...KEY, feedId, 'captured'],
    queryFn: ({ signal }) => client.listFeedCaptured({ feedId }, { signal }),
  })

export const differencesQuery = (feedId: number) =>
  queryOptions({
    queryKey: [...KEY, feedId, 'differences'],
    queryFn: ({ signal }) => client.listFeedDifferences({ feedId }, { signal }),
  })

/** Feeds change appointments, clients and what Today shows. */
const changed = () => queryClient.invalidateQueries()

async function afterwards<T>(work: Promise<T>): Promise<T> {
  const answer = await work
  await changed()
  return answer
}

/** Tries the connection of a feed that is stored, or of one that is not yet. */
export const testFeed = (body: FeedBody) => client.testFeed(body)
export const saveFeed = (body: FeedBody) => afterwards(client.createFeed(body))

/** The rules of a feed are edited and saved together, because the first one that holds decides. */
export const feedRulesKind: RecordKind<Feed, Pick<Feed, 'rules'>> = {
  queryKey: [...KEY, 'rules'],
  idOf: ({ feedId }) => feedId,
  draftOf: pickFields<Pick<Feed, 'rules'>>({ rules: [] }),
  hasEffects: true,
  read: (id, signal) => storedOf(client.getFeed({ feedId: Number(id) }, { signal })),
  save: ({ id, changes, options }) =>
    afterwards(storedOf(client.createFeed({ feedId: Number(id), ...changes }, options))),
}

export const deleteFeed = (feedId: number, appointments: 'keep' | 'remove') =>
  afterwards(deleteNow(feedId, appointments))
const deleteNow = async (feedId: number, appointments: 'keep' | 'remove') => {
  await client.deleteFeed({ feedId, appointments })
}

/** The address and the secret for the webhooks of a source, shown once. */
export const createHook = (feedId: number) => client.createFeedHook({ feedId })

export type RunAction = 'dryRun' | 'pull' | 'reconcile'

export async function startRun(feedId: number, action: RunAction, rules?: Feed['rules']) {
  const started = await (action === 'dryRun'
    ? client.dryRunFeed({ feedId, ...(rules && { rules }) })
    : action === 'pull'
      ? client.pullFeed({ feedId })
      : client.reconcileFeed({ feedId }))
  return started.feedRunId
}

/** After a run has ended. */
export const refreshFeeds = changed

export const correctEntry = (
  feedId: number,
  entryId: number,
  correction: InputOf<'correctFeedEntry'>['correction'],
) => afterwards(client.correctFeedEntry({ feedId, entryId, correction }))

export const correctMatch = (body: InputOf<'correctFeedMatch'>) =>
  afterwards(client.correctFeedMatch(body))

export const decideVanished = (feedId: number, decision: 'cancel' | 'keep') =>
  afterwards(
    decision === 'cancel'
      ? client.cancelVanishedEntries({ feedId })
      : client.keepVanishedEntries({ feedId }),
  )
