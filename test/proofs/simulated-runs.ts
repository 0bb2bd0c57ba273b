import { asOwner } from '../support/owner.ts'
import { MachineTooSlow } from './interleave.ts'
import { simulateRun, startWorld, type Mutation, type RunResult, type World } from './simulation.ts'

/** The runs to simulate, and what is done with their results. */
export type Series = {
  /** The seed of the next run; undefined when there are enough. */
  nextSeed(): number | undefined | Promise<number | undefined>
  onResult(seed: number, result: RunResult): void
  /** The machine was too slow for this run, which is repeated. */
  onRepeat(seed: number): void
  mutation?: Mutation
  /** Statements that remove guards from the database. */
  without?: string[]
}

/** Simulates runs concurrently, each in a database of its own. */
export async function simulateRuns(series: Series) {
  await Promise.all(Array.from({ length: CONCURRENT_RUNS }, () => simulateOneByOne(series)))
}

/** While one run waits for the server, the others use the processor. */
const CONCURRENT_RUNS = 3

async function simulateOneByOne({ nextSeed, onResult, onRepeat, mutation, without = [] }: Series) {
  let seed = await nextSeed()
  let opened = seed === undefined ? undefined : await openWorld(without)
  while (opened && seed !== undefined) {
    const result = await simulateUnlessTooSlow(opened.world, seed, mutation)
    if (result) {
      onResult(seed, result)
      seed = await nextSeed()
    } else {
      onRepeat(seed)
      // A statement may still run in the old database.
      void opened.close().catch(() => {})
      opened = await openWorld(without)
    }
  }
  await opened?.close()
}

async function openWorld(without: string[]) {
  const cleanUps: (() => unknown)[] = []
  const world = await startWorld({ after: (cleanUp) => void cleanUps.push(cleanUp) })
  await asOwner(world.database, ...without)
  const close = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp()
  }
  return { world, close }
}

async function simulateUnlessTooSlow(world: World, seed: number, mutation?: Mutation) {
  try {
    return await simulateRun(world, seed, mutation)
  } catch (error) {
    if (error instanceof MachineTooSlow) return undefined
    throw error
  }
}
