import { Width } from './send-limits.ts'

/** How many mails the mail server gets at a time, and for how long one may keep its place. */
export type PlaceLimits = {
  /** Mails at a time that the server answers in time. */
  connections: number
  /** A mail that has waited this long for an answer hangs: another mail gets its place. */
  hangingMs: number
}

/** So many connections for each of `connections`, if mails hang. */
const MAX_CONNECTIONS_FACTOR = 5

/**
 * The mails that are being sent. A mail that hangs does not count, so that a server that hangs with
 * some mails still gets the others. All mails together have five times as many connections, and a
 * business can use half of those that the others leave: none can keep the others from sending.
 */
export class Places {
  readonly #limits: PlaceLimits
  readonly #max: number
  readonly #width: Width
  readonly #onFree: () => void
  readonly #ofBusiness = new Map<number, number>()
  #taken = 0
  #hanging = 0

  constructor(limits: PlaceLimits, onFree: () => void) {
    this.#limits = limits
    this.#max = limits.connections * MAX_CONNECTIONS_FACTOR
    this.#width = new Width(limits.connections)
    this.#onFree = onFree
  }

  /** How many more mails can begin now. */
  get free() {
    return Math.min(this.#width.current - this.#answering, this.#max - this.#taken)
  }

  /** How many mails may be sent and wait to be sent, without those that hang. */
  get width() {
    return this.#width.current
  }

  get taken() {
    return this.#taken
  }

  /** Whether a business has as many mails as it may have, so that others keep a place. */
  isFull(businessId: number) {
    const own = this.#ofBusiness.get(businessId) ?? 0
    return own > 0 && own >= Math.floor((this.#max - (this.#taken - own)) / 2)
  }

  /** Returns the function that frees the place. `onHang` is called if the mail hangs. */
  enter(businessId: number, onHang: () => void): () => void {
    let hangs = false
    this.#taken++
    this.#ofBusiness.set(businessId, (this.#ofBusiness.get(businessId) ?? 0) + 1)
    const timer = setTimeout(() => {
      hangs = true
      this.#hanging++
      onHang()
      this.#onFree()
    }, this.#limits.hangingMs)
    return () => {
      clearTimeout(timer)
      if (hangs) this.#hanging--
      this.#taken--
      const left = this.#ofBusiness.get(businessId)! - 1
      if (left > 0) this.#ofBusiness.set(businessId, left)
      else this.#ofBusiness.delete(businessId)
    }
  }

  /** The server refused a connection or a mail because there are too many. */
  narrow() {
    // If mails hang, there were more connections than the limit.
    if (this.#hanging === 0) this.#width.narrow()
  }

  /** The server works again after an outage: the refused connections were a part of it. */
  reset() {
    this.#width.reset()
  }

  widen() {
    this.#width.widen()
  }

  get #answering() {
    return this.#taken - this.#hanging
  }
}
