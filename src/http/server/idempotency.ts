import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../auth/caller.ts'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../database/database.ts'
import { conflict, invalid, RequestError } from '../../errors.ts'
import {
  claimKey,
  deleteAnswersBefore,
  findAnswer,
  lockKey,
  releaseClaim,
  renewClaim,
  storeAnswer,
  type IdempotencyKey,
  type RememberedAnswer,
} from '../../store/idempotency-keys.ts'
import { PROBLEM_JSON, problemOf, routeOf } from './problems.ts'
import type { Services } from './services.ts'
import { toJson } from './serialize.ts'

export type RouteAnswer = {
  status: number
  body: object
  headers?: Record<string, string>
  /** Properties that are shown only once: a repeated answer has `null` there. */
  secrets?: string[]
  /** Runs after the commit. Its properties are added to the answer. */
  afterCommit?: () => Promise<object>
}

export const ok = (body: object): RouteAnswer => ({ status: 200, body })

export const created = (body: object, location: string): RouteAnswer => ({
  status: 201,
  body,
  headers: { location },
})

export const send = (reply: FastifyReply, { status, body, headers = {} }: RouteAnswer) =>
  reply.code(status).headers(headers).send(body)

export const hasKey = (request: FastifyRequest) => request.headers['idempotency-key'] !== undefined

type Work = (tx: Db) => Promise<RouteAnswer>

/**
 * Does the work of a POST in one transaction and answers. With an `Idempotency-Key`, the transaction
 * also stores key and answer, so that a repeated request gets the same answer and changes nothing.
 */
export async function answerOnce(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  now: Temporal.Instant,
  work: Work,
  key = readKey(request, request.body),
) {
  request.answeredByHandler = true
  if (!key) {
    const answer = await db.transaction(work)
    const more = await answer.afterCommit?.()
    return send(reply, more ? { ...answer, body: { ...answer.body, ...more } } : answer)
  }
  const answer = await db.transaction((tx) => workOnce(tx, key, request, now, work))
  const more = (await answer.afterCommit?.()) ?? {}
  if (Object.keys(more).length > 0) {
    answer.text = withProperties(answer.text, more)
    // A repeated request gets the same answer.
    await storeAnswer(db, key, { ...answer, answer: withProperties(answer.answer, more) }, now)
  }
  return reply
    .code(answer.status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers })
    .send(answer.text)
}

const withProperties = (text: string, more: object) =>
  toJson({ ...(JSON.parse(text) as object), ...more })

/**
 * The same for work that can take long, such as on a body that is processed as it arrives. No transaction
 * stays open: the key is claimed first and the claim renewed. The body of a repeated request is only compared.
 */
export async function answerLongOnce(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
  work: (body: AsyncIterable<Buffer>) => Promise<RouteAnswer>,
) {
  request.answeredByHandler = true
  const { streams } = request.routeOptions.config
  const key = readKey(request, streams ? null : request.body)
  // A body that was read is compared by the key.
  const chunks = ((streams && request.body) || []) as AsyncIterable<Buffer>
  if (!key) {
    const { status, body } = await work(chunks)
    return reply.code(status).send(body)
  }
  const answer = await streamOnce(db, key, clock, chunks, work)
  return reply
    .code(answer.status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers })
    .send(answer.text)
}

/** A claim that was not renewed for this long belongs to a crashed node. */
const CLAIM_SECONDS = 60
const RENEW_CLAIM_MS = 20_000

async function streamOnce(
  db: Db,
  key: RequestKey,
  clock: Clock,
  chunks: AsyncIterable<Buffer>,
  work: (body: AsyncIterable<Buffer>) => Promise<RouteAnswer>,
): Promise<SerializedAnswer> {
  const digest = createHash('sha256').update(key.bodyDigest)
  async function* digestChunks() {
    for await (const chunk of chunks) {
      digest.update(chunk)
      yield chunk
    }
  }

  const now = clock.now()
  const renewedSince = now.subtract({ seconds: CLAIM_SECONDS })
  const isClaimed = await claimKey(db, key, { now, notBefore: oldestKept(now), renewedSince })
  if (!isClaimed) {
    const earlier = await findAnswer(db, key, oldestKept(now))
    if (!earlier) throw stillRunning(key)
    for await (const chunk of chunks) digest.update(chunk)
    if (!earlier.bodyDigest.equals(digest.digest())) throw otherBody(key)
    return { ...earlier, text: earlier.answer }
  }

  const renew = () => void renewClaim(db, key, clock.now()).catch(() => {})
  const renewing = setInterval(renew, RENEW_CLAIM_MS)
  try {
    const answer = serialize(await work(digestChunks()))
    await storeAnswer(db, { ...key, bodyDigest: digest.digest() }, answer, clock.now())
    return answer
  } catch (error) {
    await releaseClaim(db, key).catch(() => {}) // without a database connection the claim expires
    throw error
  } finally {
    clearInterval(renewing)
  }
}

async function workOnce(
  tx: Db,
  key: RequestKey,
  request: FastifyRequest,
  now: Temporal.Instant,
  work: Work,
): Promise<SerializedAnswer> {
  const [isLocked, earlier] = await Promise.all([
    lockKey(tx, key),
    findAnswer(tx, key, oldestKept(now)),
  ])
  if (!isLocked) throw stillRunning(key)
  if (earlier) {
    if (!earlier.bodyDigest.equals(key.bodyDigest)) throw otherBody(key)
    return { ...earlier, text: earlier.answer }
  }
  const answer = await tx.attempt(work).then(serialize, (error) => serializeRefusal(error, request))
  await storeAnswer(tx, key, answer, now)
  return answer
}

/** `text` is sent; `answer` is stored: the same text without secrets. */
type SerializedAnswer = RememberedAnswer & {
  text: string
  afterCommit?: RouteAnswer['afterCommit']
}

function serialize({
  status,
  body,
  headers = {},
  secrets = [],
  afterCommit,
}: RouteAnswer): SerializedAnswer {
  const text = toJson(body)
  const hidden = Object.fromEntries(secrets.map((name) => [name, null]))
  const answer = secrets.length === 0 ? text : toJson({ ...body, ...hidden })
  return { status, headers, text, answer, afterCommit }
}

/** A refusal is stored like any answer. A server error is not: the client may try again. */
function serializeRefusal(error: unknown, request: FastifyRequest): SerializedAnswer {
  if (!(error instanceof RequestError) || error.status >= 500) throw error
  // The address of a public route contains a token, which is not stored.
  const place = request.routeOptions.config.open ? routeOf(request) : request.url
  const text = toJson(problemOf(error, place))
  const headers = { ...error.headers, 'content-type': PROBLEM_JSON }
  return { status: error.status, headers, text, answer: text }
}

/** Stores the refusal of a request that never reached its handler, such as one with an invalid body. */
export function rememberRefusals(app: FastifyInstance, { database, clock }: Services) {
  app.decorateRequest('answeredByHandler', false)
  app.addHook('onSend', async (request, reply, payload) => {
    const { config } = request.routeOptions
    if (!config?.idempotent || config.streams || request.answeredByHandler) return
    if (typeof payload !== 'string') return
    if (!REMEMBERED_REFUSALS.has(reply.statusCode) || request.body === undefined) return
    const key = isKey(request.headers['idempotency-key']) && readKey(request, request.body)
    if (!key) return
    const { businessId, user } = callerOf(request)
    const db = businessId === 0 ? database.operator : database.forBusiness(businessId, user)
    const headers = { 'content-type': PROBLEM_JSON }
    const now = clock.now()
    await db.transaction(async (tx) => {
      const [isLocked, earlier] = await Promise.all([
        lockKey(tx, key),
        findAnswer(tx, key, oldestKept(now)),
      ])
      if (!isLocked || earlier) return
      await storeAnswer(tx, key, { status: reply.statusCode, headers, answer: payload }, now)
    })
  })
}

/** Other refusals, such as 401, 403 and 429, are sent before any work starts: the client may try again. */
const REMEMBERED_REFUSALS = new Set([400, 404, 409, 412, 422])

/** Deletes answers older than 24 hours. Runs periodically in the engine's cleanup. */
export async function deleteOldAnswers(engine: Db, now: Temporal.Instant) {
  const page = 1_000
  while ((await deleteAnswersBefore(engine, oldestKept(now), page)) === page);
}

const oldestKept = (now: Temporal.Instant) => now.subtract({ hours: 24 })

/** `header`: where the request names the key. */
export type RequestKey = IdempotencyKey & { header: string }

const stillRunning = ({ header }: RequestKey) =>
  conflict(`The first request with this ${header} is still running. Try again in a moment.`)

const otherBody = ({ header }: RequestKey) =>
  invalid([{ pointer: header, detail: 'was used before with another body' }])

/** The key of a signed delivery to a feed, whose sender has no credential. */
export const webhookKey = (
  { businessId, feedId }: { businessId: number; feedId: number },
  id: string,
  body: Buffer,
): RequestKey => ({
  header: 'webhook-id',
  businessId,
  digest: digestOf(['webhook', feedId, id]),
  bodyDigest: createHash('sha256').update(body).digest(),
})

function readKey(request: FastifyRequest, body: unknown): RequestKey | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (!isKey(key)) {
    throw invalid([
      { pointer: 'Idempotency-Key', detail: 'must be 1 to 255 visible ASCII characters' },
    ])
  }
  const { method, url } = request
  const { businessId, credential } = callerOf(request)
  const [path, query = ''] = url.split('?', 2)
  return {
    header: 'Idempotency-Key',
    businessId,
    digest: digestOf([credential, method, path, key]),
    bodyDigest: digestOf([query, sortProperties(body)]),
  }
}

/** The operator acts for the business in the path; 0 if the path has none. */
function callerOf(request: FastifyRequest) {
  const caller = request.caller as Caller | undefined
  const named = (request.params as { businessId?: number } | undefined)?.businessId
  return {
    businessId: caller?.businessId ?? (typeof named === 'number' ? named : 0),
    user: caller?.user ?? 'OPERATOR',
    credential: caller?.credential ?? 'operator',
  }
}

const isKey = (key: unknown) => typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)

const digestOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest()

/** Two bodies that differ only in the order of their properties are equal. */
function sortProperties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortProperties)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sortProperties(inner)])
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The handler stores the answer itself, in the transaction of its work. */
    answeredByHandler: boolean
  }
}
