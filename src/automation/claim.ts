import { findNextDueTime, type Claim } from '../store/queue.ts'
import {
  claimDueTriggers,
  FAILED_TRIGGER_QUEUE,
  REPEATABLE_TRIGGER_QUEUE,
  TRIGGER_QUEUE,
  URGENT_TRIGGER_QUEUE,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import { FairShare } from './fair-share.ts'
import type { FireContext } from './fire.ts'
import { MAX_REST_MS, restUntilDue } from './loop.ts'
import { THROTTLE_READ_EVERY_MS } from './throttle.ts'
import { isBefore } from './timing.ts'

/** What worker slots claim triggers from. */
export type TriggerSource = {
  claim(worker: string): Promise<ClaimedTrigger[]>
  /** Whether a claim that found triggers may be followed by the next one without a rest. */
  readonly isMoreDue: boolean
  readRestMs(): Promise<number>
  /** The next claim reads the queue from its beginning: triggers were released. */
  claimFromStart(): void
  /** For a clock that was set back: times in the future would delay claims. */
  forgetTimes(): void
}

type ClaimParts = Pick<FireContext, 'db' | 'now' | 'leaseSeconds' | 'batchSize' | 'throttle'>

/**
 * Due triggers without a failed attempt, claimed in batches in the order of time; after a full batch,
 * first a fair share for each business.
 */
export class DueTriggers implements TriggerSource {
  readonly #parts: ClaimParts
  readonly #shares = new FairShare(TRIGGER_QUEUE)
  /** The last batch was full: more triggers are due than one batch holds. */
  #isCrowded = false
  /** Triggers of some businesses are not claimed until their mails have been sent. */
  #isThrottled = false
  /** When the urgent triggers of these businesses are claimed next. */
  #urgentClaimAt: Temporal.Instant | undefined
  /** Every trigger that was due before this is claimed; unset if that is not known. */
  #doneUntil: Temporal.Instant | undefined
  /** How often `#doneUntil` was reset by others than the claim. */
  #resets = 0
  /** When the queue was last read from its beginning. */
  #sweptAt: Temporal.Instant | undefined
  /** The last claim. A trigger that was due then and is still free is locked by a transaction. */
  #claimedAt: Temporal.Instant | undefined
  #lastClaimTime: Temporal.Instant | undefined

  constructor(parts: ClaimParts) {
    this.#parts = parts
  }

  get isMoreDue() {
    return this.#isCrowded || this.#isThrottled
  }

  /** When this node last claimed triggers, or found that none was due. */
  get lastClaimTime() {
    return this.#lastClaimTime
  }

  async claim(worker: string): Promise<ClaimedTrigger[]> {
    const { now, batchSize: limit, leaseSeconds, throttle } = this.#parts
    const moment = now()
    this.#claimedAt = moment
    const claim = {
      worker,
      now: moment,
      leaseUntil: moment.add({ seconds: leaseSeconds }),
      limit,
    }
    const throttled = await throttle?.listThrottled(moment)
    this.#isThrottled = throttled !== undefined && throttled.size > 0
    const claimed =
      throttled && this.#isThrottled
        ? await this.#claimUnthrottled(claim, throttled)
        : await this.#claimInOrder(claim)
    this.#lastClaimTime = now()
    return claimed
  }

  async readRestMs() {
    if (this.#isThrottled) return THROTTLE_READ_EVERY_MS
    const { db, now } = this.#parts
    const next = await findNextDueTime(db, TRIGGER_QUEUE, this.#doneUntil)
    return restUntilDue({ next, claimedAt: this.#claimedAt, now: now() })
  }

  claimFromStart() {
    this.#doneUntil = undefined
    this.#resets += 1
  }

  forgetTimes() {
    this.claimFromStart()
    this.#claimedAt = undefined
    this.#urgentClaimAt = undefined
  }

  /**
   * Whether there are triggers that were committed late or released, and are due before those that are
   * claimed next: the next claim finds them.
   */
  async sweep() {
    const { db, now } = this.#parts
    const first = await findNextDueTime(db, TRIGGER_QUEUE)
    this.#sweptAt = now()
    if (!first || !this.#doneUntil || !isBefore(first, this.#doneUntil)) return false
    this.claimFromStart()
    return true
  }

  async #claimInOrder(claim: Claim) {
    const { db } = this.#parts
    const resets = this.#resets
    const shared = this.#isCrowded ? await this.#claimNextShares(claim) : []
    const limit = claim.limit - shared.length
    if (limit <= 0) return shared
    this.#sweepSometimes(claim.now)
    const claimed = await claimDueTriggers(
      db,
      TRIGGER_QUEUE,
      { ...claim, limit },
      { from: this.#doneUntil },
    )
    this.#isCrowded = claimed.length === limit
    const doneUntil = this.#isCrowded ? lastOf(claimed) : claim.now.subtract(MAX_COMMIT_DELAY)
    // A reset that came during the claim is for the next one.
    this.#doneUntil = this.#resets === resets ? doneUntil : undefined
    return [...shared, ...claimed]
  }

  async #claimNextShares(claim: Claim) {
    const { db } = this.#parts
    const shares = await this.#shares.next(db, claim)
    // If only one business has due triggers, it delays no other.
    return shares && !shares.isOnlyBusiness
      ? claimDueTriggers(db, TRIGGER_QUEUE, claim, { shares })
      : []
  }

  /** Claims only triggers of businesses that are not throttled, and the urgent ones of the others. */
  async #claimUnthrottled(claim: Claim, throttled: ReadonlySet<number>) {
    // Throttled triggers stay in the queue before those that are claimed.
    this.#isCrowded = false
    this.#doneUntil = undefined
    const { db } = this.#parts
    const urgent = await this.#claimUrgent(claim, [...throttled])
    const limit = Math.max(1, claim.limit - urgent.length)
    const others = await this.#shares.claimNext(
      db,
      { ...claim, limit },
      {
        isExcluded: (businessId) => throttled.has(businessId),
        claimShares: (shares) => claimDueTriggers(db, TRIGGER_QUEUE, claim, { shares }),
      },
    )
    return [...urgent, ...others]
  }

  /** They are at most half of a batch, and finding them takes at most a tenth of the time. */
  async #claimUrgent(claim: Claim, businessIds: number[]) {
    const { db, now } = this.#parts
    if (this.#urgentClaimAt && isBefore(claim.now, this.#urgentClaimAt)) return []
    const share = Math.max(1, Math.floor(claim.limit / 2 / businessIds.length))
    const urgent = await claimDueTriggers(db, URGENT_TRIGGER_QUEUE, claim, {
      shares: { businessIds, share },
    })
    const tookMs = now().since(claim.now).total('milliseconds')
    this.#urgentClaimAt = now().add({ milliseconds: Math.ceil(Math.max(MAX_REST_MS, 10 * tookMs)) })
    return urgent
  }

  /** The full sweep runs every second; if it does not run, or time jumped, a claim replaces it. */
  #sweepSometimes(now: Temporal.Instant) {
    const ms = this.#sweptAt
      ? now.epochMilliseconds - this.#sweptAt.epochMilliseconds
      : Number.POSITIVE_INFINITY
    if (ms >= 0 && ms < MAX_SWEEP_AGE_MS) return
    this.#doneUntil = undefined
    this.#sweptAt = now
  }
}

/** After a full batch the next one begins where it ended; the full sweep finds earlier triggers. */
const lastOf = (claimed: ClaimedTrigger[]) =>
  claimed
    .map((trigger) => trigger.nextAttemptTime)
    .reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? b : a))

/** A change may be committed a little after the time that it plans a trigger for. */
const MAX_COMMIT_DELAY = { seconds: 2 }
const MAX_SWEEP_AGE_MS = 5_000

/** Triggers with failed attempts, claimed one at a time. */
export class FailedTriggers implements TriggerSource {
  readonly isMoreDue = true
  readonly #parts: ClaimParts
  /** When this node has been up for one lease; see `#queue`. */
  #upForLeaseAt: Temporal.Instant
  #claimedAt: Temporal.Instant | undefined

  constructor(parts: ClaimParts) {
    this.#parts = parts
    this.#upForLeaseAt = this.#afterOneLease()
  }

  claim(worker: string) {
    const now = this.#parts.now()
    this.#claimedAt = now
    const leaseUntil = now.add({ seconds: this.#parts.leaseSeconds })
    // Alone: if it fails, or its worker dies, no other trigger is affected.
    const claim = { worker, now, leaseUntil, limit: 1 }
    return claimDueTriggers(this.#parts.db, this.#queue(now), claim)
  }

  async readRestMs() {
    const { db, now } = this.#parts
    const next = await findNextDueTime(db, this.#queue(now()))
    return restUntilDue({ next, claimedAt: this.#claimedAt, now: now() })
  }

  /** Every claim does. */
  claimFromStart() {}

  forgetTimes() {
    this.#claimedAt = undefined
    const latest = this.#afterOneLease()
    if (isBefore(latest, this.#upForLeaseAt)) this.#upForLeaseAt = latest
  }

  #afterOneLease() {
    return this.#parts.now().add({ seconds: this.#parts.leaseSeconds })
  }

  /** A service that is killed repeatedly just after its start must not give up triggers. */
  #queue(now: Temporal.Instant) {
    return isBefore(now, this.#upForLeaseAt) ? REPEATABLE_TRIGGER_QUEUE : FAILED_TRIGGER_QUEUE
  }
}
