import type pg from 'pg'
import { isReadOnly } from './postgres-errors.ts'
import { repeat, type Repeated } from './repeat.ts'
import { assertWritable, cut, newClient } from './servers.ts'

const EVERY_MS = 3_000
const TIMEOUT_MS = 6_000

/**
 * Asks the server every 3 s whether it accepts writes: a connection can die without an error, or lead
 * to a standby after a failover. `broken` is called within 10 s, and again until a server accepts writes.
 */
export function startHeartbeat(url: string, broken: () => void): Repeated {
  let client: pg.Client | undefined
  const beating = repeat(EVERY_MS, async (signal) => {
    try {
      client ??= await connect(url)
      await assertWritable(client)
    } catch (error) {
      if (!signal.aborted && (isTimeout(error) || isReadOnly(error))) broken()
      cut(client)
      client = undefined
    }
  })
  return {
    stop: async () => {
      await beating.stop()
      await client?.end().catch(() => {})
    },
  }
}

async function connect(url: string) {
  const client = newClient(url, {
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'bellwether_heartbeat',
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Other connections notice an error themselves, but not a missing answer. */
const isTimeout = (error: unknown) => error instanceof Error && /timeout/i.test(error.message)
