import { simulateRuns } from './simulated-runs.ts'
import type { Message } from './simulation-processes.ts'

// A process that simulates runs for its parent, see simulation-processes.ts.
const send = (message: Message) => process.send!(message)
const waiting: ((seed: number | undefined) => void)[] = []
process.on('message', ({ seed }: { seed?: number }) => waiting.shift()!(seed))
process.once('disconnect', () => process.exit(1)) // the parent has ended

await simulateRuns({
  nextSeed: () => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    waiting.push(resolve)
    send({ asksForSeed: true })
    return promise
  },
  onResult: (seed, result) => send({ seed, result }),
  onRepeat: (seed) => send({ repeats: seed }),
})
process.exit(0)
