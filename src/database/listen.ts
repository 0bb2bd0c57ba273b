import pg from 'pg'
import type { PostgresOptions } from './pool.ts'
import { repeatEvery } from '../repeat.ts'
import { cut, newClient } from './servers.ts'

const RECONNECT_MS = 1_000

/** Listens on one connection, and opens a new one a second after it was lost. Returns at once. */
export function listen(
  { url, onError }: PostgresOptions,
  listeners: Set<pg.Client>,
  channel: string,
  {
    onNotification,
    onListening,
  }: { onNotification: (payload: string) => void; onListening?: (() => void) | undefined },
) {
  const listening = repeatEvery(RECONNECT_MS, async (signal) => {
    const client = newClient(url, { keepAlive: true })
    listeners.add(client)
    const ended = new Promise((resolve) => client.once('end', resolve))
    const leave = () => void client.end().catch(() => {})
    client.on('notification', ({ payload }) => onNotification(payload ?? ''))
    client.on('error', (error) => onError?.(error))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      onListening?.()
      signal.addEventListener('abort', leave)
      if (signal.aborted) leave()
      await ended
    } finally {
      signal.removeEventListener('abort', leave)
      listeners.delete(client)
      cut(client)
    }
  })
  return listening.stop
}
