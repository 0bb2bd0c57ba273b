import type { TestContext } from 'node:test'

/** A seeded source: the same seed gives the same run. */
export function randomFrom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!
  const chance = (probability: number) => next() < probability
  return { next, below, pick, chance }
}

export type Random = ReturnType<typeof randomFrom>

/** `npm run proof:…` runs the whole proof; `npm test` as much of it as its time allows. */
export const isFull = process.env.PROOF === 'full'

/** How long services may take to empty their queues: a killed node holds its claims for a lease. */
export const EMPTY_QUEUES_MS = isFull ? 600_000 : 60_000

/** `npm test` must give the same result every time; only a full proof chooses a new seed. */
const FIXED_SEED = 20_261_116

/** The seed of a random test, printed before its first use. `PROOF_SEED` repeats a failed run. */
export function proofSeed(t: Pick<TestContext, 'diagnostic'>) {
  const chosen = isFull ? Math.floor(Math.random() * 2 ** 31) : FIXED_SEED
  const seed = Number(process.env.PROOF_SEED ?? chosen)
  t.diagnostic(`PROOF_SEED=${seed}`)
  return seed
}
