import type pg from 'pg'
import { monotonicMs } from '../clock.ts'

/** The channels, each with the shortest time between two notifications of a node. */
const CHANNELS = {
  /** Wakes the engines. */
  bellwether_due: 20,
  /** Wakes the streams of `GET /changes`. */
  bellwether_changes: 100,
} as const

export type Channel = keyof typeof CHANNELS

type Pending = { notBefore: number; payloads: Set<string> }
const pendingOfPool = new WeakMap<pg.Pool, Map<Channel, Pending>>()

/**
 * Notifies outside of the transaction: PostgreSQL commits only one notifying transaction at a time. One
 * statement sends all payloads since the last one.
 */
export function hintSoon(pool: pg.Pool, channel: Channel, payload: string) {
  const channels = pendingOfPool.get(pool) ?? new Map<Channel, Pending>()
  pendingOfPool.set(pool, channels)
  const pending = channels.get(channel) ?? { notBefore: 0, payloads: new Set() }
  channels.set(channel, pending)
  const isScheduled = pending.payloads.size > 0
  pending.payloads.add(payload)
  if (isScheduled) return
  const wait = Math.max(0, pending.notBefore - monotonicMs())
  setTimeout(() => {
    const payloads = [...pending.payloads]
    pending.payloads.clear()
    pending.notBefore = monotonicMs() + CHANNELS[channel]
    if (pool.ending) return
    // If it is lost, the listeners find the work in their next periodic run.
    pool.query(NOTIFY, [channel, payloads]).catch(() => {})
  }, wait)
}

const NOTIFY = `select pg_notify($1, payload) from unnest($2::text[]) payload`
