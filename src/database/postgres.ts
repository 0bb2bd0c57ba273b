import type pg from 'pg'
import type { Database } from './database.ts'
import { startHeartbeat } from './heartbeat.ts'
import { listen } from './listen.ts'
import { cutConnections, openPool, type PostgresOptions } from './pool.ts'
import { isConnectionError } from './refusals.ts'
import { assertWritable, cut } from './servers.ts'
import { dbOf } from './transact.ts'

export function openDatabase(given: PostgresOptions): Database {
  const closing = new AbortController()
  const options: PostgresOptions = {
    ...given,
    // What is lost while we take leave is no news.
    onError: (error) => void (closing.signal.aborted || given.onError?.(error)),
  }
  const most = options.connections ?? 10
  const app = openPool(options, { role: 'bellwether_app', max: most, statementSeconds: 10 })
  // A node that froze in the middle must not keep its triggers from the others.
  const engine = openPool(options, {
    role: 'bellwether_engine',
    max: 8,
    statementSeconds: 10,
    idleSeconds: 5,
    // A plan for one trigger is a bad one for five hundred, but where a statement is `kept`.
    settings: { plan_cache_mode: 'force_custom_plan' },
    keepsPlans: true,
  })
  // Planning them costs more than running them. See `forgetPlansOf`.
  const delivery = openPool(options, {
    role: 'bellwether_engine',
    max: 3,
    statementSeconds: 10,
    idleSeconds: 5,
    settings: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
    keepsPlans: true,
  })
  const operator = openPool(options, { role: 'bellwether_operator', max: 3, statementSeconds: 5 })
  const maintenance = openPool(options, {
    role: 'bellwether_operator',
    max: 1,
    statementSeconds: 120,
  })
  const reports = openPool(options, { role: 'bellwether_app', max: 4, statementSeconds: 120 })
  const pools = [app, engine, delivery, operator, maintenance, reports]
  const listeners = new Set<pg.Client>()
  const heartbeat = options.heartbeat
    ? startHeartbeat(options.url, () => {
        pools.forEach(({ pool }) => cutConnections(pool))
        listeners.forEach(cut)
      })
    : undefined

  return {
    forBusiness: (businessId, user) => dbOf(app, { businessId, user }),
    reportsOf: (businessId) => dbOf(reports, { businessId, user: 'SYSTEM' }),
    engine: dbOf(engine, { user: 'SYSTEM' }),
    delivery: dbOf(delivery, { user: 'SYSTEM' }),
    operator: dbOf(operator, { user: 'OPERATOR' }),
    maintenance: dbOf(maintenance, { user: 'OPERATOR' }),
    readTime: async () => {
      const { rows } = await operator.pool.query(
        'select extract(epoch from clock_timestamp()) * 1000 as ms',
      )
      return Number(rows[0].ms)
    },
    checkWritable: () => checkWritable(operator.pool),
    listen: (channel, heard, onListening) =>
      listen(options, listeners, channel, { heard, onListening }),
    close: async () => {
      closing.abort()
      await heartbeat?.stop()
      await Promise.all(pools.map(({ pool }) => pool.end()))
    },
  }
}

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
