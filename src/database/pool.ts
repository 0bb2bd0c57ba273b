import pg from 'pg'
import { WorkQueue, type Slot } from '../work-queue.ts'
import type { PoolUse, ReplicaState } from './database.ts'
import type { DatabaseDisk } from './disk.ts'
import { TYPES } from './query.ts'
import { assertWritable, clientConfig, cut, POOLED_SETTINGS } from './servers.ts'
import { raw, type Sql } from './sql.ts'

export type PostgresOptions = {
  /** May name several servers; see servers.ts. */
  url: string
  /** A connection pooler in front of it, for all statements except LISTEN. */
  poolerUrl?: string | undefined
  /** A standby of it, for reads that may lack the last changes. */
  replicaUrl?: string | undefined
  /** Called when the replica becomes usable, or is no longer usable. */
  onReplica?: (state: ReplicaState) => void
  onError?: (error: Error) => void
  connections?: number
  /** For nodes: notices when the server stops answering or becomes read-only, and when its schema is upgraded. */
  heartbeat?: { onUpgrade(): void }
  /** The folder of the embedded server, if it is one. */
  folder?: string | undefined
  /** See statistics.ts. */
  analyzesGrownTables?: boolean
  /** PostgreSQL settings of every transaction; they take precedence over those of the pool. */
  settings?: Record<string, string>
}

type Role = 'bellwether_app' | 'bellwether_engine' | 'bellwether_operator'

export type PoolShape = {
  /** As metrics name it. */
  name: string
  role: Role
  max: number
  /** For a server that accepts no writes. */
  isReadOnly?: boolean
  /** How many connections one business can have. Undefined if the pool is not used by businesses. */
  perBusiness?: number
  /** How many of these can read at once, outside of transactions. */
  readsPerBusiness?: number
  statementSeconds: number
  /** `idle_in_transaction_session_timeout`. */
  idleSeconds?: number
  /** How long a caller waits for a connection of its business's share. */
  waitSeconds?: number
  settings?: Record<string, string>
}

/** Connections, and the settings that each of their transactions sets first. */
export type RolePool = {
  name: string
  pool: pg.Pool
  disk: DatabaseDisk
  settings: Sql
  /** The fair share per business of the connections. */
  shares: WorkQueue | undefined
  /** The fair share per business of reads. They wait for no lock, and each can keep a core busy. */
  reads: WorkQueue | undefined
}

export function openPool(
  { url, poolerUrl, onError, settings: given }: PostgresOptions,
  disk: DatabaseDisk,
  {
    name,
    role,
    max,
    isReadOnly = false,
    perBusiness,
    readsPerBusiness,
    statementSeconds,
    idleSeconds = 60,
    waitSeconds = 10,
    settings = {},
  }: PoolShape,
): RolePool {
  const pool = new pg.Pool({
    ...clientConfig(poolerUrl ?? url, poolerUrl !== undefined),
    max,
    pipeline: true,
    // The first probe is sent after 3 s, ten more a second apart: a dead peer is noticed after 13 s.
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // The server cancels slow statements. If it does not answer then, the connection is dead.
    query_timeout: statementSeconds * 1000 + 2_000,
    types: TYPES,
    ...(!isReadOnly && { onConnect: assertWritable }),
    application_name: role,
  } as pg.PoolConfig)
  pool.on('error', (error) => onError?.(error))
  pool.on('connect', (client) => disk.watch(client))
  trackConnections(pool)
  return {
    name,
    pool,
    disk,
    shares: perBusiness
      ? new WorkQueue({ total: max, perBusiness, maxWaitSeconds: waitSeconds })
      : undefined,
    reads: readsPerBusiness
      ? new WorkQueue({ total: max, perBusiness: readsPerBusiness, maxWaitSeconds: waitSeconds })
      : undefined,
    settings: localSettings({
      ...(poolerUrl && POOLED_SETTINGS),
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

/**
 * A connection within the share of the business. The engine and the operator have no business.
 * `isReading`: for a statement or snapshot of its own, which counts as a read as well.
 */
export async function borrowShare(
  { pool, disk, shares, reads }: RolePool,
  businessId: number | undefined,
  { isReading = false } = {},
) {
  const slots: Slot[] = []
  const freeSlots = () => slots.forEach((slot) => slot.release())
  try {
    for (const queue of isReading ? [reads, shares] : [shares]) {
      if (!queue || businessId === undefined) continue
      const slot = queue.reserve({ businessId })
      slots.push(slot)
      await slot.granted
    }
    const client = await borrow({ pool, disk })
    return {
      client,
      /** An error of the connection closes it. */
      release: (error?: Error) => {
        client.release(error)
        freeSlots()
      },
    }
  } catch (error) {
    freeSlots()
    throw error
  }
}

export type Borrowed = Awaited<ReturnType<typeof borrowShare>>

const localSettings = (settings: Record<string, string>) =>
  raw(
    Object.entries(settings)
      .map(([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, true)`)
      .join(', '),
  )

/** A connection of the pool, free or new; the caller must release it. */
export async function borrow({ pool, disk }: Pick<RolePool, 'pool' | 'disk'>) {
  try {
    return await pool.connect()
  } catch (error) {
    throw disk.explain(error)
  }
}

export function readPoolUse({ name, pool, shares, reads }: RolePool): PoolUse {
  const { idleCount: idle, totalCount, waitingCount } = pool
  const waiting = waitingCount + (shares?.waiting ?? 0) + (reads?.waiting ?? 0)
  return { name, max: pool.options.max, busy: totalCount - idle, idle, waiting }
}

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
