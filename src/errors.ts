import {
  codeOfStatus,
  UNKNOWN_PARAMETER,
  UNKNOWN_PROPERTY,
  type ProblemCode,
} from './contract/problem-codes.ts'

/** An error in the request. http/server/problems.ts turns it into `application/problem+json`. */
export class RequestError extends Error {
  readonly status: number
  readonly errors: Fault[] | undefined
  readonly headers: Record<string, string>
  readonly code: ProblemCode

  constructor(
    status: number,
    detail: string,
    errors?: Fault[],
    headers: Record<string, string> = {},
    code: ProblemCode = codeOfStatus(status),
  ) {
    super(detail)
    this.name = 'RequestError'
    this.status = status
    this.errors = errors
    this.headers = headers
    this.code = code
  }
}

/** A fault of an input. The pointer is a JSON pointer into the body, or `?name` for a query parameter. */
export type Fault = { pointer: string; detail: string }

export const notFound = (what: string, id: number | string) =>
  new RequestError(404, `There is no ${what} ${id}.`)

/** Limits the length of a response and the time to build it. */
export const MAX_FAULTS = 100

export function invalid(faults: Fault[]) {
  const errors = faults.slice(0, MAX_FAULTS)
  const detail = errors.map((fault) => `${fault.pointer || 'the body'}: ${fault.detail}`).join('; ')
  return new RequestError(422, detail, errors, {}, codeOfFaults(errors))
}

function codeOfFaults(errors: Fault[]): ProblemCode {
  const areAll = (prefix: string) => errors.every(({ detail }) => detail.startsWith(prefix))
  if (areAll(UNKNOWN_PROPERTY)) return 'unknown-property'
  return areAll(UNKNOWN_PARAMETER) ? 'unknown-parameter' : 'invalid-input'
}

type Unauthorized = Extract<
  ProblemCode,
  | 'missing-credential'
  | 'wrong-scheme'
  | 'unknown-key'
  | 'expired-session'
  | 'other-session'
  | 'sign-in-failed'
  | 'wrong-signature'
>

/** `detail` tells the caller what to send. */
export const unauthorized = (code: Unauthorized, detail: string) =>
  new RequestError(401, detail, undefined, {}, code)

export const forbidden = (detail: string) => new RequestError(403, detail)

export const conflict = (detail: string) => new RequestError(409, detail)

/** An error of the operator, such as a bad setting. The CLI shows its message in one line and exits with 2. */
export class StartError extends Error {
  override name = 'StartError'
}
