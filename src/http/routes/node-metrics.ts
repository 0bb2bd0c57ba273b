import { Registry, type Gauge } from 'prom-client'
import { VERSION } from '../../version.ts'
import type { Services } from '../server/services.ts'
import { addGauge } from './gauges.ts'

/** What this node knows without its database: these are served while it is unavailable. */
export function nodeMetrics({ database }: Pick<Services, 'database'>): Registry {
  const registry = new Registry()
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    collect: (gauge: Gauge) => Promise<void> | void,
  ) => addGauge(registry, { name, help, labelNames }, collect)

  gauge('build_info', 'Always 1, with the versions of this node.', ['version', 'node'], (metric) =>
    metric.set({ version: VERSION, node: process.versions.node }, 1),
  )
  gauge(
    'database_connections',
    'Connections of this node to the database, by pool: busy, idle, and the most that it opens.',
    ['pool', 'state'],
    (metric) => {
      for (const { name: pool, busy, idle, max } of database.listPools()) {
        metric.set({ pool, state: 'busy' }, busy)
        metric.set({ pool, state: 'idle' }, idle)
        metric.set({ pool, state: 'max' }, max)
      }
    },
  )
  gauge(
    'database_connection_waiters',
    'Statements and transactions of this node that wait for a connection, by pool.',
    ['pool'],
    (metric) => {
      for (const { name: pool, waiting } of database.listPools()) metric.set({ pool }, waiting)
    },
  )
  gauge(
    'database_disk_full',
    'Whether a statement failed because the disk of the database is full, and it still is.',
    [],
    async (metric) => metric.set((await database.isDiskFull()) ? 1 : 0),
  )
  gauge(
    'replica_up',
    'Whether the read replica is used. Absent without DATABASE_REPLICA_URL.',
    [],
    async (metric) => {
      const state = await database.checkReplica()
      if (state) metric.set('problem' in state ? 0 : 1)
    },
  )
  gauge(
    'replica_lag_seconds',
    'How far the read replica is behind the primary. Absent if it is not used.',
    [],
    async (metric) => {
      const state = await database.checkReplica()
      if (state && 'lagSeconds' in state) metric.set(state.lagSeconds)
    },
  )
  gauge(
    'disk_bytes',
    'The disk of the embedded database: free and total bytes. Absent with DATABASE_URL.',
    ['state'],
    (metric) => {
      const space = database.diskSpace()
      if (!space) return
      metric.set({ state: 'free' }, space.freeBytes)
      metric.set({ state: 'total' }, space.totalBytes)
    },
  )
  return registry
}
