import type { ProblemCode } from '../contract/problem-codes.ts'

/** An answer of RFC 9457, as the service sends it. */
export type Problem = {
  type?: string
  code?: ProblemCode
  title?: string
  detail?: string
  instance?: string
  errors?: { pointer: string; detail: string }[]
}

type ProblemHeaders = {
  retryAfterSeconds?: number | undefined
  requestId?: string | undefined
}

/** The service refused the request. Each kind of problem has a page at `type`. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  readonly code: ProblemCode | undefined
  readonly type: string | undefined
  readonly detail: string | undefined
  readonly instance: string | undefined
  /** The faults of the input, each with its place: a JSON pointer into the body, or `?name` of the query. */
  readonly errors: { pointer: string; detail: string }[]
  /** For 429 and 503: when to try again. */
  readonly retryAfterSeconds: number | undefined
  /** The id of this request in the log of the service. */
  readonly requestId: string | undefined

  constructor(status: number, problem: Problem, headers: ProblemHeaders = {}) {
    const { type, code, title, detail, instance, errors = [] } = problem
    super(detail ?? title ?? `HTTP ${status}`)
    this.status = status
    this.code = code
    this.type = type
    this.detail = detail
    this.instance = instance
    this.errors = errors
    this.retryAfterSeconds = headers.retryAfterSeconds
    this.requestId = headers.requestId
  }
}

/** The service could not be reached, or the connection was lost before it answered. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}
