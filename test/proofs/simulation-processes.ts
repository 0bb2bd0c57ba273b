import { fork } from 'node:child_process'
import path from 'node:path'
import type { Series } from './simulated-runs.ts'
import type { RunResult } from './simulation.ts'

/** A message of a process: it asks for a seed, reports a result, or repeats a run. */
export type Message =
  | { asksForSeed: true }
  | { seed: number; result: RunResult }
  | { repeats: number }

/**
 * Simulates runs in this many processes, as one process uses one core. They run without the test runner,
 * which follows every promise and would take half as much time again.
 */
export async function simulateInProcesses(count: number, { nextSeed, onResult, onRepeat }: Series) {
  let isOver = false
  const simulate = async () => {
    // Most objects of a run are short-lived: with a large young generation, few are copied.
    const child = fork(PROCESS, { execArgv: ['--max-semi-space-size=32'] })
    child.on('message', async (message: Message) => {
      if ('result' in message) onResult(message.seed, message.result)
      else if ('repeats' in message) onRepeat(message.repeats)
      else child.send({ seed: isOver ? undefined : await nextSeed() })
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`a simulation process ended: ${signal ?? code}`)),
    )
    // If one fails, the others stop after their runs.
    await promise.finally(() => (isOver = true))
  }
  await Promise.all(Array.from({ length: count }, simulate))
}

const PROCESS = path.join(import.meta.dirname, 'simulation-process.ts')
