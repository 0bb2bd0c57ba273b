import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Business, BUSINESS_FIELDS, BusinessWrite } from '../../contract/business.ts'
import { ApiKeyWrite, NewApiKey, ApiKey, User, UserWrite } from '../../contract/credentials.ts'
import { isPlainObject } from '../../contract/json.ts'
import { readFields } from '../../contract/read-fields.ts'
import { unknownProperties } from '../../contract/unknown-properties.ts'
import { PageOf, PageQuery } from '../../contract/page.ts'
import type { Db } from '../../database/database.ts'
import { forbidden, invalid, notFound } from '../../errors.ts'
import { operatorFieldFaults } from '../../scheduling/business.ts'
import { followZone } from '../../scheduling/follow.ts'
import {
  findBusiness,
  insertBusiness,
  listBusinesses,
  lockBusiness,
  lockBusinessByExternalId,
  updateBusiness,
  type BusinessFields,
  type By,
} from '../../store/businesses.ts'
import { answerSavedKey } from './api-keys.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok, type Answer } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'
import { answerSavedUser } from './users.ts'

const ById = Type.Object({ businessId: Type.Integer({ minimum: 1 }) })
const tags = ['Business']
const OPERATOR = 'OPERATOR'

export const businesses: Routes = async (app, services) => {
  const { database, clock, credentials } = services

  /** The operator's door shows every business, a caller's its own. */
  const doorOf = (request: FastifyRequest) =>
    request.isOperator ? database.operator : request.caller.db

  app.get(
    '/business',
    {
      config: { operator: true, scope: 'scheduling:read', function: 'VIEW_BUSINESS' },
      schema: {
        tags,
        summary: 'Every business for the operator, else your own',
        querystring: Type.Object(PageQuery),
        response: {
          200: PageOf(Business, 'BusinessPage'),
        },
      },
    },
    async (request) => {
      const { limit, after } = readPage(request.query, 'business')
      const page = { after: Number(after?.[0] ?? 0), limit: limit + 1 }
      const rows = await listBusinesses(doorOf(request), page)
      return pageOf(rows, limit, 'business', (row) => [row.businessId]) as never
    },
  )

  app.get(
    '/business/:businessId',
    {
      config: {
        operator: true,
        scope: 'scheduling:read',
        function: 'VIEW_BUSINESS',
        etag: true,
      },
      schema: { tags, summary: 'One business', params: ById, response: { 200: Business } },
    },
    async (request) => {
      const business = await findBusiness(doorOf(request), request.params.businessId)
      if (!business) throw notFound('business', request.params.businessId)
      return business as never
    },
  )

  app.post(
    '/business',
    {
      config: {
        operator: true,
        scope: 'admin',
        function: 'MANAGE_BUSINESS',
        etag: true,
        idempotent: true,
      },
      attachValidation: true,
      schema: {
        tags,
        summary: 'Make a business, as the operator; or change one, or your own',
        body: BusinessWrite,
        response: { 200: Business, 201: Business },
      },
    },
    async (request, reply) => {
      const by = { user: userOf(request), now: clock.now() }
      const answer = await answerOnce(doorOf(request), request, reply, by.now, (tx) =>
        saveBusiness(tx, request, by),
      )
      credentials.forget()
      return answer
    },
  )

  app.delete(
    '/business/:businessId',
    {
      config: { operator: true, etag: true },
      schema: {
        tags,
        summary: 'Deactivate a business',
        description:
          'Its keys and people are refused from then on; a POST by the operator revives it.',
        params: ById,
        response: { 200: Business },
      },
    },
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
      return deactivated as never
    },
  )

  app.post(
    '/business/:businessId/apiKey',
    {
      config: { operator: true, idempotent: true },
      attachValidation: true,
      schema: {
        tags,
        summary: 'Make a key of a business',
        description: 'The key itself is shown once, when it is made.',
        params: ById,
        body: ApiKeyWrite,
        response: { 200: ApiKey, 201: NewApiKey },
      },
    },
    async (request, reply) =>
      answerSavedKey(services, request, reply, await openForOperator(request.params.businessId)),
  )

  app.post(
    '/business/:businessId/user',
    {
      config: { operator: true, idempotent: true },
      attachValidation: true,
      schema: {
        tags,
        summary: 'Make a person of a business, such as its first',
        params: ById,
        body: UserWrite,
        response: { 200: User, 201: User },
      },
    },
    async (request, reply) =>
      answerSavedUser(services, request, reply, {
        ...(await openForOperator(request.params.businessId)),
        role: null,
      }),
  )

  async function openForOperator(businessId: number) {
    const business = await findBusiness(database.operator, businessId)
    if (!business) throw notFound('business', businessId)
    const db = database.forBusiness(businessId, OPERATOR)
    return { db, businessId, user: OPERATOR, account: null }
  }
}

const userOf = (request: FastifyRequest) => (request.isOperator ? OPERATOR : request.caller.user)

async function saveBusiness(tx: Db, request: FastifyRequest, by: By): Promise<Answer> {
  const { body, isOperator } = request
  const current = await lockNamedBusiness(tx, request)
  if (current) requireMatch(request, current)
  const { values, faults } = readFields<BusinessFields>(BUSINESS_FIELDS, body, current)
  faults.push(...unknownProperties(BusinessWrite, body))
  if (!isOperator && current) faults.push(...operatorFieldFaults(values, current))
  if (faults.length > 0) throw invalid(faults)
  if (current) {
    if (values.timeZone !== current.timeZone) await followZone(tx, current.businessId)
    return ok(await updateBusiness(tx, current.businessId, values, by))
  }
  const business = await insertBusiness(tx, values, by)
  return created(business, `/business/${business.businessId}`)
}

/** The business that the body is about, by its id or its `externalId`; none means a new one. */
async function lockNamedBusiness(tx: Db, { body, isOperator }: FastifyRequest) {
  const { businessId, externalId } = isPlainObject(body) ? body : {}
  if (businessId !== undefined && businessId !== null) {
    if (!Number.isSafeInteger(businessId) || Number(businessId) < 1) {
      throw invalid([{ pointer: '/businessId', detail: 'must be an id' }])
    }
    const business = await lockBusiness(tx, Number(businessId))
    if (!business) throw notFound('business', Number(businessId))
    return business
  }
  if (!isOperator)
    throw forbidden('Only the operator makes businesses; name your own to change it.')
  return typeof externalId === 'string' ? lockBusinessByExternalId(tx, externalId) : undefined
}
