import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for a condition to become true; returns how long that took, in milliseconds. The deadline
 * only ends a test that would hang: it is far beyond what a busy machine needs.
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 300_000) {
  const startedAt = performance.now()
  while (!(await condition())) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms`)
    await sleep(10)
  }
  return performance.now() - startedAt
}
