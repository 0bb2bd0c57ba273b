/** A map of at most `max` entries: a new entry evicts the least recently used one. */
export class RecentlyUsed<Key, Value> {
  readonly #max: number
  /** Least recently used first. */
  readonly #entries = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: Key, value: Value) {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!)
  }

  delete(key: Key) {
    this.#entries.delete(key)
  }
}
