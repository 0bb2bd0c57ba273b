import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export type Heartbeat = { stop(): Promise<void> }

const EVERY_MS = 3_000
const PATIENCE_MS = 6_000

/**
 * Asks the server every few seconds whether it is still there. A connection can die without a word
 * (a pulled cable, a firewall that forgot it): whoever waits on one then waits in vain, so `broken`
 * is called within 10 s, and again until an answer comes.
 */
export function startHeartbeat(config: pg.ClientConfig, broken: () => void): Heartbeat {
  const stopping = new AbortController()
  const { signal } = stopping

  const beat = async () => {
    let client: pg.Client | undefined
    while (!signal.aborted) {
      try {
        client ??= await connect(config)
        await client.query('select 1')
      } catch (error) {
        if (!signal.aborted && wentUnanswered(error)) broken()
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

async function connect(config: pg.ClientConfig) {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    application_name: 'bellwether_heartbeat',
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** A server that refuses has said so to everyone; only silence must be passed on. */
const wentUnanswered = (error: unknown) => error instanceof Error && /timeout/i.test(error.message)

/** Ends a connection without a farewell: one that is dead would never answer it. */
export function cut(client: pg.Client | undefined) {
  const { stream } = (client as { connection?: { stream?: { destroy(): void } } })?.connection ?? {}
  stream?.destroy()
}
