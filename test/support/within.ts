import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { isFull } from '../proofs/random.ts'

/**
 * Prints how long something took. `npm run proof:durations` also asserts the promised limit, on an
 * idle machine: on a busy one the measurement says nothing about the service.
 */
export function assertWithin(
  t: Pick<TestContext, 'diagnostic'>,
  { what, tookMs, limitMs }: { what: string; tookMs: number; limitMs: number },
) {
  const measured = `${what}: ${Math.round(tookMs)} ms (promised: ${Math.round(limitMs)} ms)`
  t.diagnostic(measured)
  if (isFull) assert.ok(tookMs <= limitMs, measured)
}
