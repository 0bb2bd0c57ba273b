import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const MAX_PAUSE_MS = 30

/**
 * Waits for a condition to become true; returns how long that took, in milliseconds. The deadline
 * only ends a test that would hang. A wait that needs longer than 30 s on an idle machine names its own.
 */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 30_000) {
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 1.5)) {
    if (elapsedMs() > onThisMachine(withinMs)) throw new Error(`not within ${withinMs} ms`)
    await sleep(pauseMs)
  }
  return elapsedMs()
}

/** The time that work of this duration takes while as many processes as now share the cores. */
export const onThisMachine = (ms: number) =>
  ms * Math.max(1, loadavg()[0]! / availableParallelism())
