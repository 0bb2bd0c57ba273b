import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { makeMissingKeys } from '../../automation/sender-domains.ts'
import { Business, BUSINESS_BODY, BusinessWrite } from '../../contract/business.ts'
import { ApiKeyWrite, NewApiKey, ApiKey, User, UserWrite } from '../../contract/credentials.ts'
import { isPlainObject } from '../../contract/json.ts'
import { isUnchanged, readFields, readId } from '../../contract/read-fields.ts'
import { ChangesPageOf } from '../../contract/page.ts'
import { BusinessesQuery } from '../../contract/queries.ts'
import { SavePlan } from '../../contract/save-plan.ts'
import type { Database, Db } from '../../database/database.ts'
import { forbidden, invalid, notFound } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { mailPauseFaults, operatorFieldFaults, referenceFaults } from '../../scheduling/business.ts'
import { followBusiness } from '../../scheduling/follow.ts'
import { planSettings } from '../../scheduling/plan-save.ts'
import {
  findBusiness,
  insertBusiness,
  listBusinesses,
  listChangedBusinesses,
  lockBusiness,
  lockBusinessByExternalId,
  updateBusiness,
  type BusinessFields,
  type BusinessRow,
} from '../../store/businesses.ts'
import type { By } from '../../store/rows.ts'
import { answerSavedKey } from './api-keys.ts'
import { readList } from '../server/change-list.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok, type RouteAnswer } from '../server/idempotency.ts'
import { toInstant, toWire } from '../server/serialize.ts'
import { answerPlan } from './objects.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'
import { answerSavedUser } from './users.ts'

const ById = Type.Object({ businessId: Type.Integer({ minimum: 1 }) })
const tags = ['Business']
const OPERATOR = 'OPERATOR'

export const businesses: Routes = inOrder(() => [
  getBusinesses,
  getBusiness,
  postBusiness,
  postBusinessPlan,
  deleteBusiness,
  postApiKeyOfBusiness,
  postUserOfBusiness,
])

const getBusinesses: Routes = async (app, { database }) => {
  app.get(
    '/business',
    operation('listBusinesses', 'List businesses: all for the operator, your own for others', {
      config: { operator: true, scope: 'scheduling:read', function: 'VIEW_BUSINESS' },
      tags,
      description: 'Ordered by `businessId`; with `changedSince` in the order of the changes.',
      querystring: BusinessesQuery,
      response: { 200: ChangesPageOf(Business, 'BusinessPage') },
    }),
    async (request) => {
      const { externalId, active, modifiedSince } = request.query
      const filters = {
        externalId,
        active,
        modifiedSince: toInstant(modifiedSince),
      }
      const db = dbFor(request, database)
      const page = await readList(db, request.query, {
        kind: 'business',
        name: JSON.stringify(['business', externalId, active, modifiedSince]),
        seen: request.isOperator ? {} : { businessId: request.caller.businessId },
        types: ['id'],
        positionOf: (row: BusinessRow) => [row.businessId],
        read: ({ after, changes, limit }) =>
          changes
            ? listChangedBusinesses(db, filters, { changes, limit })
            : listBusinesses(db, filters, { after: Number(after?.[0] ?? 0), limit }),
      })
      return toWire(page)
    },
  )
}

const getBusiness: Routes = async (app, { database }) => {
  app.get(
    '/business/:businessId',
    operation('getBusiness', 'Read a business', {
      config: {
        operator: true,
        scope: 'scheduling:read',
        function: 'VIEW_BUSINESS',
        etag: true,
      },
      tags,
      params: ById,
      response: { 200: Business },
    }),
    async (request) => {
      const business = await findBusiness(dbFor(request, database), request.params.businessId)
      if (!business) throw notFound('business', request.params.businessId)
      return toWire(business)
    },
  )
}

const postBusiness: Routes = async (app, { database, clock, credentials, log }) => {
  app.post(
    '/business',
    operation('createBusiness', 'Create or change a business', {
      config: {
        operator: true,
        scope: 'admin',
        function: 'EDIT_BUSINESS',
        etag: true,
        idempotent: true,
        readsBody: true,
      },
      tags,
      description: 'Only the operator can create one. An OWNER can change their own.',
      body: BusinessWrite,
      response: { 200: Business, 201: Business },
    }),
    async (request, reply) => {
      const by = { user: userOf(request), now: clock.now() }
      const afterCommit = async () => {
        credentials.forget()
        await waitForKeys(database, log)
        return {}
      }
      return answerOnce(dbFor(request, database), request, reply, by.now, async (tx) => ({
        ...(await saveBusiness(tx, request, by)),
        afterCommit,
      }))
    },
  )
}

const postBusinessPlan: Routes = async (app, services) => {
  app.post(
    '/business/plan',
    operation('planBusiness', 'Show what saving your business would schedule, move and cancel', {
      config: { scope: 'scheduling:read', function: 'EDIT_BUSINESS', readsBody: true },
      tags,
      description:
        'A change of its time zone or quiet hours plans reminders again. Nothing is saved.',
      body: BusinessWrite,
      response: { 200: SavePlan },
    }),
    async (request, reply) =>
      answerPlan(services, request, reply, (planning) => {
        const by = { user: request.caller.user, now: planning.now }
        return planSettings(request.caller.db, planning, (tx) => saveBusiness(tx, request, by))
      }),
  )
}

const deleteBusiness: Routes = async (app, { database, clock, credentials }) => {
  app.delete(
    '/business/:businessId',
    operation('deleteBusiness', 'Deactivate a business', {
      config: { operator: true, etag: true },
      tags,
      description:
        'Its keys and people can no longer sign in. A POST by the operator with `active: true` reactivates it.',
      params: ById,
      response: { 200: Business },
    }),
    async (request) => {
      const { businessId } = request.params
      const deactivated = await database.operator.transaction(async (tx) => {
        const business = await lockBusiness(tx, businessId)
        if (!business) throw notFound('business', businessId)
        requireMatch(request, business)
        if (!business.active) return business
        const by = { user: OPERATOR, now: clock.now() }
        return updateBusiness(tx, businessId, { ...business, active: false }, by)
      })
      credentials.forget()
      return toWire(deactivated)
    },
  )
}

const postApiKeyOfBusiness: Routes = async (app, services) => {
  app.post(
    '/business/:businessId/apiKey',
    operation('createApiKeyOfBusiness', 'Create an API key for a business', {
      config: { operator: true, idempotent: true, etag: true, untagged: 'key', readsBody: true },
      tags,
      description: 'The key itself is shown once, when it is created.',
      params: ById,
      body: ApiKeyWrite,
      response: { 200: ApiKey, 201: NewApiKey },
    }),
    async (request, reply) =>
      answerSavedKey(
        services,
        request,
        reply,
        await actAsOperator(request.params.businessId, services.database),
      ),
  )
}

const postUserOfBusiness: Routes = async (app, services) => {
  app.post(
    '/business/:businessId/user',
    operation('createUserOfBusiness', 'Create a person in a business, such as its first owner', {
      config: { operator: true, idempotent: true, etag: true, readsBody: true },
      tags,
      params: ById,
      body: UserWrite,
      response: { 200: User, 201: User },
    }),
    async (request, reply) =>
      answerSavedUser(services, request, reply, {
        ...(await actAsOperator(request.params.businessId, services.database)),
        role: null,
      }),
  )
}

/**
 * Waits for the DKIM keys up to a time limit, so that the answer has the DNS records. If this node
 * stops before they are made, an engine makes them.
 */
async function waitForKeys(database: Database, log: Log) {
  const made = makeMissingKeys(database.engine).catch((err) =>
    log.warn({ err }, 'making DKIM keys failed'),
  )
  const stopWaiting = new AbortController()
  const timeLimit = sleep(MAX_KEY_WAIT_MS, undefined, { signal: stopWaiting.signal })
  await Promise.race([made, timeLimit.catch(() => {})])
  stopWaiting.abort()
}

const MAX_KEY_WAIT_MS = 10_000

/** The operator's database role sees every business, a caller's only its own. */
const dbFor = (request: FastifyRequest, database: Database) =>
  request.isOperator ? database.operator : request.caller.db

async function actAsOperator(businessId: number, database: Database) {
  const business = await findBusiness(database.operator, businessId)
  if (!business) throw notFound('business', businessId)
  const db = database.forBusiness(businessId, OPERATOR)
  return { db, businessId, user: OPERATOR, account: null }
}

const userOf = (request: FastifyRequest) => (request.isOperator ? OPERATOR : request.caller.user)

async function saveBusiness(tx: Db, request: FastifyRequest, by: By): Promise<RouteAnswer> {
  const { body, isOperator } = request
  const current = await lockNamedBusiness(tx, request)
  if (current) requireMatch(request, current)
  const { values, faults } = readFields<BusinessFields>(BUSINESS_BODY, body, current)
  faults.push(...mailPauseFaults(values, current))
  if (!isOperator && current) faults.push(...operatorFieldFaults(values, current))
  if (current) faults.push(...(await referenceFaults(tx, values, current)))
  if (faults.length > 0) throw invalid(faults)
  if (current && isUnchanged(values, current)) return ok(current)
  if (current) {
    await followBusiness(tx, current, values)
    return ok(await updateBusiness(tx, current.businessId, values, by))
  }
  // A new business has no files yet; its statuses are created with it.
  const business = await insertBusiness(tx, { ...values, logo: null }, by)
  const unset = { ...business, confirmStatus: null, cancelStatus: null }
  const unknown = await referenceFaults(tx, values, unset)
  if (unknown.length > 0) throw invalid(unknown)
  return created(business, `/business/${business.businessId}`)
}

/** The business that the body names by its id or `externalId`; undefined if it is new. */
async function lockNamedBusiness(tx: Db, { body, isOperator }: FastifyRequest) {
  const businessId = readId(body, 'businessId')
  if (businessId !== undefined) {
    const business = await lockBusiness(tx, businessId)
    if (!business) throw notFound('business', businessId)
    return business
  }
  if (!isOperator)
    throw forbidden(
      'Only the operator can create a business. Send your businessId to change yours.',
    )
  const externalId = isPlainObject(body) ? body.externalId : undefined
  return typeof externalId === 'string' ? lockBusinessByExternalId(tx, externalId) : undefined
}
