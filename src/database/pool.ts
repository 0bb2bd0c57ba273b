import pg from 'pg'
import { TYPES } from './query.ts'
import { assertWritable, clientConfig, cut } from './servers.ts'
import { raw, type Sql } from './sql.ts'

export type PostgresOptions = {
  /** May name several servers; see servers.ts. */
  url: string
  /** Called for each lost connection, to log it. */
  onError?: (error: Error) => void
  /** The size of the pool for requests. */
  connections?: number
  /** Notices within 10 s when the server stops answering or becomes read-only; see heartbeat.ts. */
  heartbeat?: boolean
  /** See statistics.ts. */
  analyzesGrownTables?: boolean
  /** PostgreSQL settings of every transaction; they take precedence over those of the pool. */
  settings?: Record<string, string>
}

type Role = 'bellwether_app' | 'bellwether_engine' | 'bellwether_operator'

export type PoolShape = {
  role: Role
  max: number
  statementSeconds: number
  /** `idle_in_transaction_session_timeout`. */
  idleSeconds?: number
  /** How long a caller waits for a free connection, or for a new one. */
  connectSeconds?: number
  settings?: Record<string, string>
}

/** Connections, and the settings that each of their transactions sets first. */
export type RolePool = { pool: pg.Pool; settings: Sql }

export function openPool(
  { url, onError, settings: given }: PostgresOptions,
  { role, max, statementSeconds, idleSeconds = 60, connectSeconds = 5, settings = {} }: PoolShape,
): RolePool {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max,
    pipeline: true,
    // The first probe is sent after 3 s, ten more a second apart: a dead peer is noticed after 13 s.
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
    connectionTimeoutMillis: connectSeconds * 1000,
    idleTimeoutMillis: 30_000,
    // The server cancels slow statements. If it does not answer then, the connection is dead.
    query_timeout: statementSeconds * 1000 + 2_000,
    types: TYPES,
    onConnect: assertWritable,
    application_name: role,
  } as pg.PoolConfig)
  pool.on('error', (error) => onError?.(error))
  // Without a listener, an error of a borrowed client would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  trackConnections(pool)
  return {
    pool,
    settings: localSettings({
      role,
      timezone: 'UTC',
      statement_timeout: `${statementSeconds}s`,
      // Compiling one of these statements takes a hundred times as long as running it.
      jit: 'off',
      // For SSDs, on which a random read costs about as much as a sequential one.
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

/** Closes all connections: their statements fail at once, and new ones are opened when needed. */
export function cutConnections(pool: pg.Pool) {
  for (const client of connections.get(pool) ?? []) cut(client)
}
