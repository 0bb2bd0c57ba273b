import { fork } from 'node:child_process'
import path from 'node:path'
import type { Playing } from './simulated-runs.ts'
import type { Told } from './simulation.ts'

/** What a player says: it asks for a seed, or how one went, or that it goes again. */
export type Word = { ask: true } | { seed: number; told: Told } | { disturbed: number }

/**
 * Plays simulated runs in so many processes of their own: one uses one core. And there no test runner
 * follows each promise, which would cost half as much again.
 */
export async function playInProcesses(count: number, { next, tell, disturbed }: Playing) {
  let isOver = false
  const play = async () => {
    // Few of the objects of a simulated run live on: where there is room they need no moving.
    const player = fork(PLAYER, { execArgv: ['--max-semi-space-size=32'] })
    player.on('message', async (word: Word) => {
      if ('told' in word) tell(word.seed, word.told)
      else if ('disturbed' in word) disturbed(word.disturbed)
      else player.send({ seed: isOver ? undefined : await next() })
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    player.once('error', reject)
    player.once('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`a player ended: ${signal ?? code}`)),
    )
    // The others need not go on.
    await promise.finally(() => (isOver = true))
  }
  await Promise.all(Array.from({ length: count }, play))
}

const PLAYER = path.join(import.meta.dirname, 'player.ts')
