import { monotonicMs } from '../../clock.ts'
import type { Database, Db } from '../../database/database.ts'
import {
  listUnseenChanges,
  readChangeHint,
  readSeenChanges,
  type AuditChange,
  type ChangeHint,
  type SeenChanges,
} from '../../store/changes.ts'

/** The changes of a business since the last batch. Each listener filters them. */
export type ChangeBatch = {
  /** `many` if there are more than MAX_NAMED_CHANGES. */
  audited: AuditChange[] | 'many'
  triggerIds: number[] | 'many'
  /** What a listener that has received this batch has seen. */
  seen: SeenChanges
}

type ChangeListener = (batch: ChangeBatch) => void

/** Above this, changes are reported as `many`. */
export const MAX_NAMED_CHANGES = 1_000

/** Hints cause a read at most this often. */
const READ_EVERY_MS = 100
/** Polling without a hint: CLI commands send none, and a hint can be lost. */
const POLL_MS = 5_000

/** Reads the changes of businesses that have listeners. */
export class ChangeFeed {
  readonly #database: Database
  readonly #onError: (error: unknown) => void
  readonly #businesses = new Map<number, BusinessFeed>()
  #stopHearing: (() => Promise<void>) | undefined

  constructor(database: Database, onError: (error: unknown) => void) {
    this.#database = database
    this.#onError = onError
  }

  /** Throws if the database cannot be reached. */
  async listen(businessId: number, listener: ChangeListener) {
    this.#stopHearing ??= this.#database.listen(
      'bellwether_changes',
      (payload) => {
        const hint = readChangeHint(payload)
        this.#businesses.get(hint.businessId)?.hear(hint)
      },
      // After a reconnect: hints may have been lost.
      () => {
        for (const [businessId, feed] of this.#businesses) {
          feed.hear({ businessId, triggerIds: 'many' })
        }
      },
    )
    let feed = this.#businesses.get(businessId)
    if (!feed) {
      feed = new BusinessFeed(
        this.#database.forBusiness(businessId, 'SYSTEM'),
        businessId,
        this.#onError,
      )
      this.#businesses.set(businessId, feed)
    }
    feed.listeners.add(listener)
    const stop = () => this.#leave(businessId, listener)
    try {
      const seen = await feed.started
      return { seen: () => feed.seen ?? seen, stop }
    } catch (error) {
      stop()
      throw error
    }
  }

  #leave(businessId: number, listener: ChangeListener) {
    const feed = this.#businesses.get(businessId)
    feed?.listeners.delete(listener)
    if (feed?.listeners.size === 0) {
      feed.stop()
      this.#businesses.delete(businessId)
    }
    if (this.#businesses.size === 0) void this.close()
  }

  async close() {
    const stopHearing = this.#stopHearing
    this.#stopHearing = undefined
    for (const feed of this.#businesses.values()) feed.stop()
    this.#businesses.clear()
    await stopHearing?.()
  }
}

/** One reader for all listeners of a business. */
class BusinessFeed {
  readonly listeners = new Set<ChangeListener>()
  readonly started: Promise<SeenChanges>
  readonly #db: Db
  readonly #businessId: number
  readonly #onError: (error: unknown) => void
  /** These changes were sent. Unset until the feed has started. */
  seen: SeenChanges | undefined
  /** Whether a hint arrived since the last read began. */
  #hasHint = false
  #heardIds = new Set<number>()
  #heardMany = false
  #timer: NodeJS.Timeout | undefined
  #nextReadAt = 0
  #isReading = false
  #isStopped = false

  constructor(db: Db, businessId: number, onError: (error: unknown) => void) {
    this.#db = db
    this.#businessId = businessId
    this.#onError = onError
    this.started = this.#start()
    // The listener that is being added awaits it; the next one starts another feed.
    this.started.catch(() => {})
  }

  async #start() {
    this.seen = await readSeenChanges(this.#db)
    this.#readIn(this.#hasHint ? 0 : POLL_MS)
    return this.seen
  }

  hear({ triggerIds }: ChangeHint) {
    this.#hasHint = true
    if (triggerIds === 'many') this.#heardMany = true
    else for (const id of triggerIds) this.#heardIds.add(id)
    if (this.#heardIds.size > MAX_NAMED_CHANGES) this.#heardMany = true
    if (this.#heardMany) this.#heardIds.clear()
    // Without a position, a read would send all changes that the business ever had.
    if (this.seen) this.#readIn(Math.max(0, this.#nextReadAt - monotonicMs()))
  }

  stop() {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #readIn(ms: number) {
    clearTimeout(this.#timer)
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#read(), ms)
  }

  async #read() {
    // The next read handles hints that arrive during this one.
    if (this.#isReading) return this.#readIn(READ_EVERY_MS)
    this.#isReading = true
    try {
      await this.#notifyListeners()
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#isReading = false
      this.#nextReadAt = monotonicMs() + READ_EVERY_MS
      this.#readIn(this.#hasHint ? READ_EVERY_MS : POLL_MS)
    }
  }

  async #notifyListeners() {
    this.#hasHint = false
    const { changes, now } = await listUnseenChanges(this.#db, this.#businessId, {
      seen: this.seen!,
      limit: MAX_NAMED_CHANGES + 1,
    })
    // After a failover the transactions have other ids.
    const isMany = now.epoch !== this.seen!.epoch || changes.length > MAX_NAMED_CHANGES
    this.seen = now
    const triggerIds = this.#heardMany ? 'many' : [...this.#heardIds]
    this.#heardMany = false
    this.#heardIds.clear()
    const batch: ChangeBatch = { audited: isMany ? 'many' : changes, triggerIds, seen: now }
    for (const listener of this.listeners) listener(batch)
  }
}
