import { setImmediate as nextIteration } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'

/**
 * Shares the event loop during long synchronous work: `if (slice.isOver()) await slice.next()` between
 * two pieces of it lets requests and the mail server's replies through every 10 ms.
 */
export class TimeSlice {
  #since = monotonicMs()

  isOver() {
    return monotonicMs() - this.#since > SLICE_MS
  }

  async next() {
    await nextIteration()
    this.#since = monotonicMs()
  }
}

const SLICE_MS = 10
