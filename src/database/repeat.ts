import { setTimeout as sleep } from 'node:timers/promises'

export type Repeated = { stop(): Promise<void> }

/** Runs `work` until it is stopped, with a pause after each run. After an error the next run tries again. */
export function repeat(pauseMs: number, work: (signal: AbortSignal) => Promise<unknown>): Repeated {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    while (!signal.aborted) {
      await work(signal).catch(() => {})
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  const running = run()
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}
