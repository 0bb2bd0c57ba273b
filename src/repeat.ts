import { setTimeout as sleep } from 'node:timers/promises'

/** Work that a node repeats until it stops. Every loop can run on any number of nodes. */
export type Loop = {
  name: string
  /** Does one step; returns how many items it processed. */
  runOnce(stopping?: AbortSignal): Promise<number>
  /** Waits after a step that processed nothing. */
  rest(stopping: AbortSignal): Promise<void>
}

type Repeatable = Pick<Loop, 'runOnce' | 'rest'> & { name?: string }
type Running = { stopping: AbortSignal; onError(error: unknown): void }

/** Runs a loop until told to stop. A failed step is reported and tried again after a pause. */
export async function repeat(loop: Repeatable, { stopping, onError }: Running) {
  while (!stopping.aborted) {
    try {
      if ((await loop.runOnce(stopping)) === 0) await loop.rest(stopping)
    } catch (error) {
      onError(error)
      await pause(AFTER_ERROR_MS, stopping)
    }
  }
}

const AFTER_ERROR_MS = 500

export const pause = (ms: number, stopping: AbortSignal, { ref = true } = {}) =>
  sleep(ms, undefined, { signal: stopping, ref }).catch(() => {})

export type Repeated = { stop(): Promise<void> }

/** Runs `work` until it is stopped, with the same pause after each run, also after an error. */
export function repeatEvery(
  pauseMs: number,
  work: (stopping: AbortSignal) => Promise<unknown>,
): Repeated {
  const stopping = new AbortController()
  const { signal } = stopping
  const runOnce = () =>
    work(signal).then(
      () => 0,
      () => 0,
    )
  const rest = () => pause(pauseMs, signal, { ref: false })
  const running = repeat({ runOnce, rest }, { stopping: signal, onError: () => {} })
  return {
    stop: () => {
      stopping.abort()
      return running
    },
  }
}
