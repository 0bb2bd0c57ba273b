import type { Db } from '../database/database.ts'
import {
  deleteOperatorProblem,
  saveOperatorProblem,
  type OperatorProblem,
} from '../store/operator-problems.ts'
import { isBefore } from './timing.ts'

type Parts = {
  db: Db
  now(): Temporal.Instant
  /** For the log; called when a problem appears, and then every hour. */
  onOperatorProblem?(problem: OperatorProblem): void
  onError(error: unknown): void
}

/** Stores problems of the operator while they last, so that doctor, metrics and overview show them. */
export class OperatorProblems {
  readonly #parts: Parts
  readonly #known = new Map<string, { savedAt: Temporal.Instant; reportedAt: Temporal.Instant }>()
  /** What has worked since the last failure. An earlier process may have stored a problem. */
  readonly #solved = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async note(found: OperatorProblem) {
    const now = this.#parts.now()
    const known = this.#known.get(found.problem)
    if (known && isBefore(now, known.savedAt.add(SAVED_EVERY))) return
    const isReported = known && isBefore(now, known.reportedAt.add(REPORTED_EVERY))
    this.#known.set(found.problem, {
      savedAt: now,
      reportedAt: isReported ? known.reportedAt : now,
    })
    this.#solved.delete(found.problem)
    if (!isReported) this.#parts.onOperatorProblem?.(found)
    // If it cannot be stored now, the next failure stores it: the work itself does not fail.
    await saveOperatorProblem(this.#parts.db, found, now).catch((error) => {
      this.#known.delete(found.problem)
      this.#parts.onError(error)
    })
  }

  async solve(problem: string) {
    if (this.#solved.has(problem)) return
    this.#solved.add(problem)
    this.#known.delete(problem)
    await deleteOperatorProblem(this.#parts.db, problem).catch((error) => {
      this.#solved.delete(problem)
      this.#parts.onError(error)
    })
  }
}

const SAVED_EVERY = { minutes: 1 }
const REPORTED_EVERY = { hours: 1 }
