import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { isReadOnly } from './refusals.ts'
import { assertWritable, cut, newClient } from './servers.ts'

export type Heartbeat = { stop(): Promise<void> }

const EVERY_MS = 3_000
const TIMEOUT_MS = 6_000

/**
 * Asks the server every 3 s whether it accepts writes. A connection can die without an error (a
 * pulled cable, a firewall), and after a failover it can lead to a standby. `broken` is called within
 * 10 s, and again until a server accepts writes.
 */
export function startHeartbeat(url: string, broken: () => void): Heartbeat {
  const stopping = new AbortController()
  const { signal } = stopping

  const beat = async () => {
    let client: pg.Client | undefined
    while (!signal.aborted) {
      try {
        client ??= await connect(url)
        await assertWritable(client)
      } catch (error) {
        if (!signal.aborted && (isTimeout(error) || isReadOnly(error))) broken()
        cut(client)
        client = undefined
      }
      await sleep(EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
    }
    await client?.end().catch(() => {})
  }
  const beating = beat()
  return {
    stop: () => {
      stopping.abort()
      return beating
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
