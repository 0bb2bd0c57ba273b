import type pg from 'pg'
import { monotonicMs } from '../clock.ts'

const hinting = new WeakMap<pg.Pool, Map<string, { next: number; isWaiting: boolean }>>()
const BETWEEN_HINTS_MS = 20

/**
 * Not in the transaction itself: the server lets only one that notifies commit at a time, the next
 * one after its disk. And one hint serves all that was committed before it.
 */
export function hintSoon(pool: pg.Pool, channel: string) {
  const channels = hinting.get(pool) ?? new Map()
  hinting.set(pool, channels)
  const state = channels.get(channel) ?? { next: 0, isWaiting: false }
  channels.set(channel, state)
  if (state.isWaiting) return
  state.isWaiting = true
  const wait = Math.max(0, state.next - monotonicMs())
  setTimeout(() => {
    state.isWaiting = false
    state.next = monotonicMs() + BETWEEN_HINTS_MS
    if (pool.ending) return
    // Where it is lost, whoever waits for it looks by itself before long.
    pool.query(NOTIFY, [channel]).catch(() => {})
  }, wait)
}

const NOTIFY = `select pg_notify($1, '')`
