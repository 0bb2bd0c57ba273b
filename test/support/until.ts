import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something to become true in another process; how long it took, in milliseconds. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 60_000) {
  const startedAt = performance.now()
  while (!(await condition())) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms`)
    await sleep(10)
  }
  return performance.now() - startedAt
}
