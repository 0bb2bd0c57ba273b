import { monotonicMs } from '../../clock.ts'
import type { Database, Db } from '../../database/database.ts'
import {
  findLastChangeId,
  listChanges,
  readChangeHint,
  type AuditChange,
  type ChangeHint,
} from '../../store/changes.ts'

/** What happened in a business since the last batch, for each listener to filter. */
export type ChangeBatch = {
  /** Or `many`: more than are worth naming. */
  audited: AuditChange[] | 'many'
  triggerIds: number[] | 'many'
  /** Whoever has got this batch misses nothing by resuming here. */
  position: number
}

export type ChangeListener = (batch: ChangeBatch) => void

/** More than this are not named. */
export const MAX_NAMED_CHANGES = 1_000

/** A burst of hints is read at most this often. */
const READ_EVERY_MS = 100
/** Without a hint: commands change things too, and a hint may be lost. */
const POLL_MS = 5_000
/**
 * Transactions commit in another order than that of their ids in the audit. Entries are read again
 * for this long, so that one which commits late is found.
 */
const LATE_COMMIT_MS = 30_000

/** Reads the changes of the businesses that somebody listens to. Without listeners it does nothing. */
export class ChangeFeed {
  readonly #database: Database
  readonly #onError: (error: unknown) => void
  readonly #businesses = new Map<number, BusinessFeed>()
  #stopHearing: (() => Promise<void>) | undefined

  constructor(database: Database, onError: (error: unknown) => void) {
    this.#database = database
    this.#onError = onError
  }

  /** Throws if the database cannot be asked. */
  async listen(businessId: number, listener: ChangeListener) {
    this.#stopHearing ??= this.#database.listen(
      'bellwether_changes',
      (payload) => {
        const hint = readChangeHint(payload)
        this.#businesses.get(hint.businessId)?.hear(hint)
      },
      // Hints from before were missed.
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
  /** Every change up to this one was told. A listener that resumes here misses nothing. */
  position = 0
  /** The changes after `position` that were told already. */
  #told = new Set<number>()
  #lastTold = 0
  /** All up to `id` were told at this time; `position` moves there when no late commit can follow. */
  #settling: { id: number; since: number } | undefined
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
    this.#skipTo(await findLastChangeId(this.#db, this.#businessId))
    this.#readIn(POLL_MS)
  }

  hear({ triggerIds }: ChangeHint) {
    if (triggerIds === 'many') this.#heardMany = true
    else for (const id of triggerIds) this.#heardIds.add(id)
    if (this.#heardIds.size > MAX_NAMED_CHANGES) this.#heardMany = true
    if (this.#heardMany) this.#heardIds.clear()
    this.#readIn(Math.max(0, this.#nextReadAt - monotonicMs()))
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
    // What is heard while a read is under way is read by the next one.
    if (this.#isReading) return this.#readIn(READ_EVERY_MS)
    this.#isReading = true
    try {
      await this.#tell()
    } catch (error) {
      this.#onError(error)
    } finally {
      this.#isReading = false
      this.#nextReadAt = monotonicMs() + READ_EVERY_MS
      const hasHeard = this.#heardMany || this.#heardIds.size > 0
      this.#readIn(hasHeard ? READ_EVERY_MS : POLL_MS)
    }
  }

  async #tell() {
    const rows = await listChanges(this.#db, this.#businessId, {
      after: this.position,
      limit: MAX_NAMED_CHANGES + 1,
    })
    let audited: ChangeBatch['audited'] = rows.filter(({ auditId }) => !this.#told.has(auditId))
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
    this.#told.add(auditId)
    this.#lastTold = Math.max(this.#lastTold, auditId)
  }

  #skipTo(auditId: number) {
    this.position = auditId
    this.#lastTold = auditId
    this.#told.clear()
    this.#settling = undefined
  }

  #settle() {
    const now = monotonicMs()
    if (this.#settling && now - this.#settling.since >= LATE_COMMIT_MS) {
      this.position = this.#settling.id
      for (const id of this.#told) if (id <= this.position) this.#told.delete(id)
      this.#settling = undefined
    }
    if (this.#lastTold > this.position) this.#settling ??= { id: this.#lastTold, since: now }
  }
}
