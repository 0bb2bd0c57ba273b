import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { TYPES } from './query.ts'
import { assertWritable, clientConfig, cut } from './servers.ts'
import { raw, type Sql } from './sql.ts'

export type PostgresOptions = {
  /** May name several servers; see servers.ts. */
  url: string
  /** Lost connections are news for the log, never the end of the process. */
  onError?: (error: Error) => void
  /** How many connections the largest pool may hold. */
  connections?: number
  /** For what lives long: notices within 10 s when the server falls silent or read-only. */
  heartbeat?: boolean
  /** Of the server, in every transaction; they take precedence over our own. */
  settings?: Record<string, string>
}

type Role = 'bellwether_app' | 'bellwether_engine' | 'bellwether_operator'

export type PoolShape = {
  role: Role
  max: number
  statementSeconds: number
  /** How long a transaction may hold its locks without a word. */
  idleSeconds?: number
  settings?: Record<string, string>
  /** Once made, they serve for a while. */
  keepsPlans?: boolean
}

/** Connections, and the settings with which each of their transactions begins. */
export type RolePool = { pool: pg.Pool; settings: Sql; keepsPlans: boolean }

export function openPool(
  { url, onError, settings: given }: PostgresOptions,
  { role, max, statementSeconds, idleSeconds = 60, settings = {}, keepsPlans }: PoolShape,
): RolePool {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max,
    pipeline: true,
    // With the first probe after 3 s and ten more a second apart, a cut line shows after 13 s.
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // The server ends a slow statement; where it does not even answer, the connection is dead.
    query_timeout: statementSeconds * 1000 + 2_000,
    types: TYPES,
    onConnect: assertWritable,
    application_name: role,
  } as pg.PoolConfig)
  pool.on('error', (error) => onError?.(error))
  // A client that breaks while it is lent out says so here; unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  trackConnections(pool)
  // Whoever says how plans are made keeps them.
  if (keepsPlans && !given?.plan_cache_mode) forgetPlansOf(pool)
  return {
    pool,
    keepsPlans: keepsPlans === true,
    settings: localSettings({
      role,
      timezone: 'UTC',
      statement_timeout: `${statementSeconds}s`,
      // Compiling a statement takes a hundred times as long as running one of ours.
      jit: 'off',
      // What is read is in memory or on an SSD. As if on a turning disk, the planner would rather
      // read all rows of a business than look up each of a batch.
      random_page_cost: '1.1',
      ...settings,
      idle_in_transaction_session_timeout: `${idleSeconds}s`,
      ...given,
    }),
  }
}

const localSettings = (settings: Record<string, string>) =>
  raw(
    Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, true)`)
      .join(', '),
  )

/**
 * A plan that was made while a table was small is a bad one when it has grown, and the server itself
 * looks once a minute. So a connection's first plans serve for a second, the next ones for two, and
 * so on: a bad one does harm for a moment, and making them costs little of what they spare.
 */
const [FIRST_KEPT_MS, LONGEST_KEPT_MS] = [1_000, 10_000]

function forgetPlansOf(pool: pg.Pool) {
  const planned = new WeakMap<pg.ClientBase, { until: number; keptMs: number }>()
  pool.on('acquire', (client) => {
    const now = monotonicMs()
    const { until, keptMs } = planned.get(client) ?? { until: 0, keptMs: FIRST_KEPT_MS / 2 }
    if (now < until) return
    const next = Math.min(2 * keptMs, LONGEST_KEPT_MS)
    planned.set(client, { until: now + next, keptMs: next })
    // Goes before the first statement, which fails with it.
    client.query('discard plans').catch(() => {})
  })
}

const connections = new WeakMap<pg.Pool, Set<pg.Client>>()

function trackConnections(pool: pg.Pool) {
  const open = new Set<pg.Client>()
  connections.set(pool, open)
  pool.on('connect', (client) => open.add(client))
  pool.on('remove', (client) => open.delete(client))
}

/** Whoever waits on one of them learns at once that it is lost; new ones are made when needed. */
export function cutConnections(pool: pg.Pool) {
  for (const client of connections.get(pool) ?? []) cut(client)
}
