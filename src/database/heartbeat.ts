import type pg from 'pg'
import { isReadOnly } from './postgres-errors.ts'
import { repeatEvery, type Repeated } from '../repeat.ts'
import { assertWritable, cut, newClient } from './servers.ts'

const EVERY_MS = 3_000
const TIMEOUT_MS = 6_000

/** Shared by all nodes. A program that migrates the schema waits until it is the only one that has it. */
export const NODE_LOCK = 7_230_004

export const UPGRADE_CHANNEL = 'bellwether_upgrade'

type Events = {
  /** Called within 10 s after the connections became useless, and again until a server accepts writes. */
  onBroken(): void
  /** A newer program wants to migrate the schema, or is doing so: this node must stop. */
  onUpgrade(): void
}

/**
 * Asks the server every 3 s whether it accepts writes: a connection can die without an error, or lead
 * to a standby after a failover. The same connection tells programs that migrate that this node is running.
 */
export function startHeartbeat(url: string, { onBroken, onUpgrade }: Events): Repeated {
  let client: pg.Client | undefined
  const beating = repeatEvery(EVERY_MS, async (signal) => {
    try {
      client ??= await connect(url, onUpgrade)
      await assertWritable(client)
    } catch (error) {
      if (!signal.aborted && (isTimeout(error) || isReadOnly(error))) onBroken()
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

async function connect(url: string, onUpgrade: () => void) {
  const client = newClient(url, {
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: 'bellwether_heartbeat',
  })
  client.on('notification', onUpgrade)
  await client.connect()
  await client.query(`listen ${UPGRADE_CHANNEL}`)
  const { rows } = await client.query('select pg_try_advisory_lock_shared($1) as locked', [
    NODE_LOCK,
  ])
  if (!rows[0].locked) onUpgrade()
  return client
}

/** Other connections notice an error themselves, but not a missing answer. */
const isTimeout = (error: unknown) => error instanceof Error && /timeout/i.test(error.message)
