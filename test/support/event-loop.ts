import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { assertWithin } from './within.ts'

/** A request may block others for at most this long. */
const MAX_BLOCK_MS = 100
/** A busy machine stays below it; work that belongs in another thread takes several seconds. */
const MAX_BLOCK_ON_A_BUSY_MACHINE_MS = 1_000

/** Fails if `work` blocks the event loop for a second; `npm run proof:durations` allows 100 ms. */
export async function assertNeverBlocks<T>(t: TestContext, what: string, work: () => Promise<T>) {
  const { result, longest } = await measureBlocks(work)
  assert.ok(longest < MAX_BLOCK_ON_A_BUSY_MACHINE_MS, `${what}: blocked for ${longest} ms`)
  assertWithin(t, { what: `${what}: longest block`, tookMs: longest, limitMs: MAX_BLOCK_MS })
  return result
}

/**
 * The most CPU time, in milliseconds, that this thread used between two timers of one millisecond
 * while `work` ran: how long any other request would have waited for the event loop. CPU time does
 * not count the time that a busy machine gives to other processes, but caches that they share make
 * it longer.
 */
async function measureBlocks<T>(work: () => Promise<T>) {
  let isDone = false
  let longest = 0
  const sample = async () => {
    for (let before = cpuMs(); !isDone;) {
      await wait(1)
      const now = cpuMs()
      longest = Math.max(longest, now - before)
      before = now
    }
  }
  const sampling = sample()
  const result = await work().finally(() => (isDone = true))
  await sampling
  return { result, longest }
}

function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
