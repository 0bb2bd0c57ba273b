import { monotonicMs } from '../clock.ts'
import { nextDueTime, releaseTriggers, type ClaimedTrigger } from '../store/trigger-queue.ts'
import { WorkQueue } from '../work-queue.ts'
import { claim, claimFromStart, newClaimState } from './claim.ts'
import { fireClaimed, type Firing } from './fire.ts'
import { Hint, MAX_REST_MS, pause, restUntilDue, type Loop } from './loop.ts'
import { THROTTLE_READ_EVERY_MS } from './throttle.ts'

type FireLoopsParts = Omit<Firing, 'worker'> & {
  /** The name of the node's worker; each slot adds its number. */
  worker: string
  /** Told when triggers have fired and their mails are queued. */
  onFired?: () => void
}

/** Two cores are busy with four: one composes, two read or write, one waits for the disk. */
const SLOTS = 4

/**
 * Claims due triggers and fires them, in several worker slots. One slot at a time waits for due
 * triggers and claims them; the others fire meanwhile.
 */
export class FireLoops {
  readonly #parts: FireLoopsParts
  readonly #state = newClaimState()
  readonly #slots: WorkerSlot[]
  readonly #claiming = new WorkQueue({ total: 1 })
  readonly #due = new Hint()
  #isAllClaimed = false
  #lastClaimTime: Temporal.Instant | undefined

  constructor(parts: FireLoopsParts) {
    this.#parts = parts
    this.#slots = Array.from({ length: SLOTS }, (_, i) => {
      const name = i === 0 ? parts.worker : `${parts.worker} ${i + 1}`
      return new WorkerSlot({ ...parts, worker: name })
    })
  }

  /** When this node last claimed triggers, or found that none was due. */
  get lastClaimTime() {
    return this.#lastClaimTime
  }

  /** Triggers may be due earlier than known. */
  wake() {
    this.#due.wake()
  }

  /** The next claim reads the queue from its beginning. */
  claimFromStart() {
    claimFromStart(this.#state)
  }

  /** One loop for each slot. With a signal, a step waits until triggers are due. */
  loops(): Loop[] {
    return this.#slots.map((slot, i) => ({
      name: `fire ${i + 1}`,
      runOnce: (stopping) => this.#fireBatch(slot, stopping),
      rest: async () => {},
    }))
  }

  async #fireBatch(slot: WorkerSlot, stopping?: AbortSignal) {
    if (await slot.releaseBroken()) {
      this.claimFromStart()
      this.wake()
    }
    const claimed = await this.#claiming.run({}, () =>
      stopping ? this.#claimWhenDue(slot, stopping) : this.#claim(slot),
    )
    await slot.fire(claimed)
    if (claimed.length > 0) this.#parts.onFired?.()
    return claimed.length
  }

  async #claim(slot: WorkerSlot) {
    const claimed = await slot.claim(this.#state)
    this.#lastClaimTime = this.#parts.now()
    return claimed
  }

  async #claimWhenDue(slot: WorkerSlot, stopping: AbortSignal) {
    while (!stopping.aborted) {
      if (this.#isAllClaimed) await this.#restUntilDue(stopping)
      const claimed = await this.#claim(slot)
      const { isCrowded, isThrottled } = this.#state
      this.#isAllClaimed = claimed.length === 0 || !(isCrowded || isThrottled)
      if (claimed.length > 0) return claimed
    }
    return []
  }

  async #restUntilDue(stopping: AbortSignal) {
    const { isThrottled, doneUntil, claimedAt } = this.#state
    if (isThrottled) return this.#due.wait(THROTTLE_READ_EVERY_MS, stopping)
    const { db, maxAttempts, now } = this.#parts
    const next = await nextDueTime(db, maxAttempts(), doneUntil)
    await this.#due.wait(restUntilDue({ next, claimedAt, now: now() }), stopping)
  }

  /** Finds triggers that were committed late, or released, before what is known to be done. */
  sweep(): Loop {
    let restMs = MAX_REST_MS
    const runOnce = async () => {
      const startedAt = monotonicMs()
      const found = await this.#findEarlier()
      if (found) this.wake()
      restMs = Math.max(MAX_REST_MS, 10 * (monotonicMs() - startedAt))
      return found ? 1 : 0
    }
    return { name: 'full sweep', runOnce, rest: (stopping) => pause(restMs, stopping) }
  }

  async #findEarlier() {
    const { db, maxAttempts, now } = this.#parts
    const first = await nextDueTime(db, maxAttempts())
    const { doneUntil } = this.#state
    this.#state.sweptAt = now()
    if (!first || !doneUntil || Temporal.Instant.compare(first, doneUntil) >= 0) return false
    this.claimFromStart()
    return true
  }

  /** The workers whose leases must be renewed. */
  busyWorkers() {
    return this.#slots.filter(({ isBusy }) => isBusy).map(({ worker }) => worker)
  }

  /** Releases what was claimed and not fired. */
  async stop() {
    for (const slot of this.#slots) await slot.releaseBroken().catch(this.#parts.onError)
  }
}

/** Claims and fires under a worker name of its own. */
class WorkerSlot {
  readonly #firing: Firing
  /** Set from the claim until the batch has ended: then these triggers may still be claimed. */
  #claimed: ClaimedTrigger[] | undefined

  constructor(firing: Firing) {
    this.#firing = firing
  }

  get worker() {
    return this.#firing.worker
  }

  get isBusy() {
    return this.#claimed !== undefined
  }

  async claim(state: ReturnType<typeof newClaimState>) {
    this.#claimed = []
    const claimed = await claim(this.#firing, state)
    this.#claimed = claimed.length > 0 ? claimed : undefined
    return claimed
  }

  async fire(claimed: ClaimedTrigger[]) {
    if (claimed.length > 0) await fireClaimed(this.#firing, claimed)
    this.#claimed = undefined
  }

  /** Releases the triggers of a batch that broke off; returns whether there was one. */
  async releaseBroken() {
    if (!this.#claimed) return false
    await releaseTriggers(this.#firing.db, this.worker, this.#claimed)
    this.#claimed = undefined
    return true
  }
}
