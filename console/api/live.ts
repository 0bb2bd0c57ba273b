import { useEffect, useSyncExternalStore } from 'react'
import type { Change, ChangeKind } from '../../src/contract/change.ts'
import { queryClient } from './query-client.ts'

/** Changes within this time cause one refresh. */
const GATHER_MS = 300
/** The shortest time between two refreshes. */
const REFRESH_EVERY_MS = 2_000
/** How long to wait after the service refused the stream. */
const RETRY_MS = 60_000
/** Lists with more loaded pages than this are not fetched again completely. */
const MAX_PAGES = 3

const SCHEDULE = ['calendar', 'clients', 'messages', 'overview', 'automations']
const AUTOMATIONS = ['automations', 'messages', 'overview']
const SETUP = ['setup', 'overview']

/** The query keys that depend on each kind of object. */
const QUERIES_OF_KIND: Record<ChangeKind, string[]> = {
  business: ['session', 'overview'],
  location: SETUP,
  professional: SETUP,
  reason: SETUP,
  status: SETUP,
  client: ['clients', 'calendar', 'messages'],
  calendar: SCHEDULE,
  classSchedule: SCHEDULE,
  invitationCampaign: SCHEDULE,
  invitation: SCHEDULE,
  recall: SCHEDULE,
  disclaimerForm: SCHEDULE,
  disclaimer: SCHEDULE,
  emailCategory: ['setup', 'templates'],
  emailTemplate: ['setup', 'templates', 'automations'],
  eventDefinition: AUTOMATIONS,
  eventAction: AUTOMATIONS,
  eventTrigger: ['messages', 'overview', 'automations', 'calendar', 'clients'],
}

/** Whether the stream is connected; if not, the queries poll. */
export type LiveState = 'live' | 'polling'

let state: LiveState = 'polling'
const watchers = new Set<() => void>()

function setState(next: LiveState) {
  state = next
  for (const watcher of watchers) watcher()
}

export const useLiveState = () =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => state,
  )

/** Keeps the page up to date while it is visible. */
export function useLiveUpdates(isAllowed: boolean) {
  useEffect(() => (isAllowed ? followChanges() : undefined), [isAllowed])
}

/**
 * Follows `GET /changes` until the returned function is called. A hidden page does not: browsers
 * open few connections to a host, and every open page would take one.
 */
function followChanges() {
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let wasOpen = false
  const refresh = gatherRefreshes()

  const close = () => {
    clearTimeout(retry)
    source?.close()
    source = undefined
    setState('polling')
  }
  const open = () => {
    close()
    source = new EventSource('/changes')
    source.addEventListener('open', () => {
      setState('live')
      // Changes may have been missed since the previous stream ended.
      if (wasOpen) refresh.all()
      wasOpen = true
    })
    source.addEventListener('message', ({ data }: MessageEvent<string>) =>
      refresh.add((JSON.parse(data) as Change).kind),
    )
    source.addEventListener('error', () => {
      setState('polling')
      // The browser reconnects automatically, unless the service refused the stream.
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, RETRY_MS)
    })
  }
  const onVisibility = () => (document.visibilityState === 'visible' ? open() : close())

  onVisibility()
  document.addEventListener('visibilitychange', onVisibility)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    refresh.stop()
    close()
  }
}

function gatherRefreshes() {
  const names = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastAt = 0
  const flush = () => {
    timer = undefined
    lastAt = Date.now()
    const changed = new Set(names)
    names.clear()
    void queryClient.invalidateQueries(
      {
        predicate: ({ queryKey, state: { data } }) =>
          changed.has(String(queryKey[0])) && pagesOf(data) <= MAX_PAGES,
      },
      // Do not cancel a slow request that is already running.
      { cancelRefetch: false },
    )
  }
  const add = (kind: ChangeKind) => {
    for (const name of QUERIES_OF_KIND[kind] ?? []) names.add(name)
    timer ??= setTimeout(flush, Math.max(GATHER_MS, lastAt + REFRESH_EVERY_MS - Date.now()))
  }
  return {
    add,
    all: () => (Object.keys(QUERIES_OF_KIND) as ChangeKind[]).forEach(add),
    stop: () => clearTimeout(timer),
  }
}

const pagesOf = (data: unknown) => (data as { pages?: unknown[] } | undefined)?.pages?.length ?? 1
