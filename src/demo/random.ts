/** Pseudo-random numbers: the same for the same seed on every machine (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to just below 1. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(share: number) {
    return this.next() < share
  }

  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number) {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.next() * choices.length)]!
  }

  /** A choice in proportion to its weight. */
  pickWeighted<T extends string>(weights: Record<T, number>): T {
    const entries = Object.entries(weights) as [T, number][]
    let rest = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [choice, weight] of entries) {
      rest -= weight
      if (rest < 0) return choice
    }
    return entries.at(-1)![0]
  }

  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = this.between(0, i)
      ;[items[i], items[j]] = [items[j]!, items[i]!]
    }
    return items
  }
}
