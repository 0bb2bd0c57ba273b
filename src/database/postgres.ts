import { availableParallelism } from 'node:os'
import type pg from 'pg'
import { POOL_SIZES } from './connection-limits.ts'
import type { Database, Db } from './database.ts'
import { DatabaseDisk } from './disk.ts'
import { startHeartbeat } from './heartbeat.ts'
import { listen } from './listen.ts'
import {
  borrow,
  cutConnections,
  openPool,
  readPoolUse,
  type PostgresOptions,
  type RolePool,
} from './pool.ts'
import { asConnectionError, isConnectionError } from './postgres-errors.ts'
import { Replica } from './replica.ts'
import { assertWritable, cut } from './servers.ts'
import { startAnalyzing } from './statistics.ts'
import { dbOf } from './transact.ts'

export function openDatabase(given: PostgresOptions): Database {
  const closing = new AbortController()
  const options: PostgresOptions = {
    ...given,
    // Connections that are lost while the database closes are not logged.
    onError: (error) => void (closing.signal.aborted || given.onError?.(asConnectionError(error))),
  }
  const disk = new DatabaseDisk(options.folder)
  const { app, engine, operator, maintenance, reports } = openPools(options, disk)
  const pools = [app, engine, operator, maintenance, reports]
  const replica = openReplica(options, operator)
  const replicaOr = (businessId: number, db: Db) =>
    replica ? replica.state.readFirst(dbOf(replica.pool, { businessId, user: 'SYSTEM' }), db) : db
  const listeners = new Set<pg.Client>()
  const heartbeat = options.heartbeat
    ? startHeartbeat(options.url, {
        onBroken: () => {
          pools.forEach(({ pool }) => cutConnections(pool))
          listeners.forEach(cut)
        },
        onUpgrade: options.heartbeat.onUpgrade,
      })
    : undefined
  const analyzing = options.analyzesGrownTables ? startAnalyzing(maintenance.pool) : undefined

  const checkWritable = () =>
    withConnection(operator, async (client) => {
      await assertWritable(client)
      await disk.check(client)
    })

  return {
    forBusiness: (businessId, user) => dbOf(app, { businessId, user }),
    reportsOf: (businessId) => replicaOr(businessId, dbOf(reports, { businessId, user: 'SYSTEM' })),
    replicaOr,
    checkReplica: async () => replica?.state.check(),
    engine: dbOf(engine, { user: 'SYSTEM' }),
    operator: dbOf(operator, { user: 'OPERATOR' }),
    maintenance: dbOf(maintenance, { user: 'OPERATOR' }),
    maintenanceBy: (user) => dbOf(maintenance, { user }),
    readTime: () => withConnection(operator, readTime),
    checkWritable,
    isDiskFull: async () => {
      if (disk.isFull()) await checkWritable().catch(() => {})
      return disk.isFull()
    },
    diskSpace: () => disk.space(),
    listPools: () => [...pools, ...(replica ? [replica.pool] : [])].map(readPoolUse),
    listen: (channel, onNotification, onListening) =>
      listen(options, listeners, channel, { onNotification, onListening }),
    close: async () => {
      closing.abort()
      await Promise.all([heartbeat?.stop(), analyzing?.stop()])
      await Promise.all(
        [...pools, ...(replica ? [replica.pool] : [])].map(({ pool }) => pool.end()),
      )
    },
  }
}

function openPools(options: PostgresOptions, disk: DatabaseDisk) {
  const max = options.connections ?? POOL_SIZES.app
  const app = openPool(options, disk, {
    name: 'app',
    role: 'bellwether_app',
    max,
    perBusiness: Math.ceil(max * MAX_SHARE),
    readsPerBusiness: Math.max(MIN_READS, Math.floor(availableParallelism() / 2)),
    statementSeconds: 10,
    settings: { ...LOOK_UPS, lock_timeout: `${LOCK_SECONDS}s` },
  })
  // `idleSeconds`: a frozen node must not keep its locks for long. `lock_timeout`: one locked row must
  // not stop the work for all businesses; see docs/engine.md, locked rows.
  const engine = openPool(options, disk, {
    name: 'engine',
    role: 'bellwether_engine',
    max: POOL_SIZES.engine,
    statementSeconds: 10,
    idleSeconds: 5,
    settings: { ...LOOK_UPS, plan_cache_mode: 'force_generic_plan', lock_timeout: '250ms' },
  })
  const operator = openPool(options, disk, {
    name: 'operator',
    role: 'bellwether_operator',
    max: POOL_SIZES.operator,
    statementSeconds: 5,
  })
  const maintenance = openPool(options, disk, {
    name: 'maintenance',
    role: 'bellwether_operator',
    max: POOL_SIZES.maintenance,
    statementSeconds: 120,
  })
  // For three prints of requests, two of schedules, and the checks and counts before a print. Many of
  // those can arrive at once, so they wait longer for a connection.
  const reports = openPool(options, disk, { name: 'reports', ...LONG_READS })
  return { app, engine, operator, maintenance, reports }
}

const LONG_READS = {
  role: 'bellwether_app',
  max: POOL_SIZES.reports,
  perBusiness: 5,
  statementSeconds: 120,
  waitSeconds: 30,
  // A transaction reads no rows while a slow machine lays out the pages of a PDF.
  idleSeconds: 600,
} as const

function openReplica(options: PostgresOptions, primary: RolePool) {
  const { replicaUrl: url, onReplica } = options
  if (!url) return undefined
  const pool = openPool({ ...options, url, poolerUrl: undefined }, new DatabaseDisk(undefined), {
    name: 'replica',
    isReadOnly: true,
    ...LONG_READS,
  })
  return { pool, state: new Replica({ replica: pool, primary, onChange: onReplica }) }
}

/**
 * The part of the connections that one business can have. Requests of a business may all wait for one
 * row lock; the others still have more than half of the connections.
 */
const MAX_SHARE = 0.4

/** One business keeps at most half of the cores busy with reads, or two connections. */
const MIN_READS = 2

const LOCK_SECONDS = 5

/** Restricts the planner to plans that find rows by an index: see docs/database.md, query plans. */
const LOOK_UPS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

async function readTime(client: pg.ClientBase) {
  const { rows } = await client.query('select extract(epoch from clock_timestamp()) * 1000 as ms')
  return Number(rows[0].ms)
}

async function withConnection<T>(pool: RolePool, work: (client: pg.ClientBase) => Promise<T>) {
  const client = await borrow(pool)
  try {
    const result = await work(client)
    client.release()
    return result
  } catch (error) {
    client.release(isConnectionError(error) ? (error as Error) : undefined)
    throw error
  }
}
