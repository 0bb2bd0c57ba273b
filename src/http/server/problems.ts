import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { brokenConstraint, isDatabaseAway, isTooSlow } from '../../database/refusals.ts'
import { codeOfStatus, PROBLEMS, type ProblemCode } from '../../contract/problem-codes.ts'
import { RequestError, type Fault } from '../../errors.ts'

export const PROBLEM_JSON = 'application/problem+json'

/** RFC 9457. */
export type Problem = {
  /** The page about this kind of problem. */
  type: string
  code: ProblemCode
  title: string
  status: number
  detail: string
  instance: string
  errors?: Fault[]
}

/** The one place that turns what went wrong into an answer. */
export function answerProblems(app: FastifyInstance) {
  app.setErrorHandler(sendProblem)
  app.setNotFoundHandler((request, reply) => sendProblem(noRoute(app, request), request, reply))

  const paths = new Map<string, Set<string>>()
  app.decorate('methodsByPath', paths)
  app.addHook('onRoute', ({ url, method }) => {
    const methods = paths.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    paths.set(url, methods)
  })
  // Before its body is looked at: what is wrong with it does not matter at no address.
  app.addHook('onRequest', async (request) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new RequestError(400, 'A request names its Host.')
    }
    if (request.is404) throw noRoute(app, request)
  })
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const known = toRequestError(error, request)
  if (known.status >= 500) {
    // What we say on purpose, such as that the database is away, is no bug to look for.
    const level = known.status === 500 ? 'error' : 'warn'
    const why = error === known ? { reason: known.message } : { err: error }
    request.log[level]({ ...why, route: routeOf(request) }, 'failed')
  }
  if (known.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply
    .code(known.status)
    .headers(known.headers)
    .header('x-content-type-options', 'nosniff') // also where no hook has run
    .type(PROBLEM_JSON)
    .send(problemOf(known, request.url))
}

export function problemOf(error: RequestError, url: string): Problem {
  return {
    ...kindOf(error.code),
    status: error.status,
    detail: error.message,
    instance: url.split('?', 1)[0]!,
    ...(error.errors ? { errors: error.errors } : {}),
  }
}

const kindOf = (code: ProblemCode) => ({
  type: `/problems/${code}`,
  code,
  title: PROBLEMS[code].title,
})

export const routeOf = (request: FastifyRequest) => request.routeOptions.url ?? 'none'

function toRequestError(error: unknown, request: FastifyRequest): RequestError {
  if (error instanceof RequestError) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new RequestError(
      413,
      `The body is larger than ${sizeOf(request.routeOptions.bodyLimit)}.`,
    )
  }
  if (code && Object.hasOwn(FRAMEWORK_DETAILS, code)) {
    return new RequestError(statusCode ?? 400, FRAMEWORK_DETAILS[code]!)
  }
  if (request.raw.destroyed && code === 'ECONNRESET') {
    return new RequestError(400, 'The client left before the body was complete.')
  }
  if (isDatabaseAway(error)) {
    return new RequestError(503, 'The database is away; try again.', undefined, {
      'retry-after': '1',
    })
  }
  if (isTooSlow(error)) {
    return new RequestError(503, 'The database took too long; try again.', undefined, {
      'retry-after': '5',
    })
  }
  // Two requests at the same moment: the checks before saw neither.
  if (brokenConstraint(error)) {
    return new RequestError(409, 'Another request changed this at the same moment; try again.')
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new RequestError(statusCode, (error as Error).message)
  }
  return new RequestError(
    500,
    `Something is wrong on our side. The log has it under ${request.id}.`,
  )
}

const sizeOf = (bytes: number) =>
  bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`

const FRAMEWORK_DETAILS: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be application/json.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length says.',
  FST_ERR_BAD_URL: 'The address is not well formed.',
  FST_ERR_MAX_PARAM_LENGTH: 'There is nothing at this address.',
}

function noRoute(app: FastifyInstance, request: FastifyRequest) {
  const path = request.url.split('?', 1)[0]!
  const allowed = new Set<string>()
  for (const [pattern, methods] of app.methodsByPath) {
    if (matches(pattern, path)) for (const method of methods) allowed.add(method)
  }
  // A route for this method that found nothing, such as a file of the console, answers 404 itself.
  if (allowed.size === 0 || allowed.has(request.method))
    return new RequestError(404, 'There is nothing at this address.')
  const methods = [...allowed].toSorted()
  const usable = methods.filter((method) => method !== 'HEAD').join(' or ')
  return new RequestError(
    405,
    `${request.method} is not possible here; use ${usable}.`,
    undefined,
    { allow: methods.join(', ') },
  )
}

function matches(pattern: string, path: string) {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.at(-1) === '*') return given.length >= wanted.length && sameUpTo(wanted.length - 1)
  return given.length === wanted.length && sameUpTo(wanted.length)

  function sameUpTo(length: number) {
    return wanted
      .slice(0, length)
      .every((part, i) => part === given[i] || (part.startsWith(':') && given[i] !== ''))
  }
}

/** What is not even HTTP never becomes a request; it is answered on the bare connection. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = BROKEN_HTTP[error.code ?? ''] ?? 400
  const title = STATUS_CODES[status]!
  const problem: Problem = {
    ...kindOf(codeOfStatus(status)),
    status,
    detail: status === 400 ? 'This is not HTTP.' : `${title}.`,
    instance: '/',
  }
  const body = JSON.stringify(problem)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_JSON}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // Whoever keeps talking is not waited for.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

const BROKEN_HTTP: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every path pattern with its methods, for 405 and its `Allow`. */
    methodsByPath: Map<string, Set<string>>
  }
}
