/** A seeded source: the same seed gives the same history. */
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

/** Printed by every proof, so that a failed one can be run again with `PROOF_SEED`. */
export const proofSeed = () => Number(process.env.PROOF_SEED ?? Math.floor(Math.random() * 2 ** 31))
