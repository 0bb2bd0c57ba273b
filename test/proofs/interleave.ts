import { setImmediate as turn } from 'node:timers/promises'
import type { Database, Db } from '../../src/database/database.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { Random } from './random.ts'

/** Looks like a lost connection, which is all that a dead process is to the others. */
export class Crash extends Error {
  constructor() {
    super('Connection terminated: this process is dead')
  }
}

/** One process of the simulation: its statements wait until they are let through, or it is dead. */
export type Process = {
  name: string
  isDead: boolean
  /** At which of its steps it dies, and whether that step still takes effect. */
  crashIn: number
  crashesAfter: boolean
  /** At which of its steps it stops for as long as it is left so; its leases may run out. */
  freezeIn: number
  isFrozen: boolean
}

type Waiting = { process: Process; letThrough: () => void }

/**
 * Lets several processes on one real database take their steps in an order that the seed decides:
 * at every statement, begin and commit another one may go first, and any of them may be the last
 * that a process does, with or without its effect.
 */
export class Interleaving {
  readonly #random: Random
  readonly #waiting: Waiting[] = []
  #running = 0
  #open = 0
  steps = 0
  crashes = 0
  frozen = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Runs these, and what is no longer frozen, until all have ended or are frozen; what they threw. */
  async run(works: (() => Promise<unknown>)[]) {
    const errors: unknown[] = []
    for (const work of works) {
      this.#open += 1
      const failed = (error: unknown) => void errors.push(error)
      const closed = () => void (this.#open -= 1)
      void work().catch(failed).finally(closed)
    }
    for (;;) {
      await this.#quiet()
      const next = this.#choose()
      if (next) {
        this.steps += 1
        next.letThrough()
      } else if (this.#running === 0 && this.#waiting.length >= this.#open) return errors
    }
  }

  /** A process's own view of the database. `rewrite` takes guards out of statements. */
  view(database: Database, process: Process, rewrite: (statement: Sql) => Sql = (it) => it) {
    const of = (db: Db, isInside = false): Db => ({
      query: (statement) => this.#step(process, () => db.query(rewrite(statement)), isInside),
      transaction: async (work) => {
        await this.#step(process, async () => {}, isInside)
        const result = await db.transaction(async (tx) => {
          const done = await work({ ...of(tx, true), transaction: (inner) => inner(of(tx, true)) })
          await this.#step(process, async () => {}, true) // all is said, the commit is not
          return done
        })
        await this.#step(process, async () => {}, isInside) // committed, and nobody knows yet
        return result
      },
      stream: db.stream,
      send: (statement) => db.send(rewrite(statement)),
      hint: db.hint,
    })
    const { forBusiness, engine } = database
    return {
      ...database,
      forBusiness: (id: number, user: string) => of(forBusiness(id, user)),
      engine: of(engine),
    } satisfies Database
  }

  /** Inside a transaction nobody freezes: the server would end it, which is a crash. */
  async #step<T>(process: Process, work: () => Promise<T>, isInside: boolean): Promise<T> {
    if (process.isDead) throw new Crash()
    process.freezeIn -= 1
    if (process.freezeIn <= 0 && !isInside) {
      process.freezeIn = Infinity
      process.isFrozen = true
      this.frozen += 1
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ process, letThrough: resolve })
    await promise
    if (process.isDead) throw new Crash()
    process.crashIn -= 1
    const dies = process.crashIn === 0
    if (dies && !process.crashesAfter) return this.#die(process)
    this.#running += 1
    try {
      const result = await work()
      if (dies) return this.#die(process)
      return result
    } finally {
      this.#running -= 1
    }
  }

  #die(process: Process): never {
    process.isDead = true
    this.crashes += 1
    throw new Crash()
  }

  /** Nothing moves any more by itself; what waits for another's lock counts as not moving. */
  async #quiet() {
    const startedAt = performance.now()
    do await turn()
    while (this.#running > 0 && performance.now() - startedAt < BLOCKED_MS)
    await turn()
  }

  /** Any process, but each one's statements in their order. */
  #choose(): Waiting | undefined {
    const first = new Map<Process, Waiting>()
    for (const one of this.#waiting) {
      if (!one.process.isFrozen && !first.has(one.process)) first.set(one.process, one)
    }
    if (first.size === 0) return undefined
    const chosen = this.#random.pick([...first.values()])
    this.#waiting.splice(this.#waiting.indexOf(chosen), 1)
    return chosen
  }
}

const BLOCKED_MS = 15
