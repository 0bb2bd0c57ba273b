import { Counter, Histogram, Registry } from 'prom-client'
import { FEED_SOURCES, type FeedSource } from '../../contract/feed.ts'
import { readFeedFigures, type FeedFigures } from '../../store/feed-health.ts'
import type { Services } from '../server/services.ts'
import { cacheBriefly } from './engine-metrics.ts'
import { addGauge } from './gauges.ts'

const pulls = new Counter({
  name: 'bellwether_feed_pulls_total',
  help: 'Pulls of feeds that this node ended, by source and result.',
  labelNames: ['source', 'result'],
})
const pullSeconds = new Histogram({
  name: 'bellwether_feed_pull_seconds',
  help: 'How long the pulls of this node took.',
  buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 1800],
})
const hooks = new Counter({
  name: 'bellwether_feed_hooks_total',
  help: 'Webhooks of sources that this node got, by source and result.',
  labelNames: ['source', 'result'],
})

for (const source of FEED_SOURCES) {
  for (const result of ['ok', 'failed']) pulls.inc({ source, result }, 0)
  for (const result of ['accepted', 'refused']) hooks.inc({ source, result }, 0)
}

export function measurePull(pulled: { source: FeedSource; isOk: boolean; seconds: number }) {
  const { source, isOk, seconds } = pulled
  pulls.inc({ source, result: isOk ? 'ok' : 'failed' })
  pullSeconds.observe(seconds)
}

export const measureHook = (source: FeedSource, result: 'accepted' | 'refused') =>
  hooks.inc({ source, result })

type Row = { labels: Record<string, string>; value: number }

/** All gauges of feeds, each with its labels, help text and source. */
const GAUGES: [
  name: string,
  labelNames: string[],
  help: string,
  rows: (figures: FeedFigures, now: Temporal.Instant) => Row[],
][] = [
  [
    'feeds',
    ['mode', 'health'],
    'Active feeds by mode and health.',
    ({ feeds }) => feeds.map(({ count, ...labels }) => ({ labels, value: count })),
  ],
  [
    'feed_entries',
    ['state'],
    'Entries of the sources of active feeds, by what became of them.',
    ({ entries }) => entries.map(({ count, ...labels }) => ({ labels, value: count })),
  ],
  [
    'feed_differences',
    [],
    'Differences that the last reconciliation of each feed found.',
    ({ differences }) => [{ labels: {}, value: differences }],
  ],
  [
    'feed_last_success_age_seconds',
    [],
    'How long ago the feed that waits longest was pulled with success. Absent if no feed is pulled.',
    ({ oldestSuccess }, now) =>
      oldestSuccess ? [{ labels: {}, value: now.since(oldestSuccess).total('seconds') }] : [],
  ],
]

/** Entries are counted at most so often. */
const CACHED_MS = 60_000

/** Gauges that are read from the database when Prometheus scrapes. */
export function feedMetrics({ database, clock }: Pick<Services, 'database' | 'clock'>): Registry {
  const registry = new Registry()
  const read = cacheBriefly(() => readFeedFigures(database.engine), CACHED_MS)
  for (const [name, labelNames, help, rows] of GAUGES) {
    addGauge(registry, { name, help, labelNames }, async (gauge) => {
      // Without a database connection the other metrics are still served.
      const figures = await read().catch(() => undefined)
      const found = figures ? rows(figures, clock.now()) : []
      for (const { labels, value } of found) gauge.set(labels, value)
    })
  }
  return registry
}
