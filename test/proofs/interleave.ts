import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import type { Database, Db } from '../../src/database/database.ts'
import { isDatabaseAway } from '../../src/database/postgres-errors.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import type { Random } from './random.ts'

/** Looks like a lost connection, which is all that a dead process is to the others. */
export class Crash extends Error {
  constructor() {
    super('Connection terminated: this process is dead')
  }
}

/**
 * The machine was so busy that the server lost patience with a statement or a silent transaction,
 * which goes by real time: such a simulated run is not the seed's, and is played again.
 */
export class Disturbed extends Error {
  constructor(cause: unknown) {
    super('the machine was too slow', { cause })
  }
}

export const isServerTimeout = (error: unknown) =>
  !(error instanceof Crash) &&
  (isDatabaseAway(error) || /57014|25P03/.test((error as { code?: string })?.code ?? ''))

/**
 * A lost connection would be undone by the server in its own time, and until then its locks stand.
 * So the transaction of one who dies is rolled back before anybody else goes on.
 */
class Undone extends Error {}

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
  /** How often it died or froze. */
  mishaps: number
}

/**
 * Which of the works it is that takes a step: a process may be at several. One for all simulated runs: what
 * a simulated run begins goes on in the next one's, and would carry along those of all before.
 */
const strand = new AsyncLocalStorage<number>()

/** How many of the sessions on the database wait for another's lock. */
export type CountBlocked = () => Promise<number>

/** The steps between which a transaction took place; all that it wrote is there from the last. */
export type Span = { began: number; committed: number }

type Waiting = { process: Process; strand: number; session: number; letThrough: () => void }
type Session = {
  number: number
  underWay: number
  /** In the middle of a transaction: what it locked is locked. */
  isOpen: boolean
  sent: Promise<unknown>[]
}

/**
 * Lets several processes on one real database take their steps in an order that the seed decides:
 * at every statement, begin and commit another one may go first, and any of them may be the last
 * that a process does, with or without its effect.
 *
 * Nobody goes on until all that was let through has been answered or waits for a lock, and which
 * of the two the database says itself: so the same seed is the same run, on any machine. And
 * as only one goes at a time, the number of the step at which a transaction is committed says what
 * was before and after what; the clock, which jumps, does not.
 */
export class Interleaving {
  readonly #random: Random
  readonly #countBlocked: CountBlocked
  readonly #waiting: Waiting[] = []
  /** With something under way on the server. */
  readonly #busy = new Set<Session>()
  /** Those of them that wait for a lock, as they do until some transaction ends. */
  readonly #stuck = new Set<Session>()
  /** With a transaction open: they do not freeze, the server would end it, which is a crash. */
  readonly #inside = new Map<Process, number>()
  #strands = 0
  #sessions = 0
  #moves = 0
  #moved = () => {}
  #open = 0
  steps = 0
  crashes = 0
  frozen = 0
  /** Who went when, as a number: the same run has the same. */
  fingerprint = 0
  /** Transactions that changed something, by their number in the database. */
  readonly spans = new Map<string, Span>()
  /** What happened, for whoever must understand it. */
  readonly story: string[] = []

  constructor(random: Random, countBlocked: CountBlocked) {
    this.#random = random
    this.#countBlocked = countBlocked
  }

  tell(line: string) {
    this.story.push(`${this.steps} ${line}`)
  }

  /** Runs these, and what is no longer frozen, until all have ended or are frozen; what they threw. */
  async run(works: (() => Promise<unknown>)[]) {
    const errors: unknown[] = []
    for (const work of works) {
      this.#open += 1
      const failed = (error: unknown) => void errors.push(error)
      const closed = () => void (this.#open -= 1)
      const begun = strand.run((this.#strands += 1), work)
      void begun.catch(failed).finally(closed)
    }
    for (;;) {
      await this.#quiet()
      const next = this.#choose()
      if (next) {
        this.steps += 1
        next.letThrough()
      } else if (this.#busy.size === 0 && this.#waiting.length >= this.#open) return errors
      // Else they wait for one another, and the server will choose whom it refuses.
      else this.#stuck.clear()
    }
  }

  isAnyoneAwake() {
    return this.#waiting.some((one) => !one.process.isFrozen)
  }

  /** Lets all of them die, so that nothing is left of them. */
  async abandon() {
    while (this.#open > 0) {
      for (const { process, letThrough } of this.#waiting.splice(0)) {
        process.isDead = true
        letThrough()
      }
      await this.#moveOr(ASK_AFTER_MS)
      await turn()
    }
  }

  /** A process's own view of the database. `rewrite` takes guards out of statements. */
  view(database: Database, process: Process, rewrite: (statement: Sql) => Sql = (it) => it) {
    const of = (db: Db, open?: Session): Db => ({
      query: <Row>(statement: Sql) => {
        const answer = this.#step(process, open, () =>
          this.#underWay(open ?? this.#session(), () => db.query<Row>(rewrite(statement))),
        )
        if (open) this.#beforeCommit(open, answer)
        return answer
      },
      transaction: open
        ? (work) => work(of(db, open))
        : async (work) => {
            await this.#step(process)
            const result = await this.#transaction(db, process, (tx, session) =>
              work(of(tx, session)),
            )
            await this.#step(process) // committed, and nobody knows yet
            return result
          },
      attempt: db.attempt,
      snapshot: db.snapshot,
      stream: db.stream,
      // Under way until it is answered: it may hold a lock, or wait for one.
      send: (statement) => {
        this.#beforeCommit(
          open!,
          this.#underWay(open!, () => db.query(rewrite(statement))),
        )
      },
      // Whoever is simulated looks by itself.
      hint: () => {},
    })
    const { forBusiness, engine } = database
    return {
      ...database,
      forBusiness: (id: number, user: string) => of(forBusiness(id, user)),
      engine: of(engine),
    } satisfies Database
  }

  async #transaction<T>(
    db: Db,
    process: Process,
    work: (tx: Db, session: Session) => Promise<T>,
  ): Promise<T> {
    const session = this.#session()
    const began = this.steps
    let xid: Promise<string | null> | undefined
    const hold = (by: number) => this.#inside.set(process, (this.#inside.get(process) ?? 0) + by)
    this.#enter(session) // until it has a connection
    hold(1)
    try {
      const result = await db.transaction(async (tx) => {
        this.#leave(session)
        session.isOpen = true
        try {
          const done = await work(tx, session)
          await this.#step(process, session) // all is said, the commit is not
          await Promise.all(session.sent)
          // Leaves together with the commit.
          xid = tx.query<{ xid: string | null }>(XID).then(([row]) => row!.xid)
          xid.catch(() => {})
          return done
        } catch (error) {
          throw error instanceof Crash ? new Undone() : error
        } finally {
          session.isOpen = false
          this.#enter(session) // until it is committed or undone
        }
      })
      const number = await xid
      if (number) this.spans.set(number, { began, committed: this.steps })
      this.tell(`${process.name} commits ${number ?? 'nothing'}, begun at ${began}`)
      return result
    } catch (error) {
      throw error instanceof Undone ? new Crash() : error
    } finally {
      hold(-1)
      this.#leave(session)
    }
  }

  /** Inside the transaction of a session, or outside any. */
  async #step<T>(process: Process, inside?: Session, work?: () => Promise<T>): Promise<T> {
    if (process.isDead) throw new Crash()
    process.freezeIn -= 1
    if (process.freezeIn <= 0 && !inside && !this.#inside.get(process)) {
      process.freezeIn = Infinity
      process.isFrozen = true
      process.mishaps += 1
      this.frozen += 1
      this.tell(`${process.name} freezes`)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({
      process,
      strand: strand.getStore()!,
      session: inside?.number ?? 0,
      letThrough: resolve,
    })
    await promise
    if (process.isDead) throw new Crash()
    process.crashIn -= 1
    const dies = process.crashIn === 0
    if (dies && !process.crashesAfter) return this.#die(process)
    const result = await work?.()
    if (dies) return this.#die(process)
    return result as T
  }

  #die(process: Process): never {
    process.isDead = true
    process.mishaps += 1
    this.crashes += 1
    this.tell(`${process.name} dies`)
    throw new Crash()
  }

  /** Whoever does not wait for an answer still has it by the commit. */
  #beforeCommit(session: Session, answer: Promise<unknown>) {
    answer.catch(() => {})
    session.sent.push(answer)
  }

  async #underWay<T>(session: Session, work: () => Promise<T>): Promise<T> {
    this.#enter(session)
    try {
      return await work()
    } catch (error) {
      this.#stuck.clear() // what is refused lets go of its locks
      throw error
    } finally {
      this.#leave(session)
    }
  }

  #enter(session: Session) {
    this.#moves += 1
    session.underWay += 1
    this.#busy.add(session)
  }

  #leave(session: Session) {
    this.#moves += 1
    session.underWay -= 1
    if (session.underWay === 0) this.#busy.delete(session)
    this.#stuck.delete(session)
    if (!session.isOpen) this.#stuck.clear()
    this.#moved()
  }

  /** Nothing moves any more by itself: all is answered, or waits for the lock of one who waits. */
  async #quiet() {
    const startedAt = performance.now()
    let patience = ASK_AFTER_MS
    await turn()
    while (this.#busy.size > this.#stuck.size) {
      const moves = this.#moves
      await this.#moveOr(patience)
      await turn()
      if (moves !== this.#moves) continue
      patience *= 2
      const blocked = await this.#countBlocked()
      if (moves === this.#moves && blocked >= this.#busy.size) {
        for (const session of this.#busy) this.#stuck.add(session)
        break
      }
      // Waits for a connection that one of those has who wait to be let through.
      if (performance.now() - startedAt > GIVE_UP_MS) break
    }
    await turn()
  }

  async #moveOr(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#moved = resolve
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
  }

  /**
   * Any strand, but the statements of each transaction in their order. Who came first does not
   * matter: where one commit lets several go on who waited for its locks, that is the machine's doing.
   */
  #choose(): Waiting | undefined {
    const first = new Map<number, Waiting>()
    for (const one of this.#waiting) {
      const key = one.strand * MOST_SESSIONS + one.session
      if (!one.process.isFrozen && !first.has(key)) first.set(key, one)
    }
    if (first.size === 0) return undefined
    const ready = [...first.values()].toSorted(
      (a, b) => a.strand - b.strand || a.session - b.session,
    )
    const chosen = this.#random.pick(ready)
    this.#waiting.splice(this.#waiting.indexOf(chosen), 1)
    this.fingerprint = (Math.imul(this.fingerprint, 31) + chosen.strand) >>> 0
    return chosen
  }

  #session(): Session {
    return { number: (this.#sessions += 1), underWay: 0, isOpen: false, sent: [] }
  }
}

const XID = sql`select pg_current_xact_id_if_assigned()::text as xid`
/** Most answers come sooner; the list of locks costs more than they do. */
const ASK_AFTER_MS = 8
const GIVE_UP_MS = 5_000
/** More than a simulated run has. */
const MOST_SESSIONS = 1e6
