import { monotonicMs } from '../clock.ts'
import { pause, type Loop } from '../repeat.ts'
import { releaseTriggers, type ClaimedTrigger } from '../store/trigger-queue.ts'
import { WorkQueue } from '../work-queue.ts'
import { DueTriggers, FailedTriggers, type TriggerSource } from './claim.ts'
import { fireClaimed, type FireContext } from './fire.ts'
import { WakeSignal, MAX_REST_MS } from './loop.ts'

type FireLoopsParts = Omit<FireContext, 'worker'> & {
  /** A name that no worker has had before. */
  nextWorker(): string
  /** Called when triggers have fired and their mails are queued. */
  onFired?: () => void
}

/** Claims due triggers and fires them: in batches, and those with failed attempts one at a time. */
export class FireLoops {
  /** One loop for each slot that fires batches. */
  readonly fire: Loop[]
  /** One loop for each slot that fires triggers with failed attempts. */
  readonly retry: Loop[]
  readonly sweep: Loop
  readonly #due: DueTriggers
  readonly #slots: WorkerSlots[]

  constructor(parts: FireLoopsParts) {
    this.#due = new DueTriggers(parts)
    const batches = new WorkerSlots('fire', parts, this.#due)
    const retries = new WorkerSlots('retry', parts, new FailedTriggers(parts))
    this.#slots = [batches, retries]
    this.fire = batches.loops
    this.retry = retries.loops
    this.sweep = this.#createSweep()
  }

  get lastClaimTime() {
    return this.#due.lastClaimTime
  }

  /** Called if triggers may be due earlier than known. */
  wake() {
    for (const slots of this.#slots) slots.wake()
  }

  /** For a clock that was set back. */
  forgetTimes() {
    for (const slots of this.#slots) slots.forgetTimes()
  }

  /** The workers whose leases must be renewed. */
  busyWorkers() {
    return this.#slots.flatMap((slots) => slots.busyWorkers())
  }

  /** Releases triggers that were claimed and not fired. */
  async stop() {
    for (const slots of this.#slots) await slots.stop()
  }

  /**
   * Finds triggers that were committed late or released. Releases those that could not be released
   * because another transaction had locked them.
   */
  #createSweep(): Loop {
    let restMs = MAX_REST_MS
    const runOnce = async () => {
      const startedAt = monotonicMs()
      for (const slots of this.#slots) await slots.releaseHeld()
      const found = await this.#due.sweep()
      if (found) this.wake()
      restMs = Math.max(MAX_REST_MS, 10 * (monotonicMs() - startedAt))
      return found ? 1 : 0
    }
    return { name: 'full sweep', runOnce, rest: (stopping) => pause(restMs, stopping) }
  }
}

/** Four keep two cores busy: one composes, two read or write, one waits for the disk. */
const SLOTS = 4

/**
 * Worker slots that claim and fire concurrently. One slot at a time waits for due triggers and claims
 * them; the others fire meanwhile.
 */
class WorkerSlots {
  /** With a signal, a step waits until triggers are due. */
  readonly loops: Loop[]
  readonly #source: TriggerSource
  readonly #slots: WorkerSlot[]
  readonly #parts: FireLoopsParts
  readonly #claiming = new WorkQueue({ total: 1 })
  /** Former names of slots, whose triggers other transactions have locked. */
  readonly #holders = new Set<string>()
  readonly #due = new WakeSignal()
  #isAllClaimed = false

  constructor(name: string, parts: FireLoopsParts, source: TriggerSource) {
    this.#parts = parts
    this.#source = source
    this.#slots = Array.from({ length: SLOTS }, () => new WorkerSlot(parts, source, this.#holders))
    this.loops = this.#slots.map((slot, i) => ({
      name: `${name} ${i + 1}`,
      runOnce: (stopping) => this.#fireNext(slot, stopping),
      rest: async () => {},
    }))
  }

  wake() {
    this.#due.wake()
  }

  forgetTimes() {
    this.#source.forgetTimes()
    this.wake()
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
      this.#source.claimFromStart()
      this.wake()
    }
    const claimed = stopping
      ? await this.#claiming.run({}, () => this.#claimWhenDue(slot, stopping))
      : await slot.claim()
    await slot.fire(claimed)
    if (claimed.length > 0) this.#parts.onFired?.()
    return claimed.length
  }

  async #claimWhenDue(slot: WorkerSlot, stopping: AbortSignal) {
    while (!stopping.aborted) {
      if (this.#isAllClaimed) await this.#due.wait(await this.#source.readRestMs(), stopping)
      const claimed = await slot.claim()
      this.#isAllClaimed = claimed.length === 0 || !this.#source.isMoreDue
      if (claimed.length > 0) return claimed
    }
    return []
  }
}

/** Claims and fires under a worker name of its own. */
class WorkerSlot {
  readonly #parts: FireLoopsParts
  readonly #source: TriggerSource
  readonly #holders: Set<string>
  worker: string
  /** True from the claim until its triggers have ended or were freed. */
  isBusy = false

  constructor(parts: FireLoopsParts, source: TriggerSource, holders: Set<string>) {
    this.#parts = parts
    this.#source = source
    this.#holders = holders
    this.worker = parts.nextWorker()
  }

  async claim() {
    this.isBusy = true
    const claimed = await this.#source.claim(this.worker)
    if (claimed.length === 0) this.isBusy = false
    return claimed
  }

  async fire(claimed: ClaimedTrigger[]) {
    const context = { ...this.#parts, worker: this.worker }
    if (claimed.length > 0 && (await fireClaimed(context, claimed))) this.#leaveHeld()
    this.isBusy = false
  }

  /**
   * Releases the triggers of a claim or batch that failed; returns whether there was one. A claim whose
   * answer was lost may still be committed later: the slot takes a new worker name, and the lease of
   * the old one expires.
   */
  async releaseBroken() {
    if (!this.isBusy) return false
    if (await releaseTriggers(this.#parts.db, this.worker)) this.#leaveHeld()
    else this.worker = this.#parts.nextWorker()
    this.isBusy = false
    return true
  }

  /** Triggers that other transactions have locked stay claimed under the old name. */
  #leaveHeld() {
    this.#holders.add(this.worker)
    this.worker = this.#parts.nextWorker()
  }
}
