import type { Clock } from '../clock.ts'
import type { Db } from '../database/database.ts'
import { correctStoredTimes } from '../store/set-back.ts'
import type { Deliveries } from './deliver.ts'
import type { FireLoops } from './fire-loops.ts'
import { WakeSignal, MAX_REST_MS } from './loop.ts'
import { type Loop } from '../repeat.ts'

type SetBackParts = { db: Db; clock: Clock; leaseSeconds: number }

type Workers = { fireLoops: FireLoops; deliveries: Deliveries }

/**
 * After the clock of the database was set back, nothing waits for a time that was computed before: times
 * in memory are forgotten, stored ones are corrected. Every node does this when it notices, and again for
 * half a minute: a transaction or a node without an engine may store times of the old clock meanwhile.
 */
export function createSetBackLoop(
  { db, clock, leaseSeconds }: SetBackParts,
  { fireLoops, deliveries }: Workers,
): Loop {
  const noticed = new WakeSignal()
  let stepMs = 0
  let isNew = false
  let correctionsLeft = 0
  clock.onSetBack?.((ms) => {
    stepMs += ms
    isNew = true
    correctionsLeft = CORRECTIONS
    noticed.wake()
  })
  const runOnce = async () => {
    if (correctionsLeft === 0) return 0
    await correctStoredTimes(db, { stepMs, now: clock.now(), leaseSeconds })
    if (isNew) {
      fireLoops.forgetTimes()
      deliveries.forgetTimes()
      isNew = false
    }
    correctionsLeft -= 1
    if (correctionsLeft === 0) stepMs = 0
    return 0
  }
  const rest = (stopping: AbortSignal) =>
    noticed.wait(correctionsLeft > 0 ? CORRECTED_EVERY_MS : MAX_REST_MS, stopping)
  return { name: 'set back', runOnce, rest }
}

const CORRECTIONS = 7
const CORRECTED_EVERY_MS = 5_000
