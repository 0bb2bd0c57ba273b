/** What the service answered instead of what was asked for (RFC 9457). */
export class ProblemError extends Error {
  readonly status: number
  readonly problem: Problem
  /** For 429 and 503: when to try again. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, problem: Problem, retryAfterSeconds?: number) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`)
    this.status = status
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export type Problem = {
  type?: string
  code?: string
  title?: string
  detail?: string
  instance?: string
  errors?: { pointer: string; detail: string }[]
}

/** The service could not be reached at all. */
export class OfflineError extends Error {}

export type RequestOptions = {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: unknown
  query?: Record<string, string | number | boolean | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal
  /** The browser finishes the request even if the page is closed. For small bodies only. */
  keepalive?: boolean
}

/** Calls the service as the signed-in person: the browser sends the session cookie. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await requestTagged<T>(path, options)).body
}

/** An answer and the version of the object in it, for `If-Match`. */
export type Tagged<T> = { body: T; etag: string | null }

export async function requestTagged<T>(
  path: string,
  options: RequestOptions = {},
): Promise<Tagged<T>> {
  const { method = 'GET', body, query, headers, signal, keepalive = false } = options
  const response = await fetch(addressOf(path, query), {
    method,
    keepalive,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new OfflineError('The service cannot be reached.', { cause: error })
  })
  if (response.ok) {
    return { body: (await response.json()) as T, etag: response.headers.get('etag') }
  }
  const problem: Problem = await response.json().catch(() => ({}))
  const retryAfter = Number(response.headers.get('retry-after'))
  throw new ProblemError(response.status, problem, retryAfter > 0 ? retryAfter : undefined)
}

function addressOf(path: string, query: RequestOptions['query'] = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return search.size > 0 ? `${path}?${search}` : path
}

/** A page of a list. */
export type Page<T> = { items: T[]; nextCursor: string | null }

const MAX_PAGE = 500

/** Every item of a list, page after page. */
export async function requestAll<T>(path: string, signal: AbortSignal): Promise<T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page: Page<T> = await request(path, { query: { limit: MAX_PAGE, cursor }, signal })
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return items
}
