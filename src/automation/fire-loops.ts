import { monotonicMs } from '../clock.ts'
import { WorkQueue } from '../work-queue.ts'
import { findNextDueTime } from '../store/queue.ts'
import {
  claimFailedTrigger,
  FAILED_TRIGGER_QUEUE,
  releaseTriggers,
  REPEATABLE_TRIGGER_QUEUE,
  TRIGGER_QUEUE,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import { claim, claimFromStart, newClaimState } from './claim.ts'
import { fireClaimed, type FireContext } from './fire.ts'
import { Hint, MAX_REST_MS, restUntilDue } from './loop.ts'
import { pause, type Loop } from '../repeat.ts'
import { THROTTLE_READ_EVERY_MS } from './throttle.ts'

type FireLoopsParts = Omit<FireContext, 'worker'> & {
  /** A name that no worker has had before. */
  nextWorker(): string
  /** Called when triggers have fired and their mails are queued. */
  onFired?: () => void
}

/** Four keep two cores busy: one composes, two read or write, one waits for the disk. */
const SLOTS = 4

/** Claims due triggers and fires them: in batches, and those with failed attempts one at a time. */
export class FireLoops {
  readonly #parts: FireLoopsParts
  readonly #state = newClaimState()
  readonly #batches: WorkerSlots
  readonly #retries: WorkerSlots
  /** When this node has been up for one lease; see `#retryQueue`. */
  #upForLeaseAt: Temporal.Instant
  #retriedAt: Temporal.Instant | undefined
  #lastClaimTime: Temporal.Instant | undefined

  constructor(parts: FireLoopsParts) {
    this.#parts = parts
    this.#upForLeaseAt = this.#afterOneLease()
    this.#batches = new WorkerSlots('fire', parts, {
      claim: (context) => this.#claimBatch(context),
      isMoreDue: () => this.#state.isCrowded || this.#state.isThrottled,
      readRestMs: () => this.#readRestMs(),
      onReleased: () => this.claimFromStart(),
    })
    this.#retries = new WorkerSlots('retry', parts, {
      claim: (context) => this.#claimFailed(context),
      isMoreDue: () => true,
      readRestMs: () => this.#readRetryRestMs(),
      onReleased: () => {},
    })
  }

  /** When this node last claimed triggers, or found that none was due. */
  get lastClaimTime() {
    return this.#lastClaimTime
  }

  /** Called if triggers may be due earlier than known. */
  wake() {
    this.#batches.wake()
    this.#retries.wake()
  }

  #afterOneLease() {
    return this.#parts.now().add({ seconds: this.#parts.leaseSeconds })
  }

  /** For a clock that was set back: times in the future would delay claims. */
  forgetTimes() {
    this.claimFromStart()
    this.#state.claimedAt = undefined
    this.#retriedAt = undefined
    const latest = this.#afterOneLease()
    if (Temporal.Instant.compare(this.#upForLeaseAt, latest) > 0) this.#upForLeaseAt = latest
    this.wake()
  }

  /** The next claim reads the queue from its beginning. */
  claimFromStart() {
    claimFromStart(this.#state)
  }

  /** One loop for each slot that fires batches. */
  get fire() {
    return this.#batches.loops
  }

  /** One loop for each slot that fires triggers with failed attempts. */
  get retry() {
    return this.#retries.loops
  }

  async #claimBatch(context: FireContext) {
    const claimed = await claim(context, this.#state)
    this.#lastClaimTime = context.now()
    return claimed
  }

  async #claimFailed({ db, worker, leaseSeconds, now }: FireContext) {
    const moment = now()
    this.#retriedAt = moment
    const leaseUntil = moment.add({ seconds: leaseSeconds })
    return claimFailedTrigger(db, this.#retryQueue(moment), { worker, now: moment, leaseUntil })
  }

  /** A service that is killed repeatedly just after its start must not give up triggers. */
  #retryQueue(now: Temporal.Instant) {
    const isUpForLease = Temporal.Instant.compare(now, this.#upForLeaseAt) >= 0
    return isUpForLease ? FAILED_TRIGGER_QUEUE : REPEATABLE_TRIGGER_QUEUE
  }

  async #readRestMs() {
    const { isThrottled, doneUntil, claimedAt } = this.#state
    if (isThrottled) return THROTTLE_READ_EVERY_MS
    const { db, now } = this.#parts
    const next = await findNextDueTime(db, TRIGGER_QUEUE, doneUntil)
    return restUntilDue({ next, claimedAt, now: now() })
  }

  async #readRetryRestMs() {
    const { db, now } = this.#parts
    const next = await findNextDueTime(db, this.#retryQueue(now()))
    return restUntilDue({ next, claimedAt: this.#retriedAt, now: now() })
  }

  /**
   * Finds triggers that were committed late or released, and are due before `doneUntil`. Releases those
   * that could not be released because another transaction had locked them.
   */
  readonly sweep: Loop = this.#createSweep()

  #createSweep(): Loop {
    let restMs = MAX_REST_MS
    const runOnce = async () => {
      const startedAt = monotonicMs()
      await this.#batches.releaseHeld()
      await this.#retries.releaseHeld()
      const found = await this.#findEarlier()
      if (found) this.wake()
      restMs = Math.max(MAX_REST_MS, 10 * (monotonicMs() - startedAt))
      return found ? 1 : 0
    }
    return { name: 'full sweep', runOnce, rest: (stopping) => pause(restMs, stopping) }
  }

  async #findEarlier() {
    const { db, now } = this.#parts
    const first = await findNextDueTime(db, TRIGGER_QUEUE)
    const { doneUntil } = this.#state
    this.#state.sweptAt = now()
    if (!first || !doneUntil || Temporal.Instant.compare(first, doneUntil) >= 0) return false
    this.claimFromStart()
    return true
  }

  /** The workers whose leases must be renewed. */
  busyWorkers() {
    return [...this.#batches.busyWorkers(), ...this.#retries.busyWorkers()]
  }

  /** Releases triggers that were claimed and not fired. */
  async stop() {
    await this.#batches.stop()
    await this.#retries.stop()
  }
}

/** How the slots of a group find their triggers. */
type Source = {
  claim(context: FireContext): Promise<ClaimedTrigger[]>
  /** Whether a claim that found triggers may be followed by the next one without a rest. */
  isMoreDue(): boolean
  readRestMs(): Promise<number>
  /** Called when triggers were released. */
  onReleased(): void
}

/**
 * Worker slots that claim and fire concurrently. One slot at a time waits for due triggers and claims
 * them; the others fire meanwhile.
 */
class WorkerSlots {
  /** With a signal, a step waits until triggers are due. */
  readonly loops: Loop[]
  readonly #source: Source
  readonly #slots: WorkerSlot[]
  readonly #parts: FireLoopsParts
  readonly #claiming = new WorkQueue({ total: 1 })
  /** Former names of slots, whose triggers other transactions have locked. */
  readonly #holders = new Set<string>()
  readonly #due = new Hint()
  #isAllClaimed = false

  constructor(name: string, parts: FireLoopsParts, source: Source) {
    this.#parts = parts
    this.#source = source
    this.#slots = Array.from({ length: SLOTS }, () => new WorkerSlot(parts, this.#holders))
    this.loops = this.#slots.map((slot, i) => ({
      name: `${name} ${i + 1}`,
      runOnce: (stopping) => this.#fireNext(slot, stopping),
      rest: async () => {},
    }))
  }

  wake() {
    this.#due.wake()
  }

  busyWorkers() {
    const busy = this.#slots.filter(({ isBusy }) => isBusy).map(({ worker }) => worker)
    return [...busy, ...this.#holders]
  }

  async releaseHeld() {
    for (const worker of this.#holders) {
      if (!(await releaseTriggers(this.#parts.db, worker))) this.#holders.delete(worker)
    }
  }

  async stop() {
    for (const slot of this.#slots) await slot.releaseBroken().catch(this.#parts.onError)
    await this.releaseHeld().catch(this.#parts.onError)
  }

  async #fireNext(slot: WorkerSlot, stopping?: AbortSignal) {
    if (await slot.releaseBroken()) {
      this.#source.onReleased()
      this.wake()
    }
    const claimed = stopping
      ? await this.#claiming.run({}, () => this.#claimWhenDue(slot, stopping))
      : await slot.claim(this.#source)
    await slot.fire(claimed)
    if (claimed.length > 0) this.#parts.onFired?.()
    return claimed.length
  }

  async #claimWhenDue(slot: WorkerSlot, stopping: AbortSignal) {
    while (!stopping.aborted) {
      if (this.#isAllClaimed) await this.#due.wait(await this.#source.readRestMs(), stopping)
      const claimed = await slot.claim(this.#source)
      this.#isAllClaimed = claimed.length === 0 || !this.#source.isMoreDue()
      if (claimed.length > 0) return claimed
    }
    return []
  }
}

/** Claims and fires under a worker name of its own. */
class WorkerSlot {
  readonly #parts: FireLoopsParts
  readonly #holders: Set<string>
  #context: FireContext
  /** True from the claim until its triggers have ended or were freed. */
  isBusy = false

  constructor(parts: FireLoopsParts, holders: Set<string>) {
    this.#parts = parts
    this.#holders = holders
    this.#context = { ...parts, worker: parts.nextWorker() }
  }

  get worker() {
    return this.#context.worker
  }

  async claim({ claim }: Source) {
    this.isBusy = true
    const claimed = await claim(this.#context)
    if (claimed.length === 0) this.isBusy = false
    return claimed
  }

  async fire(claimed: ClaimedTrigger[]) {
    if (claimed.length > 0 && (await fireClaimed(this.#context, claimed))) this.#leaveHeld()
    this.isBusy = false
  }

  /**
   * Releases the triggers of a claim or batch that failed; returns whether there was one. A claim whose
   * answer was lost may still be committed later: the slot takes a new worker name, and the lease of
   * the old one expires.
   */
  async releaseBroken() {
    if (!this.isBusy) return false
    if (await releaseTriggers(this.#context.db, this.worker)) this.#leaveHeld()
    else this.#takeNewName()
    this.isBusy = false
    return true
  }

  /** Triggers that other transactions have locked stay claimed under the old name. */
  #leaveHeld() {
    this.#holders.add(this.worker)
    this.#takeNewName()
  }

  #takeNewName() {
    this.#context = { ...this.#parts, worker: this.#parts.nextWorker() }
  }
}
