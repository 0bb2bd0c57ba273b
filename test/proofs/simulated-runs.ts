import { asOwner } from '../support/owner.ts'
import { Disturbed } from './interleave.ts'
import { playRun, startWorld, type Mutation, type Told, type World } from './simulation.ts'

export type Playing = {
  /** The seed of the next run; none when enough were played. */
  next(): number | undefined | Promise<number | undefined>
  tell(seed: number, told: Told): void
  /** The machine played a part that it should not: it is played again. */
  disturbed(seed: number): void
  mutation?: Mutation
  without?: string[]
}

/** Plays simulated runs concurrently, each in a world of its own. */
export async function playRuns(playing: Playing) {
  await Promise.all(Array.from({ length: WORLDS }, () => playOneByOne(playing)))
}

/** While one waits for the server another goes on. */
const WORLDS = 3

async function playOneByOne({ next, tell, disturbed, mutation, without = [] }: Playing) {
  let seed = await next()
  let opened = seed === undefined ? undefined : await openWorld(without)
  while (opened && seed !== undefined) {
    const told = await playUndisturbed(opened.world, seed, mutation)
    if (told) {
      tell(seed, told)
      seed = await next()
    } else {
      disturbed(seed)
      // Somebody may still be at something there.
      void opened.close().catch(() => {})
      opened = await openWorld(without)
    }
  }
  await opened?.close()
}

async function openWorld(without: string[]) {
  const ends: (() => unknown)[] = []
  const world = await startWorld({ after: (end) => void ends.push(end) })
  await asOwner(world.database, ...without)
  const close = async () => {
    for (const end of ends.toReversed()) await end()
  }
  return { world, close }
}

/** Nothing where the machine played a part that it should not. */
async function playUndisturbed(world: World, seed: number, mutation?: Mutation) {
  try {
    return await playRun(world, seed, mutation)
  } catch (error) {
    if (error instanceof Disturbed) return undefined
    throw error
  }
}
