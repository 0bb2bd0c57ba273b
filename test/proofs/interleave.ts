import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database, Db } from '../../src/database/database.ts'
import { ConnectionError, isDatabaseAway } from '../../src/database/postgres-errors.ts'
import { sql, type Sql } from '../../src/database/sql.ts'
import { SINGLE_ROWS } from '../../src/database/transact.ts'
import type { Random } from './random.ts'

/** A crashed process looks like a lost connection to the code that runs in it. */
export class Crash extends ConnectionError {
  constructor() {
    super(new Error('Connection terminated: this process is dead'))
  }
}

/**
 * The machine was so busy that a statement or an idle transaction reached a timeout of the server, which
 * measures real time. The run then differs from the one that its seed describes, and is repeated.
 */
export class MachineTooSlow extends Error {
  constructor(cause: unknown) {
    super('the machine was too slow', { cause })
  }
}

export const isServerTimeout = (error: unknown) =>
  !(error instanceof Crash) &&
  (isDatabaseAway(error) || /57014|25P03/.test((error as { code?: string })?.code ?? ''))

/**
 * Thrown to roll back the transaction of a crashed process before other processes continue. The server would
 * roll back a lost connection at a time of its own, and keep its locks until then.
 */
class RollBack extends Error {}

/** A process of the simulation. Each of its statements waits until the simulation resumes it. */
export type Process = {
  name: string
  isDead: boolean
  /** The process crashes at this step, counted down; `crashesAfter`: the step still takes effect. */
  crashIn: number
  crashesAfter: boolean
  /** The process freezes at this step, counted down, until it is thawed. Its leases may expire. */
  freezeIn: number
  isFrozen: boolean
  /** How often it crashed or froze. */
  failures: number
}

/**
 * The task that takes a step: a process may run several. All simulated runs share this storage: the async
 * context goes on from run to run, and would carry one storage for each earlier run.
 */
const currentTask = new AsyncLocalStorage<number>()

/** Counts the sessions of the database that wait for a lock. */
export type CountBlocked = () => Promise<number>

/** The steps at which a transaction began and committed. */
export type Span = { began: number; committed: number }

type PendingStep = { process: Process; task: number; session: number; resume: () => void }
type Session = {
  number: number
  /** Statements without an answer. */
  running: number
  isInTransaction: boolean
  /** The answers of all statements of the transaction, which must arrive before its commit. */
  answers: Promise<unknown>[]
}

/**
 * Runs several processes on one real database, one statement at a time. The seed decides which process
 * runs the next statement, begin or commit, and at which of them a process crashes or freezes.
 *
 * The next step starts only when every statement is answered or waits for a lock, according to the
 * server's own list of locks. So a seed gives the same run on any machine. As steps never overlap, the
 * step at which a transaction commits says what happened before what. The clock cannot: it jumps.
 */
export class Interleaving {
  readonly #random: Random
  readonly #countBlocked: CountBlocked
  readonly #pending: PendingStep[] = []
  /** Sessions with a statement that is not answered yet. */
  readonly #busy = new Set<Session>()
  /** Busy sessions that wait for a lock. They wait until a transaction ends. */
  readonly #blocked = new Set<Session>()
  /** Transactions of each process. It freezes outside them only: the server would end an idle one. */
  readonly #transactions = new Map<Process, number>()
  #tasks = 0
  #sessions = 0
  #changes = 0
  #onChange = () => {}
  #unfinished = 0
  steps = 0
  crashes = 0
  frozen = 0
  /** A hash of the order of all steps: equal runs have the same. */
  fingerprint = 0
  /** Transactions that wrote something, by their transaction id. */
  readonly spans = new Map<string, Span>()
  /** What happened, to explain a broken promise. */
  readonly log: string[] = []

  constructor(random: Random, countBlocked: CountBlocked) {
    this.#random = random
    this.#countBlocked = countBlocked
  }

  note(line: string) {
    this.log.push(`${this.steps} ${line}`)
  }

  /** Runs these tasks and thawed ones until all have ended or are frozen. Returns their errors. */
  async run(tasks: (() => Promise<unknown>)[]) {
    const errors: unknown[] = []
    for (const task of tasks) {
      this.#unfinished += 1
      const onError = (error: unknown) => void errors.push(error)
      const onEnd = () => void (this.#unfinished -= 1)
      const started = currentTask.run((this.#tasks += 1), task)
      void started.catch(onError).finally(onEnd)
    }
    for (;;) {
      await this.#untilQuiet()
      const next = this.#choose()
      if (next) {
        this.steps += 1
        next.resume()
      } else if (this.#busy.size === 0 && this.#pending.length >= this.#unfinished) return errors
      // Otherwise it is a deadlock, and the server chooses which transaction fails.
      else this.#blocked.clear()
    }
  }

  isAnyProcessAwake() {
    return this.#pending.some(({ process }) => !process.isFrozen)
  }

  /** Crashes all processes, so that no task is left. */
  async abandon() {
    while (this.#unfinished > 0) {
      for (const { process, resume } of this.#pending.splice(0)) {
        process.isDead = true
        resume()
      }
      await this.#changeOrTimeout(ASK_FOR_LOCKS_AFTER_MS)
      await nextTurn()
    }
  }

  /** The database as a process uses it. `rewrite` removes guards from statements. */
  view(
    database: Database,
    process: Process,
    rewrite: (statement: Sql) => Sql = (statement) => statement,
  ) {
    const viewOf = (db: Db, session?: Session): Db => ({
      ...SINGLE_ROWS,
      query: <Row>(statement: Sql) => {
        const answer = this.#step(process, session, () =>
          this.#track(session ?? this.#newSession(), () => db.query<Row>(rewrite(statement))),
        )
        if (session) this.#awaitBeforeCommit(session, answer)
        return answer
      },
      transaction: session
        ? (work) => work(viewOf(db, session))
        : async (work) => {
            await this.#step(process)
            const result = await this.#transaction(db, process, (tx, session) =>
              work(viewOf(tx, session)),
            )
            await this.#step(process) // a crash here is after the commit, before the answer
            return result
          },
      attempt: db.attempt,
      snapshot: db.snapshot,
      stream: db.stream,
      // Tracked until it is answered: it may hold a lock, or wait for one.
      send: (statement) => {
        this.#awaitBeforeCommit(
          session!,
          this.#track(session!, () => db.query(rewrite(statement))),
        )
      },
      // Simulated nodes look for work without notifications.
      hint: () => {},
    })
    const { forBusiness, engine } = database
    return {
      ...database,
      forBusiness: (id: number, user: string) => viewOf(forBusiness(id, user)),
      engine: viewOf(engine),
    } satisfies Database
  }

  async #transaction<T>(
    db: Db,
    process: Process,
    work: (tx: Db, session: Session) => Promise<T>,
  ): Promise<T> {
    const session = this.#newSession()
    const began = this.steps
    let xid: Promise<string | null> | undefined
    const count = (by: number) =>
      this.#transactions.set(process, (this.#transactions.get(process) ?? 0) + by)
    this.#enter(session) // until it has a connection
    count(1)
    try {
      const result = await db.transaction(async (tx) => {
        this.#leave(session)
        session.isInTransaction = true
        try {
          const result = await work(tx, session)
          await this.#step(process, session) // a crash here is before the commit
          await Promise.all(session.answers)
          // Sent together with the commit.
          xid = tx.query<{ xid: string | null }>(XID).then(([row]) => row!.xid)
          xid.catch(() => {})
          return result
        } catch (error) {
          throw error instanceof Crash ? new RollBack() : error
        } finally {
          session.isInTransaction = false
          this.#enter(session) // until the commit or rollback is answered
        }
      })
      const number = await xid
      if (number) this.spans.set(number, { began, committed: this.steps })
      this.note(`${process.name} commits ${number ?? 'nothing'}, begun at ${began}`)
      return result
    } catch (error) {
      throw error instanceof RollBack ? new Crash() : error
    } finally {
      count(-1)
      this.#leave(session)
    }
  }

  /** Waits until the simulation resumes the process, then does the work. `session`: of its transaction. */
  async #step<T>(process: Process, session?: Session, work?: () => Promise<T>): Promise<T> {
    if (process.isDead) throw new Crash()
    process.freezeIn -= 1
    if (process.freezeIn <= 0 && !session && !this.#transactions.get(process)) {
      process.freezeIn = Infinity
      process.isFrozen = true
      process.failures += 1
      this.frozen += 1
      this.note(`${process.name} freezes`)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pending.push({
      process,
      task: currentTask.getStore()!,
      session: session?.number ?? 0,
      resume: resolve,
    })
    await promise
    if (process.isDead) throw new Crash()
    process.crashIn -= 1
    const crashes = process.crashIn === 0
    if (crashes && !process.crashesAfter) return this.#crash(process)
    const result = await work?.()
    if (crashes) return this.#crash(process)
    return result as T
  }

  #crash(process: Process): never {
    process.isDead = true
    process.failures += 1
    this.crashes += 1
    this.note(`${process.name} crashes`)
    throw new Crash()
  }

  /** The commit waits for this answer, even if the process does not. */
  #awaitBeforeCommit(session: Session, answer: Promise<unknown>) {
    answer.catch(() => {})
    session.answers.push(answer)
  }

  async #track<T>(session: Session, work: () => Promise<T>): Promise<T> {
    this.#enter(session)
    try {
      return await work()
    } catch (error) {
      this.#blocked.clear() // a failed statement releases its locks
      throw error
    } finally {
      this.#leave(session)
    }
  }

  #enter(session: Session) {
    this.#changes += 1
    session.running += 1
    this.#busy.add(session)
  }

  #leave(session: Session) {
    this.#changes += 1
    session.running -= 1
    if (session.running === 0) this.#busy.delete(session)
    this.#blocked.delete(session)
    if (!session.isInTransaction) this.#blocked.clear()
    this.#onChange()
  }

  /** Waits until every statement is answered, or waits for a lock that only a later step can release. */
  async #untilQuiet() {
    const startedAt = performance.now()
    let timeoutMs = ASK_FOR_LOCKS_AFTER_MS
    await nextTurn()
    while (this.#busy.size > this.#blocked.size) {
      const changes = this.#changes
      await this.#changeOrTimeout(timeoutMs)
      await nextTurn()
      if (changes !== this.#changes) continue
      timeoutMs *= 2
      const blocked = await this.#countBlocked()
      if (changes === this.#changes && blocked >= this.#busy.size) {
        for (const session of this.#busy) this.#blocked.add(session)
        break
      }
      // A session waits for a connection that a process with a pending step holds.
      if (performance.now() - startedAt > MAX_QUIET_WAIT_MS) break
    }
    await nextTurn()
  }

  async #changeOrTimeout(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onChange = resolve
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
  }

  /**
   * Chooses any task, but keeps the order of the statements of a transaction. The order in which the
   * steps arrived does not matter: after a commit the machine decides which waiting session arrives first.
   */
  #choose(): PendingStep | undefined {
    const first = new Map<number, PendingStep>()
    for (const step of this.#pending) {
      const key = step.task * MAX_SESSIONS + step.session
      if (!step.process.isFrozen && !first.has(key)) first.set(key, step)
    }
    if (first.size === 0) return undefined
    const ready = [...first.values()].toSorted((a, b) => a.task - b.task || a.session - b.session)
    const chosen = this.#random.pick(ready)
    this.#pending.splice(this.#pending.indexOf(chosen), 1)
    this.fingerprint = (Math.imul(this.fingerprint, 31) + chosen.task) >>> 0
    return chosen
  }

  #newSession(): Session {
    return { number: (this.#sessions += 1), running: 0, isInTransaction: false, answers: [] }
  }
}

const XID = sql`select pg_current_xact_id_if_assigned()::text as xid`
/** Most answers arrive sooner, and reading the list of locks takes longer than they do. */
const ASK_FOR_LOCKS_AFTER_MS = 8
const MAX_QUIET_WAIT_MS = 5_000
/** More than a simulated run has. */
const MAX_SESSIONS = 1e6
