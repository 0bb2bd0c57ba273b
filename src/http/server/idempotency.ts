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
  saveAnswer,
  type IdempotencyKey,
  type RememberedAnswer,
} from '../../store/idempotency-keys.ts'
import { PROBLEM_JSON, problemOf } from './problems.ts'
import type { Services } from './services.ts'
import { wireText } from './wire.ts'

export type Answer = {
  status: number
  body: object
  headers?: Record<string, string>
  /** Properties that are shown this once: a repeated answer has `null` there. */
  secrets?: string[]
  /** What is done once the work is committed; what it gives is shown beside the answer. */
  afterCommit?: () => Promise<object>
}

export const ok = (body: object): Answer => ({ status: 200, body })

export const created = (body: object, location: string): Answer => ({
  status: 201,
  body,
  headers: { location },
})

export const send = (reply: FastifyReply, { status, body, headers = {} }: Answer) =>
  reply.code(status).headers(headers).send(body)

export const hasKey = (request: FastifyRequest) => request.headers['idempotency-key'] !== undefined

type Work = (tx: Db) => Promise<Answer>

/**
 * Does the work of a POST in one transaction and answers. With an `Idempotency-Key`, key and answer
 * are stored in that same transaction: the same request again gets the same answer and changes
 * nothing.
 */
export async function answerOnce(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  now: Temporal.Instant,
  work: Work,
) {
  // From here on the answer is remembered with its work, or not at all.
  request.takenByHandler = true
  const key = readKey(request, request.body)
  if (!key) {
    const answer = await db.transaction(work)
    const more = await answer.afterCommit?.()
    return send(reply, more ? { ...answer, body: { ...answer.body, ...more } } : answer)
  }
  const answer = await db.transaction((tx) => workOnce(tx, key, request, now, work))
  await answer.afterCommit?.()
  return reply
    .code(answer.status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers })
    .send(answer.text)
}

/**
 * The same for a body that is processed as it arrives. The client decides how long that takes, so no
 * transaction stays open meanwhile: the key is claimed first and the claim renewed. A repeated request
 * only has its body compared.
 */
export async function answerStreamOnce(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
  work: (body: AsyncIterable<Buffer>) => Promise<Answer>,
) {
  request.takenByHandler = true
  const key = readKey(request, null)
  const pieces = (request.body ?? []) as AsyncIterable<Buffer> // a request without a body has none
  if (!key) {
    const { status, body } = await work(pieces)
    return reply.code(status).send(body)
  }
  const answer = await streamOnce(db, key, clock, pieces, work)
  return reply
    .code(answer.status)
    .headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers })
    .send(answer.text)
}

/** A claim that was not renewed for this long belongs to a node that has died. */
const CLAIM_SECONDS = 60
const RENEW_CLAIM_MS = 20_000

async function streamOnce(
  db: Db,
  key: IdempotencyKey,
  clock: Clock,
  pieces: AsyncIterable<Buffer>,
  work: (body: AsyncIterable<Buffer>) => Promise<Answer>,
): Promise<Sent> {
  const digest = createHash('sha256').update(key.bodyDigest)
  async function* digested() {
    for await (const piece of pieces) {
      digest.update(piece)
      yield piece
    }
  }

  const now = clock.now()
  const renewedSince = now.subtract({ seconds: CLAIM_SECONDS })
  const isClaimed = await claimKey(db, key, { now, notBefore: oldestKept(now), renewedSince })
  if (!isClaimed) {
    const earlier = await findAnswer(db, key, oldestKept(now))
    if (!earlier) throw stillRunning()
    for await (const piece of pieces) digest.update(piece)
    if (!earlier.bodyDigest.equals(digest.digest())) throw otherBody()
    return { ...earlier, text: earlier.answer }
  }

  const renew = () => void renewClaim(db, key, clock.now()).catch(() => {})
  const renewing = setInterval(renew, RENEW_CLAIM_MS)
  try {
    const done = sent(await work(digested()))
    await saveAnswer(db, { ...key, bodyDigest: digest.digest() }, done, clock.now())
    return done
  } catch (error) {
    await releaseClaim(db, key).catch(() => {}) // if the database is away, the claim runs out
    throw error
  } finally {
    clearInterval(renewing)
  }
}

async function workOnce(
  tx: Db,
  key: IdempotencyKey,
  request: FastifyRequest,
  now: Temporal.Instant,
  work: Work,
): Promise<Sent> {
  const [free, earlier] = await Promise.all([
    lockKey(tx, key),
    findAnswer(tx, key, oldestKept(now)),
  ])
  if (!free) throw stillRunning()
  if (earlier) {
    if (!earlier.bodyDigest.equals(key.bodyDigest)) throw otherBody()
    return { ...earlier, text: earlier.answer }
  }
  const answer = await tx.attempt(work).then(sent, (error) => refused(error, request))
  await saveAnswer(tx, key, answer, now)
  return answer
}

/** `text` is what is sent, `answer` what is kept of it. */
type Sent = RememberedAnswer & { text: string; afterCommit?: Answer['afterCommit'] }

function sent({ status, body, headers = {}, secrets = [], afterCommit }: Answer): Sent {
  const text = wireText(body)
  const hidden = Object.fromEntries(secrets.map((name) => [name, null]))
  const answer = secrets.length === 0 ? text : wireText({ ...body, ...hidden })
  return { status, headers, text, answer, afterCommit }
}

/** A refusal is an answer too; a failure of ours is none, and may be tried again. */
function refused(error: unknown, request: FastifyRequest): Sent {
  if (!(error instanceof RequestError) || error.status >= 500) throw error
  const text = wireText(problemOf(error, request.url))
  const headers = { ...error.headers, 'content-type': PROBLEM_JSON }
  return { status: error.status, headers, text, answer: text }
}

/** What is refused before its handler runs, such as a body with faults, is remembered here. */
export function rememberRefusals(app: FastifyInstance, { database, clock }: Services) {
  app.decorateRequest('takenByHandler', false)
  app.addHook('onSend', async (request, reply, payload) => {
    const { config } = request.routeOptions
    if (
      !config?.idempotent ||
      config.streams ||
      request.takenByHandler ||
      typeof payload !== 'string'
    )
      return
    if (!REMEMBERED_REFUSALS.has(reply.statusCode) || request.body === undefined) return
    if (!isKey(request.headers['idempotency-key'])) return
    const key = readKey(request, request.body)!
    const { businessId, user } = callerOf(request)
    const db = businessId === 0 ? database.operator : database.forBusiness(businessId, user)
    const headers = { 'content-type': PROBLEM_JSON }
    const now = clock.now()
    await db.transaction(async (tx) => {
      const [free, earlier] = await Promise.all([
        lockKey(tx, key),
        findAnswer(tx, key, oldestKept(now)),
      ])
      if (!free || earlier) return
      await saveAnswer(tx, key, { status: reply.statusCode, headers, answer: payload }, now)
    })
  })
}

/** Others, such as 401, 403 and 429, say that nothing was begun. */
const REMEMBERED_REFUSALS = new Set([400, 404, 409, 412, 422])

/** Forgets what is past its day; run now and then by whoever keeps house. */
export async function forgetOldAnswers(engine: Db, now: Temporal.Instant) {
  const page = 1_000
  while ((await deleteAnswersBefore(engine, oldestKept(now), page)) === page);
}

const oldestKept = (now: Temporal.Instant) => now.subtract({ hours: 24 })

const stillRunning = () => conflict('The first request with this Idempotency-Key is still running.')

const otherBody = () =>
  invalid([{ pointer: 'Idempotency-Key', detail: 'was used before with another body' }])

function readKey(request: FastifyRequest, body: unknown): IdempotencyKey | undefined {
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
    businessId,
    digest: digestOf([credential, method, path, key]),
    bodyDigest: digestOf([query, inOrder(body)]),
  }
}

/** The operator speaks for the business in the path, where there is one, or else for none. */
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

/** The order of properties says nothing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, inOrder(inner)])
}

declare module 'fastify' {
  interface FastifyRequest {
    takenByHandler: boolean
  }
}
