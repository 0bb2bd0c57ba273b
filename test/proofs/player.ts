import { playRuns } from './simulated-runs.ts'
import type { Word } from './players.ts'

// A process that plays simulated runs for another, see players.ts.
const say = (word: Word) => process.send!(word)
const waiting: ((seed: number | undefined) => void)[] = []
process.on('message', ({ seed }: { seed?: number }) => waiting.shift()!(seed))
process.once('disconnect', () => process.exit(1)) // nobody is left to tell

await playRuns({
  next: () => {
    const { promise, resolve } = Promise.withResolvers<number | undefined>()
    waiting.push(resolve)
    say({ ask: true })
    return promise
  },
  tell: (seed, told) => say({ seed, told }),
  disturbed: (seed) => say({ disturbed: seed }),
})
process.exit(0)
