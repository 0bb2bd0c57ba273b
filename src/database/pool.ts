import pg from 'pg'
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
  /** See statistics.ts. */
  analyzesGrownTables?: boolean
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
}

/** Connections, and the settings with which each of their transactions begins. */
export type RolePool = { pool: pg.Pool; settings: Sql }

export function openPool(
  { url, onError, settings: given }: PostgresOptions,
  { role, max, statementSeconds, idleSeconds = 60, settings = {} }: PoolShape,
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
  return {
    pool,
    settings: localSettings({
      role,
      timezone: 'UTC',
      statement_timeout: `${statementSeconds}s`,
      // Compiling a statement takes a hundred times as long as running one of ours.
      jit: 'off',
      // For SSDs, on which reading a page by its index costs about as much as reading the next one.
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
