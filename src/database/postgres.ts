import type pg from 'pg'
import type { Database } from './database.ts'
import { startHeartbeat } from './heartbeat.ts'
import { listen } from './listen.ts'
import { cutConnections, openPool, type PostgresOptions } from './pool.ts'
import { isConnectionError } from './postgres-errors.ts'
import { assertWritable, cut } from './servers.ts'
import { startAnalyzing } from './statistics.ts'
import { dbOf } from './transact.ts'

export function openDatabase(given: PostgresOptions): Database {
  const closing = new AbortController()
  const options: PostgresOptions = {
    ...given,
    // Connections that are lost while the database closes are not logged.
    onError: (error) => void (closing.signal.aborted || given.onError?.(error)),
  }
  const { app, engine, operator, maintenance, reports } = openPools(options)
  const pools = [app, engine, operator, maintenance, reports]
  const listeners = new Set<pg.Client>()
  const heartbeat = options.heartbeat
    ? startHeartbeat(options.url, () => {
        pools.forEach(({ pool }) => cutConnections(pool))
        listeners.forEach(cut)
      })
    : undefined
  const analyzing = options.analyzesGrownTables ? startAnalyzing(maintenance.pool) : undefined

  return {
    forBusiness: (businessId, user) => dbOf(app, { businessId, user }),
    reportsOf: (businessId) => dbOf(reports, { businessId, user: 'SYSTEM' }),
    engine: dbOf(engine, { user: 'SYSTEM' }),
    operator: dbOf(operator, { user: 'OPERATOR' }),
    maintenance: dbOf(maintenance, { user: 'OPERATOR' }),
    readTime: async () => {
      const { rows } = await operator.pool.query(
        'select extract(epoch from clock_timestamp()) * 1000 as ms',
      )
      return Number(rows[0].ms)
    },
    checkWritable: () => checkWritable(operator.pool),
    listen: (channel, onNotification, onListening) =>
      listen(options, listeners, channel, { onNotification, onListening }),
    close: async () => {
      closing.abort()
      await Promise.all([heartbeat?.stop(), analyzing?.stop()])
      await Promise.all(pools.map(({ pool }) => pool.end()))
    },
  }
}

function openPools(options: PostgresOptions) {
  const app = openPool(options, {
    role: 'bellwether_app',
    max: options.connections ?? 10,
    statementSeconds: 10,
    settings: LOOK_UPS,
  })
  // `idleSeconds`: a frozen node must not keep its locks for long.
  const engine = openPool(options, {
    role: 'bellwether_engine',
    max: 11,
    statementSeconds: 10,
    idleSeconds: 5,
    settings: { ...LOOK_UPS, plan_cache_mode: 'force_generic_plan' },
  })
  const operator = openPool(options, { role: 'bellwether_operator', max: 3, statementSeconds: 5 })
  const maintenance = openPool(options, {
    role: 'bellwether_operator',
    max: 1,
    statementSeconds: 120,
  })
  // For three prints of requests, two of schedules, and the checks and counts before a print. Many of
  // those can arrive at once, so they wait longer for a connection.
  const reports = openPool(options, {
    role: 'bellwether_app',
    max: 7,
    statementSeconds: 120,
    connectSeconds: 30,
    // A transaction reads no rows while a slow machine lays out the pages of a PDF.
    idleSeconds: 600,
  })
  return { app, engine, operator, maintenance, reports }
}

/** Restricts the planner to plans that find rows by an index: see docs/database.md, query plans. */
const LOOK_UPS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' }

async function checkWritable(pool: pg.Pool) {
  const client = await pool.connect()
  try {
    await assertWritable(client)
    client.release()
  } catch (error) {
    client.release(isConnectionError(error) ? (error as Error) : undefined)
    throw error
  }
}
