import { monotonicMs } from '../../clock.ts'
import type { Database, Db } from '../../database/database.ts'
import {
  findLastChangeId,
  listChanges,
  readChangeHint,
  type AuditChange,
  type ChangeHint,
} from '../../store/changes.ts'

/** The changes of a business since the last batch. Each listener filters them. */
export type ChangeBatch = {
  /** `many` if there are more than MAX_NAMED_CHANGES. */
  audited: AuditChange[] | 'many'
  triggerIds: number[] | 'many'
  /** A listener that has received this batch can resume here. */
  position: number
}

type ChangeListener = (batch: ChangeBatch) => void

/** Above this, changes are reported as `many`. */
export const MAX_NAMED_CHANGES = 1_000

/** Hints cause a read at most this often. */
const READ_EVERY_MS = 100
/** Polling without a hint: CLI commands send none, and a hint can be lost. */
const POLL_MS = 5_000
/** Transactions do not commit in the order of their audit ids. Entries are read again for this long. */
const LATE_COMMIT_MS = 30_000

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
      await feed.started
    } catch (error) {
      stop()
      throw error
    }
    return { position: () => feed.position, stop }
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
  readonly started: Promise<void>
  readonly #db: Db
  readonly #businessId: number
  readonly #onError: (error: unknown) => void
  /** All changes up to this audit id were sent. A listener can resume here. */
  position = 0
  /** The changes after `position` that were sent already. */
  #sent = new Set<number>()
  #lastSent = 0
  /** Changes up to `id` were sent. `position` moves there when no transaction can commit late any more. */
  #settling: { id: number; since: number } | undefined
  /** Whether a hint arrived since the last read began. */
  #hasHint = false
  #heardIds = new Set<number>()
  #heardMany = false
  #timer: NodeJS.Timeout | undefined
  #nextReadAt = 0
  #hasStarted = false
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
    this.#skipTo(await findLastChangeId(this.#db, this.#businessId))
    this.#hasStarted = true
    this.#readIn(this.#hasHint ? 0 : POLL_MS)
  }

  hear({ triggerIds }: ChangeHint) {
    this.#hasHint = true
    if (triggerIds === 'many') this.#heardMany = true
    else for (const id of triggerIds) this.#heardIds.add(id)
    if (this.#heardIds.size > MAX_NAMED_CHANGES) this.#heardMany = true
    if (this.#heardMany) this.#heardIds.clear()
    // Without a position, a read would send all changes that the business ever had.
    if (this.#hasStarted) this.#readIn(Math.max(0, this.#nextReadAt - monotonicMs()))
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
    const rows = await listChanges(this.#db, this.#businessId, {
      after: this.position,
      limit: MAX_NAMED_CHANGES + 1,
    })
    let audited: ChangeBatch['audited'] = rows.filter(({ auditId }) => !this.#sent.has(auditId))
    if (rows.length > MAX_NAMED_CHANGES) {
      audited = 'many'
      this.#skipTo(await findLastChangeId(this.#db, this.#businessId))
    }
    const triggerIds = this.#heardMany ? 'many' : [...this.#heardIds]
    this.#heardMany = false
    this.#heardIds.clear()
    if (audited !== 'many') for (const { auditId } of audited) this.#remember(auditId)
    this.#settle()
    for (const listener of this.listeners)
      listener({ audited, triggerIds, position: this.position })
  }

  #remember(auditId: number) {
    this.#sent.add(auditId)
    this.#lastSent = Math.max(this.#lastSent, auditId)
  }

  #skipTo(auditId: number) {
    this.position = auditId
    this.#lastSent = auditId
    this.#sent.clear()
    this.#settling = undefined
  }

  #settle() {
    const now = monotonicMs()
    if (this.#settling && now - this.#settling.since >= LATE_COMMIT_MS) {
      this.position = this.#settling.id
      for (const id of this.#sent) if (id <= this.position) this.#sent.delete(id)
      this.#settling = undefined
    }
    if (this.#lastSent > this.position) this.#settling ??= { id: this.#lastSent, since: now }
  }
}
