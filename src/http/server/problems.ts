import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { brokenConstraint, isDatabaseAway, isTooSlow } from '../../database/postgres-errors.ts'
import { codeOfStatus, PROBLEMS, type ProblemCode } from '../../contract/problem-codes.ts'
import { nearestName } from '../../contract/unknown-properties.ts'
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

/** The one place that turns errors into answers. */
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
  // Before the body is read: the answer to an unknown path must not depend on the body.
  app.addHook('onRequest', async (request) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new RequestError(400, 'The Host header is missing.')
    }
    if (request.is404) throw noRoute(app, request)
  })
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode >= 400) reply.header('x-request-id', request.id)
  })
}

export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const known = toRequestError(error, request)
  if (known.status >= 500) {
    // 503 is an expected state, such as a lost database connection. Only 500 is a bug.
    const level = known.status === 500 ? 'error' : 'warn'
    const cause = error === known ? { reason: known.message } : { err: error }
    request.log[level]({ ...cause, route: routeOf(request) }, 'request failed')
  }
  if (known.status === 401) reply.header('www-authenticate', 'Bearer')
  return (
    reply
      .code(known.status)
      .headers(known.headers)
      // Hooks set these too, but framework errors are sent before any hook runs.
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .type(PROBLEM_JSON)
      .send(problemOf(known, request.url))
  )
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
  // Not `request.raw.destroyed`: that is also true once the body was read.
  if (error === request.raw.errored && code === 'ECONNRESET') {
    return new RequestError(400, 'The client closed the connection before the body was complete.')
  }
  if (isDatabaseAway(error)) {
    const detail = DATABASE_DETAILS[code ?? ''] ?? 'The database cannot be reached. Try again.'
    return new RequestError(503, detail, undefined, { 'retry-after': '1' })
  }
  if (isTooSlow(error)) {
    return new RequestError(503, 'The database took too long. Try again.', undefined, {
      'retry-after': '5',
    })
  }
  const constraint = brokenConstraint(error)
  if (constraint?.includes('_external_id')) {
    return new RequestError(
      409,
      'Another object of this kind has this externalId. Find it with ?externalId=, or send another one.',
    )
  }
  // Two concurrent requests: neither saw the other's row when it checked.
  if (constraint) {
    return new RequestError(409, 'Another request changed this at the same moment. Try again.')
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new RequestError(statusCode, (error as Error).message)
  }
  return new RequestError(
    500,
    `The service has failed. Its log has the details under the request id ${request.id}.`,
  )
}

const sizeOf = (bytes: number) =>
  bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`

/** By SQLSTATE, if the server answers and cannot work. */
const DATABASE_DETAILS: Record<string, string> = {
  53100: 'The disk of the database is full. The operator must free space; then try again.',
  53200: 'The database has no memory left. Try again.',
  53300: 'The database has no free connection. Try again.',
}

const FRAMEWORK_DETAILS: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be application/json.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length says.',
  FST_ERR_BAD_URL: 'The URL is malformed.',
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
    return new RequestError(404, `There is nothing at this address${nearestAddress(app, path)}`)
  const methods = [...allowed].toSorted()
  const usable = methods.filter((method) => method !== 'HEAD').join(' or ')
  const detail = `${request.method} is not allowed here. Use ${usable}.${howToChange(app, path)}`
  return new RequestError(405, detail, undefined, { allow: methods.join(', ') })
}

/** `/calender` → `; did you mean /calendar?` */
function nearestAddress(app: FastifyInstance, path: string) {
  const names = [...app.methodsByPath.keys()].map((pattern) => pattern.split('/')[1]!)
  const first = path.split('/')[1] ?? ''
  const nearest = names.includes(first) ? undefined : nearestName(first, [...new Set(names)])
  return nearest ? `; did you mean /${nearest}?` : '.'
}

/** Objects are changed by a POST to their list, not by PUT or PATCH as in other APIs. */
function howToChange(app: FastifyInstance, path: string) {
  for (const pattern of app.methodsByPath.keys()) {
    const [, list, id] = /^(\/\w+)\/:(\w+)$/.exec(pattern) ?? []
    if (!list || !matches(pattern, path) || !app.methodsByPath.get(list)?.has('POST')) continue
    const property = id === 'eventDefinitionId' ? 'eventDefnId' : id
    return ` To change it, send POST ${list} with its ${property} in the body.`
  }
  return ''
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

/** Malformed HTTP never becomes a request: the answer is written to the socket. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = BROKEN_HTTP[error.code ?? ''] ?? 400
  const title = STATUS_CODES[status]!
  const problem: Problem = {
    ...kindOf(codeOfStatus(status)),
    status,
    detail: status === 400 ? 'The request is not valid HTTP.' : `${title}.`,
    instance: '/',
  }
  const body = JSON.stringify(problem)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_JSON}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // A client that keeps sending is disconnected.
  setTimeout(() => socket.destroy(), 1_000).unref()
}

const BROKEN_HTTP: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every path pattern with its methods, for 405 and the `Allow` header. */
    methodsByPath: Map<string, Set<string>>
  }
}
