type Options<Key, Value> = {
  /** Counts this for an entry instead of 1. */
  sizeOf?: (key: Key, value: Value) => number
}

/** A map of entries up to a total size of `max`: a new entry evicts the least recently used ones. */
export class RecentlyUsed<Key, Value> {
  readonly #max: number
  readonly #sizeOf: (key: Key, value: Value) => number
  #size = 0
  /** The entry that was used last. */
  #newest: Key | undefined
  /** Least recently used first. */
  readonly #entries = new Map<Key, Value>()

  constructor(max: number, { sizeOf = () => 1 }: Options<Key, Value> = {}) {
    this.#max = max
    this.#sizeOf = sizeOf
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && key !== this.#newest) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
      this.#newest = key
    }
    return value
  }

  /** The value of the key, or a new one. */
  getOrMake(key: Key, make: () => Value): Value {
    let value = this.get(key)
    if (value === undefined) this.set(key, (value = make()))
    return value
  }

  set(key: Key, value: Value) {
    this.delete(key)
    this.#entries.set(key, value)
    this.#newest = key
    this.#size += this.#sizeOf(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#max) break
      this.delete(oldest)
    }
  }

  delete(key: Key) {
    const value = this.#entries.get(key)
    if (value !== undefined && this.#entries.delete(key)) this.#size -= this.#sizeOf(key, value)
  }
}
