import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs, type Clock } from '../clock.ts'
import type { Database, Db } from '../database/database.ts'
import type { Mailbox } from '../contract/addresses.ts'
import { isDatabaseAway } from '../database/refusals.ts'
import type { Mailer } from '../email/mailer.ts'
import { readDatabaseTime } from '../store/database-time.ts'
import { nextAttemptTime, takeBackEmails } from '../store/email-queue.ts'
import { analyzeGrownTables } from '../store/objects.ts'
import type { SettingsCache } from '../store/settings.ts'
import {
  ANY_CLAIMS,
  giveBackTriggers,
  nextDueTime,
  renewTriggerLeases,
  takeBackTriggers,
  type ClaimedTrigger,
} from '../store/trigger-queue.ts'
import { Deliveries } from './deliver.ts'
import { ASKED_EVERY_MS, Backpressure } from './backpressure.ts'
import { claim, claimFromStart, firstTurn } from './claim.ts'
import { fireClaimed, type Firing } from './fire.ts'
import { planUnplanned, type PlannerParts } from './planner.ts'
import { createReconciler } from './watch.ts'

/** All that the engine touches is handed to it, so that a simulation can drive the real one. */
export type EngineParts = {
  database: Database
  settings: SettingsCache
  clock: Clock
  /** So many bytes of chance. A worker is named by them at each start: one that comes back is another. */
  random(size: number): Buffer
  leaseSeconds: number
  mailer: Mailer
  /** There is no mail server: mails are kept and shown. */
  captures: boolean
  mailFrom: Mailbox
  host: string
  unsubscribeLink: Firing['unsubscribeLink']
  onError(error: unknown): void
  onEnded?: NonNullable<Firing['onEnded']>
  decide?: NonNullable<Firing['decide']>
  onPlanned?: PlannerParts['onPlanned']
  batchSize?: number
  /** How many mails of a business may wait before it fires no more. */
  mostWaiting?: number
  renderPatienceMs?: number
  stopPatienceMs?: number
}

export type Engine = ReturnType<typeof createEngine>

/** A worker: its steps, each of which says how much it did, and the loops that repeat them. */
export function createEngine(parts: EngineParts) {
  const { database, clock, leaseSeconds, onError } = parts
  const db = database.engine
  const now = () => clock.now()
  const confirmNow = async (tx: Db) => clock.confirm?.(() => readDatabaseTime(tx)) ?? now()
  const worker = parts.random(9).toString('base64url')
  const batchSize = parts.batchSize ?? 500
  const deliveries = new Deliveries({ ...parts, db, delivery: database.delivery, now, worker })
  const holding = parts.captures ? {} : { backpressure: new Backpressure(db, parts.mostWaiting) }
  let lastTurn: Temporal.Instant | undefined

  const turn = firstTurn()

  /**
   * One that has only just begun leaves alone what another died over with nothing else in hand: where
   * the service is killed again and again, that would be innocent and set aside in the end.
   */
  const seasonedAt = now().add({ seconds: leaseSeconds })
  let isSeasoned = false
  const mostClaims = () => {
    isSeasoned ||= Temporal.Instant.compare(now(), seasonedAt) >= 0
    return isSeasoned ? ANY_CLAIMS : 1
  }

  /** One who claims and fires under a name of its own. */
  const openLane = (name: string) => {
    const firing: Firing = {
      ...parts,
      ...holding,
      db,
      now,
      confirmNow,
      worker: name,
      batchSize,
      mostClaims,
    }
    let isBroken = false
    let held: ClaimedTrigger[] = []
    /** What a broken turn left in our hands is not begun: it is free again at once. */
    const giveBack = async () => {
      if (!isBroken) return false
      await giveBackTriggers(db, name, held)
      claimFromStart(turn)
      isBroken = false
      return true
    }
    const take = async () => {
      await giveBack()
      isBroken = true
      held = []
      held = await claim(firing, turn)
      if (held.length === 0) end()
      return held
    }
    const fire = async (claimed: ClaimedTrigger[]) => {
      await fireClaimed(firing, claimed)
      end()
    }
    const end = () => {
      isBroken = false
      lastTurn = clock.now()
    }
    return { name, giveBack, take, fire, holds: () => isBroken }
  }
  const lanes = LANES.map((name) => openLane(`${worker}${name}`))

  /** Fires one batch of what is due. */
  const fire = async () => {
    const [lane] = lanes as [Lane]
    const claimed = await lane.take()
    await lane.fire(claimed)
    return claimed.length
  }
  type Lane = ReturnType<typeof openLane>

  /** Begins to send what is due. */
  const deliver = () => deliveries.begin()

  /**
   * An outage of the database lets every lease run out. Those who held one have until the next time
   * to give back what they held: it was no failed attempt.
   */
  let wasAway = false
  const keep = async () => {
    try {
      if (wasAway) await nextDueTime(db, ANY_CLAIMS)
      else return await takeBackExpired()
      wasAway = false
      return 0
    } catch (error) {
      wasAway ||= isDatabaseAway(error)
      throw error
    }
  }

  const takeBackExpired = async () => {
    const triggers = await takeBackTriggers(db, now())
    if (triggers > 0) claimFromStart(turn)
    return triggers + (await takeBackEmails(db, now())) + (await deliveries.replanLeftBehind())
  }

  /** Plans definitions whose plan is not complete. */
  const plan = (signal?: AbortSignal) => planUnplanned({ ...parts, now }, signal)

  /** Is there something due from before what is known to be done? Taken back, or committed late. */
  const lookBack = async () => {
    const first = await nextDueTime(db, mostClaims())
    const { doneUntil } = turn
    turn.lookedBackAt = now()
    if (!first || !doneUntil || Temporal.Instant.compare(first, doneUntil) >= 0) return 0
    claimFromStart(turn)
    return 1
  }

  const renew = async () => {
    const leaseUntil = now().add({ seconds: leaseSeconds })
    const busy = lanes.filter(({ holds }) => holds()).map(({ name }) => name)
    if (busy.length > 0) await renewTriggerLeases(db, busy, leaseUntil)
    await deliveries.renew(leaseUntil)
    return 0
  }

  const { reconcile } = createReconciler({ db, now, worker, leaseSeconds })

  /** What was booked by the thousand just now is found by a plan for thousands. */
  const look = async () => {
    await analyzeGrownTables(db)
    return 0
  }

  /** How long nothing will be due; at most what a missed hint may cost. */
  const restUntil = (next: Temporal.Instant | null, claimedAt: Temporal.Instant | undefined) => {
    if (!next) return LONGEST_REST_MS
    const wasDue = claimedAt && Temporal.Instant.compare(next, claimedAt) <= 0
    if (wasDue) return LOCKED_REST_MS
    return Math.min(LONGEST_REST_MS, Math.max(0, next.epochMilliseconds - now().epochMilliseconds))
  }

  /** Runs until stopped; what is claimed and not begun then goes to another node. */
  const run = async (stopping: AbortSignal) => {
    const [due, queued] = [new Hint(), new Hint()]
    // Without hints it is found all the same, a second later.
    const deaf = database.listen('bellwether_due', () => due.wake())
    stopping.addEventListener('abort', () => [due, queued, deliveries].forEach((one) => one.wake()))
    // One at a time looks out for what is due, and begins with it; the next one looks out meanwhile.
    const lookout = new Queue()
    let isAllTaken = false
    const awaitDue = async ({ take }: Lane) => {
      while (!stopping.aborted) {
        if (isAllTaken) await restBeforeFiring()
        const claimed = await take()
        isAllTaken = claimed.length === 0 || !(turn.isCrowded || turn.isHeldBack)
        if (claimed.length > 0) return claimed
      }
      return []
    }
    const drive = async (lane: Lane) => {
      if (await lane.giveBack()) due.wake()
      const claimed = await lookout.alone(() => awaitDue(lane))
      await lane.fire(claimed)
      if (claimed.length > 0 && !parts.captures) queued.wake()
      return claimed.length
    }
    const restBeforeFiring = async () => {
      const rest = turn.isHeldBack
        ? ASKED_EVERY_MS
        : restUntil(await nextDueTime(db, mostClaims(), turn.doneUntil), turn.claimedAt)
      await due.wait(rest, stopping)
    }
    const restBeforeSending = async () =>
      queued.wait(restUntil(await nextAttemptTime(db), deliveries.claimedAt), stopping)
    const pausing = (ms: number) => pause(ms, stopping)
    const lookBackAndTell = async () => {
      const startedAt = monotonicMs()
      if ((await lookBack()) > 0) due.wake()
      await pausing(Math.max(LONGEST_REST_MS, 10 * (monotonicMs() - startedAt)))
      return 0
    }
    await Promise.all([
      ...lanes.map((lane) =>
        repeat(() => drive(lane), { rest: async () => {}, stopping, onError }),
      ),
      repeat(deliver, { rest: restBeforeSending, stopping, onError }),
      repeat(lookBackAndTell, { rest: async () => {}, stopping, onError }),
      repeat(() => plan(stopping), {
        rest: () => pause(PLANNED_EVERY_MS, stopping),
        stopping,
        onError,
      }),
      repeat(async () => pausing(await reconcile()).then(() => 0), {
        rest: async () => {},
        stopping,
        onError,
      }),
      repeat(look, { rest: () => pause(LOOKED_EVERY_MS, stopping), stopping, onError }),
      repeat(keep, { rest: () => pause(leaseSeconds * 250, stopping), stopping, onError }),
      repeat(renew, { rest: () => pause(leaseSeconds * 300, stopping), stopping, onError }),
    ])
    await deaf()
    for (const { giveBack } of lanes) await giveBack().catch(onError)
    await deliveries.stop().catch(onError)
  }

  return {
    worker,
    fire,
    deliver,
    settle: () => deliveries.settle(),
    keep,
    plan,
    reconcile,
    lookBack,
    renew,
    run,
    lastTurn: () => lastTurn,
  }
}

/** Two cores are busy with four: one composes, two read or write, one waits for the disk. */
const LANES = ['', ' 2', ' 3', ' 4']

/** How often a worker looks for definitions whose plan is not complete. */
const PLANNED_EVERY_MS = 2_500

const LOOKED_EVERY_MS = 3_000

/** Hints may be missed, so nobody rests longer than this. */
const LONGEST_REST_MS = 1_000

/** A row that was due at the last claim and is still there is locked by somebody else. */
const LOCKED_REST_MS = 100

type Repeating = {
  rest(): Promise<void>
  stopping: AbortSignal
  onError(error: unknown): void
}

/** Runs a step until told to stop: again at once while it finds work, after a rest when it finds none. */
async function repeat(step: () => Promise<number>, { rest, stopping, onError }: Repeating) {
  while (!stopping.aborted) {
    try {
      if ((await step()) === 0) await rest()
    } catch (error) {
      onError(error)
      await pause(AFTER_ERROR_MS, stopping)
    }
  }
}

const AFTER_ERROR_MS = 500

const pause = (ms: number, stopping: AbortSignal) =>
  sleep(ms, undefined, { signal: stopping }).catch(() => {})

/** Wakes a rest early. One that comes between two rests ends the next. */
class Hint {
  #wake: (() => void) | undefined
  #isGiven = false

  wake() {
    this.#isGiven = true
    this.#wake?.()
  }

  async wait(ms: number, stopping: AbortSignal) {
    if (ms > 0 && !this.#isGiven && !stopping.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
    }
    this.#isGiven = false
  }
}

/** One after the other, in the order in which they came. */
class Queue {
  #last: Promise<unknown> = Promise.resolve()

  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
