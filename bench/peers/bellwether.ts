import { createEngine } from '../../src/automation/engine.ts'
import type { Database } from '../../src/database/database.ts'
import type { Contender, Stage } from './stage.ts'
import { capturing } from '../../test/support/capturing-engine.ts'

type Ended = (endings: { scheduledTime: Temporal.Instant }[]) => void

/** The engine as a node runs it, except that it captures mails. */
export const startEngine = (database: Database, onEnded?: Ended) =>
  createEngine({
    database,
    clock: { now: () => Temporal.Now.instant() },
    ...capturing(),
    onError: (error) => console.error(error),
    ...(onEnded && { onEnded }),
  })

export const bellwether = ({ database }: Stage): Contender => ({
  name: 'Bellwether',
  fire: async (ids) => {
    const { fired, ms } = await fireAll(database, ids.length)
    if (fired !== ids.length) throw new Error(`${fired} of ${ids.length} fired`)
    return (fired / ms) * 1000
  },
})

/** Runs an engine until `count` triggers have ended. */
export async function fireAll(database: Database, count: number) {
  let fired = 0
  const all = Promise.withResolvers<void>()
  const engine = startEngine(database, (endings) => {
    fired += endings.length
    if (fired >= count) all.resolve()
  })
  const stopping = new AbortController()
  const startedAt = performance.now()
  const stopped = engine.run(stopping.signal)
  await all.promise
  const ms = performance.now() - startedAt
  stopping.abort()
  await stopped
  return { fired, ms }
}
