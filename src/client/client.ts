import type { Page } from '../contract/page.ts'
import {
  CONTENT_TYPES,
  NEVER_REPEATED,
  operations,
  type Operation,
  type Operations,
} from './operations.ts'
import { ConnectionError, ProblemError, type Problem } from './problem-error.ts'

export type { BulkResult, ImportLine, Operations, Session } from './operations.ts'
export { ConnectionError, ProblemError, type Problem } from './problem-error.ts'

/** A client of the API. Every operation is a method with the name of its `operationId`. */
export type BellwetherClient = { [N in keyof Operations]: Method<Operations[N]> }

/** The answer of an operation: `AnswerOf<'getAppointment'>`. */
export type AnswerOf<N extends keyof Operations> = Operations[N]['answer']
/** The input of an operation: `InputOf<'createAppointment'>`. */
export type InputOf<N extends keyof Operations> = RawInput<Operations[N]>

export type ClientOptions = {
  /** The base URL of the service, such as `https://bookings.example.com`. */
  baseUrl: string
  /** An API key. Without one, a browser uses the session cookie. */
  key?: string
  fetch?: typeof fetch
  /** How often a call is tried again after a lost connection, 429 or 503. Default: 3. */
  retries?: number
}

type CallOptions = {
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
  /** The `ETag` of the object as it was read. If it has changed since, the answer is 412. */
  ifMatch?: string | null
  /** Sent as `Idempotency-Key`. Default: a random one. */
  idempotencyKey?: string
  /** The browser finishes the request even if the page is closed. For small bodies only. */
  keepalive?: boolean
}

/** Optional properties may also be given as undefined. */
type Loose<T> = { [P in keyof T]: {} extends Pick<T, P> ? T[P] | undefined : T[P] } & {}

type PathOf<O> = O extends { path: infer P } ? P : unknown
type RawInput<O extends Operation> = O extends { body: infer B }
  ? PathOf<O> & B
  : PathOf<O> & (O extends { query: infer Q } ? Q : unknown)
type Input<O extends Operation> = O extends { body: string | Blob | Iterable<unknown> }
  ? O['body']
  : Loose<RawInput<O>>

/** An operation that takes a body takes its query parameters next to it. */
type Options<O extends Operation> = O extends { body: unknown; query: infer Q }
  ? CallOptions & ({} extends Q ? { query?: Loose<Q> } : { query: Loose<Q> })
  : CallOptions

type Result<O extends Operation> =
  O['answer'] extends Page<infer Item>
    ? List<O['answer'], Item>
    : O['answer'] extends (infer Item)[]
      ? List<O['answer'], Item>
      : Answer<O['answer']>

type Method<O extends Operation> =
  {} extends Options<O>
    ? {} extends Input<O>
      ? (input?: Input<O>, options?: Options<O>) => Result<O>
      : (input: Input<O>, options?: Options<O>) => Result<O>
    : (input: Input<O>, options: Options<O>) => Result<O>

/** The body of the answer. `withResponse` also gives the headers. */
export type Answer<T> = Promise<T> & {
  withResponse(): Promise<{ body: T; response: Response }>
}

/** `await` gives the first page; `for await` iterates over the items of all pages. */
export type List<T, Item> = Answer<T> & AsyncIterable<Item>

const MAX_WAIT_SECONDS = 60
const TRANSIENT = [429, 502, 503, 504]

export function createClient({ baseUrl, key, ...given }: ClientOptions): BellwetherClient {
  const connection: Connection = {
    base: baseUrl.replace(/\/$/, ''),
    authorization: key ? { authorization: `Bearer ${key}` } : {},
    retries: given.retries ?? 3,
    fetch: (url, init) => (given.fetch ?? fetch)(url, init),
  }
  const methods = operations().map(([name, route]) => [
    name,
    (input?: unknown, options?: AnyOptions) => call(connection, { name, route }, input, options),
  ])
  return Object.fromEntries(methods) as BellwetherClient
}

type Connection = {
  base: string
  authorization: Record<string, string>
  retries: number
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** Retries with the same headers, so that a POST is not processed twice. */
async function send(
  { base, retries, fetch }: Connection,
  url: string,
  init: RequestInit,
  isRepeatable: boolean,
): Promise<Response> {
  let wasConnectionLost = false
  for (let left = retries; ; left -= 1) {
    const response = await fetch(base + url, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      return new ConnectionError(`${base || 'The service'} cannot be reached.`, { cause: error })
    })
    let seconds = 0.5 * 2 ** (retries - left)
    if (response instanceof ConnectionError) {
      wasConnectionLost = true
      if (left <= 0 || !isRepeatable) throw response
    } else {
      if (response.ok) return response
      const problem = await problemOf(response)
      // The attempt whose connection was lost may still be running.
      const isTransient =
        TRANSIENT.includes(response.status) || (wasConnectionLost && response.status === 409)
      seconds = problem.retryAfterSeconds ?? seconds
      if (left <= 0 || !isTransient || seconds > MAX_WAIT_SECONDS) throw problem
    }
    await sleep(seconds * 1_000, init.signal)
  }
}

function call(
  connection: Connection,
  { name, route }: { name: string; route: string },
  input: unknown,
  options: AnyOptions = {},
) {
  const [method, template] = route.split(' ') as [string, string]
  const type = CONTENT_TYPES[name]
  const rest = type ? {} : { ...(input as Record<string, unknown>) }
  const path = template.replace(/:(\w+)/g, (_, parameter: string) => {
    const value = rest[parameter]
    delete rest[parameter]
    return encodeURIComponent(String(value))
  })
  const hasBody = method === 'POST'
  const query = hasBody ? options.query : rest
  const start = async (url: string) => {
    const init: RequestInit = {
      method,
      headers: {
        ...connection.authorization,
        ...(hasBody && {
          'content-type': type ?? 'application/json',
          'idempotency-key': options.idempotencyKey ?? randomKey(),
        }),
        ...(options.ifMatch && { 'if-match': options.ifMatch }),
        ...options.headers,
      },
      ...(hasBody && { body: type ? await readLines(input) : JSON.stringify(rest) }),
      ...(options.signal && { signal: options.signal }),
      ...(options.keepalive && { keepalive: true }),
    }
    const response = await send(connection, url, init, !NEVER_REPEATED.includes(name))
    return { response, body: await readBody(name, response) }
  }
  return answerOf(start, path, query)
}

type Started = { response: Response; body: unknown }

/** Sends the request at once. More pages are only read by an iteration. */
function answerOf(
  start: (url: string) => Promise<Started>,
  path: string,
  query: Record<string, unknown> | undefined,
) {
  const first = start(path + searchOf(query))
  const answer = first.then(({ body }) => body)
  return Object.assign(answer, {
    withResponse: () => {
      answer.catch(() => {})
      return first
    },
    async *[Symbol.asyncIterator]() {
      answer.catch(() => {})
      for (let page = await first; ;) {
        const { items, nextCursor } = page.body as Partial<Page<unknown>>
        yield* items ?? (page.body as unknown[])
        const next = nextCursor
          ? path + searchOf({ ...query, cursor: nextCursor })
          : /<([^>]+)>; rel="next"/.exec(page.response.headers.get('link') ?? '')?.[1]
        if (!next) return
        page = await start(next)
      }
    },
  })
}

type AnyOptions = CallOptions & { query?: Record<string, unknown> }

async function problemOf(response: Response) {
  const problem = (await response.json().catch(() => ({}))) as Problem
  const seconds = Number(response.headers.get('retry-after'))
  return new ProblemError(response.status, problem, {
    retryAfterSeconds: seconds > 0 ? seconds : undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
}

function readBody(name: string, response: Response): Promise<unknown> {
  if (/json/.test(response.headers.get('content-type') ?? '')) return response.json()
  return name.endsWith('Html') ? response.text() : response.blob()
}

/** Reads the lines into memory: a stream cannot be sent again. */
async function readLines(lines: unknown) {
  if (typeof lines === 'string' || lines instanceof Blob) return lines
  const parts: string[] = []
  for await (const line of lines as AsyncIterable<unknown>) parts.push(`${JSON.stringify(line)}\n`)
  return new Blob(parts)
}

function searchOf(query: Record<string, unknown> = {}) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== '') search.append(name, String(one))
    }
  }
  return search.size > 0 ? `?${search}` : ''
}

/** Not `randomUUID`, which browsers offer only on HTTPS pages. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

const sleep = (ms: number, signal?: AbortSignal | null) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
