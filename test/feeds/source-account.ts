import diagnostics from 'node:diagnostics_channel'
import type { FeedConnection } from '../../src/contract/feed.ts'
import type { Pull, PulledPart, Source, SourceAccount } from '../../src/feeds/source.ts'

const now = Temporal.Instant.from('2026-11-18T12:00:00Z')

export const accountOf = (connection: FeedConnection, secret: string | null): SourceAccount => ({
  businessId: 1,
  connection,
  secret,
  zone: 'Europe/Zurich',
  window: { from: now.subtract({ hours: 30 * 24 }), to: now.add({ hours: 400 * 24 }) },
  now,
  signal: new AbortController().signal,
})

/** Counts the requests that this process sends during the work. */
async function countRequests<T>(work: () => Promise<T>) {
  let requests = 0
  const count = () => (requests += 1)
  diagnostics.subscribe('http.client.request.start', count)
  try {
    return { ...(await work()), requests }
  } finally {
    diagnostics.unsubscribe('http.client.request.start', count)
  }
}

/** Pulls as the feeds do: keeps the versions and the cursor. */
export function followSource(source: Source, account: SourceAccount) {
  const versions = new Map<string, string>()
  let cursor: unknown = null
  const pullOnce = (again: Iterable<string> = []) => countRequests(() => readOnce(again))
  const readOnce = async (again: Iterable<string>) => {
    const pull: Pull = { cursor, versionOf: (key) => versions.get(key), again: new Set(again) }
    const parts: PulledPart[] = []
    const pulling = source.pull!(account, pull)
    let step = await pulling.next()
    for (; !step.done; step = await pulling.next()) parts.push(step.value)
    const resources = parts.flatMap((part) => part.resources)
    const deleted = parts.flatMap((part) => part.deleted)
    for (const { key, version } of resources) versions.set(key, version)
    for (const key of deleted) versions.delete(key)
    cursor = JSON.parse(JSON.stringify(step.value.cursor))
    return { resources, deleted, ...step.value }
  }
  return {
    pullOnce,
    versions,
    breakCursor: (broken: unknown) => (cursor = broken),
    cursor: () => cursor,
  }
}
