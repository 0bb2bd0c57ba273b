import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { createApiKey } from '../../auth/api-keys.ts'
import type { Account } from '../../auth/caller.ts'
import { API_KEY_BODY, ApiKey, ApiKeyWrite, NewApiKey } from '../../contract/credentials.ts'
import type { KeyScope } from '../../contract/roles.ts'
import { foreignBusiness, isUnchanged, readFields, readId } from '../../contract/read-fields.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import type { Db } from '../../database/database.ts'
import { forbidden, invalid, notFound, type Fault } from '../../errors.ts'
import {
  findApiKey,
  listApiKeys,
  lockApiKey,
  updateApiKey,
  type ApiKeyRow,
} from '../../store/api-keys.ts'
import type { By } from '../../store/rows.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, ok, type RouteAnswer } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const ById = Type.Object({ apiKeyId: Type.Integer({ minimum: 1 }) })
const tags = ['Authentication']
const access = { scope: 'admin', function: 'MANAGE_KEYS' } as const

export const apiKeys: Routes = inOrder(() => [getApiKeys, getApiKey, postApiKey, deleteApiKey])

const getApiKeys: Routes = async (app) => {
  app.get(
    '/apiKey',
    operation('listApiKeys', 'List the active keys of the business', {
      config: access,
      tags,
      querystring: Type.Object(PageQuery),
      response: { 200: PageOf(ApiKey, 'ApiKeyPage') },
    }),
    async ({ caller, query }) => {
      const { limit, after } = readPage(query, 'apiKey')
      const page = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listApiKeys(caller.db, caller.businessId, page)
      return toWire(pageOf(rows, limit, 'apiKey', (row) => [row.apiKeyId]))
    },
  )
}

const getApiKey: Routes = async (app) => {
  app.get(
    '/apiKey/:apiKeyId',
    operation('getApiKey', 'Read a key', {
      config: { ...access, etag: true },
      tags,
      params: ById,
      response: { 200: ApiKey },
    }),
    async ({ caller, params }) => {
      const key = await findApiKey(caller.db, caller.businessId, params.apiKeyId)
      if (!key) throw notFound('key', params.apiKeyId)
      return toWire(key)
    },
  )
}

const postApiKey: Routes = async (app, services) => {
  app.post(
    '/apiKey',
    operation('createApiKey', 'Create or change a key', {
      config: { ...access, idempotent: true, etag: true, untagged: 'key', readsBody: true },
      tags,
      description:
        'The key itself is shown once, when it is created. A key that an ADMINISTRATOR creates is ' +
        'revoked when that person is deactivated or gets another role.',
      body: ApiKeyWrite,
      response: { 200: ApiKey, 201: NewApiKey },
    }),
    (request, reply) => answerSavedKey(services, request, reply, request.caller),
  )
}

const deleteApiKey: Routes = async (app, { clock, credentials }) => {
  app.delete(
    '/apiKey/:apiKeyId',
    operation('revokeApiKey', 'Revoke a key', {
      config: { ...access, etag: true },
      tags,
      description: 'All nodes refuse the key within one second. A key cannot be reactivated.',
      params: ById,
      response: { 200: ApiKey },
    }),
    async (request) => {
      const { caller, params } = request
      const by = { user: caller.user, now: clock.now() }
      const revoked = await caller.db.transaction(async (tx) => {
        const key = await lockApiKey(tx, caller.businessId, params.apiKeyId)
        if (!key) throw notFound('key', params.apiKeyId)
        requireMatch(request, key)
        if (!key.active) return key
        return updateApiKey(tx, caller.businessId, { ...key, active: false }, by)
      })
      credentials.forget()
      return toWire(revoked)
    },
  )
}

type Author = { db: Db; businessId: number; user: string; account: Account | null }

/** Also used by POST /business/{businessId}/apiKey, with which the operator creates the first key. */
export async function answerSavedKey(
  { clock, credentials }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  { db, businessId, user, account }: Author,
) {
  const by = { user, now: clock.now() }
  const answer = await answerOnce(db, request, reply, by.now, (tx) =>
    saveKey(tx, { businessId, account }, request, by),
  )
  credentials.forget()
  return answer
}

async function saveKey(
  tx: Db,
  { businessId, account }: Pick<Author, 'businessId' | 'account'>,
  request: FastifyRequest,
  by: By,
): Promise<RouteAnswer> {
  const { body } = request
  const id = readId(body, 'apiKeyId')
  if (id === undefined) {
    const fields = readKey(body, undefined, { businessId, now: by.now })
    const key = await createApiKey(tx, businessId, fields, by, account)
    const headers = { location: `/apiKey/${key.apiKeyId}` }
    return { status: 201, body: key, headers, secrets: ['key'] }
  }
  const current = await lockApiKey(tx, businessId, id)
  if (!current) throw notFound('key', id)
  refuseAboveOwnRights(account, current)
  requireMatch(request, current)
  const fields = readKey(body, current, { businessId, now: by.now })
  if (isUnchanged(fields, current)) return ok(current)
  return ok(await updateApiKey(tx, businessId, { ...current, ...fields }, by))
}

/** A changed key could get permissions that the caller does not have. */
function refuseAboveOwnRights(account: Account | null, { makerUserId }: ApiKeyRow) {
  if (makerUserId !== null || account === null || account.role === 'OWNER') return
  throw forbidden('Only an OWNER can change a key that belongs to the business.')
}

type KeyFields = { name: string; scopes: KeyScope[]; expiresTime: Temporal.Instant | null }

function readKey(
  body: unknown,
  current: KeyFields | undefined,
  { businessId, now }: { businessId: number; now: Temporal.Instant },
) {
  const { values, faults } = readFields<KeyFields>(API_KEY_BODY, body, current)
  faults.push(...foreignBusiness(body, businessId))
  if (!faults.some(({ pointer }) => pointer === '/expiresTime')) {
    faults.push(...pastFaults(values.expiresTime, current?.expiresTime, now))
  }
  if (faults.length > 0) throw invalid(faults)
  return { ...values, scopes: [...new Set(values.scopes)] }
}

function pastFaults(
  wanted: Temporal.Instant | null,
  current: Temporal.Instant | null | undefined,
  now: Temporal.Instant,
): Fault[] {
  if (!(wanted instanceof Temporal.Instant) || (current && wanted.equals(current))) return []
  if (Temporal.Instant.compare(wanted, now) > 0) return []
  return [
    { pointer: '/expiresTime', detail: 'must be in the future; use DELETE to revoke a key now' },
  ]
}
