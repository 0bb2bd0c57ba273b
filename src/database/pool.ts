import pg from 'pg'
import { monotonicMs } from '../clock.ts'
import { StartError } from '../errors.ts'
import { cut } from './heartbeat.ts'
import { TYPES } from './query.ts'

export type PostgresOptions = {
  url: string
  /** Lost connections are news for the log, never the end of the process. */
  onError?: (error: Error) => void
  /** How many connections the largest pool may hold. */
  connections?: number
  /** For what lives long: notices within 10 s when the server falls silent. */
  heartbeat?: boolean
  /** Of the server, on every connection; they go before our own. */
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

export function openPool(
  { url, onError, settings: given }: PostgresOptions,
  { role, max, statementSeconds, idleSeconds = 60, settings = {}, keepsPlans }: PoolShape,
) {
  const address = new URL(url)
  const optionsOfUrl = address.searchParams.get('options') ?? ''
  address.searchParams.delete('options') // they would take the place of ours
  const pool = new pg.Pool({
    connectionString: address.href,
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
    onConnect: (client: pg.ClientBase) => assertRole(client, role),
    options: serverSettings(optionsOfUrl, {
      role,
      timezone: 'UTC',
      statement_timeout: `${statementSeconds}s`,
      // What is read is in memory or on an SSD. As if on a turning disk, the planner would rather
      // read all rows of a business than look up each of a batch.
      random_page_cost: '1.1',
      ...settings,
      idle_in_transaction_session_timeout: `${idleSeconds}s`,
      ...given,
    }),
    application_name: role,
  } as pg.PoolConfig)
  pool.on('error', (error) => onError?.(error))
  // A client that breaks while it is lent out says so here; unheard, it would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  trackConnections(pool)
  if (keepsPlans) plansKept.add(pool)
  // Whoever says how plans are made keeps them.
  if (keepsPlans && !given?.plan_cache_mode) forgetPlansOf(pool)
  return pool
}

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

/** Of these pools, plans may be kept. */
export const plansKept = new WeakSet<pg.Pool>()

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

const serverSettings = (before: string, settings: Record<string, string>) =>
  [before, ...Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)].join(' ')

/** A pooler that drops what we ask for would let us in as the owner, before whom there is no wall. */
async function assertRole(client: pg.ClientBase, role: Role) {
  const { rows } = await client.query('show role')
  if (rows[0].role === role) return
  throw new StartError(
    `The database lets us in as another than ${role}: something between us and PostgreSQL drops connection options. Connect directly; see docs/database.md.`,
  )
}
