import { setImmediate as nextIteration } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'

/**
 * Shares the event loop during long synchronous work: `if (turn.isOver()) await turn.next()` between
 * two pieces of it lets requests and the mail server's replies through every 10 ms.
 */
export class Turn {
  #since = monotonicMs()

  isOver() {
    return monotonicMs() - this.#since > TURN_MS
  }

  async next() {
    await nextIteration()
    this.#since = monotonicMs()
  }
}

const TURN_MS = 10
