import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { deactivateDefinition, saveDefinition } from '../automation/define.ts'
import { planDefinition } from '../automation/plan.ts'
import { EventDefinition, EventDefinitionBody } from '../contract/event-definition.ts'
import { eventTypeById } from '../contract/event-type.ts'
import { objectKind } from '../contract/objects.ts'
import type { Database } from '../database/database.ts'
import { notFound } from '../errors.ts'
import {
  findDefinition,
  listDefinitions,
  listDefinitionsOfCampaign,
  listDefinitionsOfTypes,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { findObject } from '../store/objects.ts'
import { pageOf, PageQuery, readPage } from './cursor.ts'
import { requireMatch } from './etag.ts'
import { answerOnce, created, ok } from './idempotency.ts'
import type { Routes, Services } from './services.ts'

const ById = Type.Object({ eventDefinitionId: Type.Integer({ minimum: 1 }) })
const Definitions = Type.Array(EventDefinition)
const tags = ['event definition']
const reading = { scope: 'definitions:read' } as const
/** That it is still being planned is told beside a definition, and is no part of it. */
const writing = { scope: 'definitions:write', etag: true, untagged: 'planning' } as const

export const eventDefinitions: Routes = async (app, services) => {
  const { clock } = services

  app.get(
    '/eventDefinition/eventType/:eventTypeId',
    {
      config: reading,
      schema: {
        tags,
        params: Type.Object({ eventTypeId: Type.Integer() }),
        response: { 200: Definitions },
      },
    },
    async ({ caller, params: { eventTypeId } }) => {
      if (!eventTypeById(eventTypeId)) throw notFound('event type', eventTypeId)
      const found = await listDefinitionsOfTypes(caller.db, caller.businessId, [eventTypeId])
      return found.map(answerOf)
    },
  )

  app.get(
    '/eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId',
    {
      config: reading,
      schema: {
        tags,
        params: Type.Object({ invitationCampaignId: Type.Integer({ minimum: 1 }) }),
        response: { 200: Definitions },
      },
    },
    async ({ caller, params: { invitationCampaignId } }) => {
      const { db, businessId } = caller
      const kind = objectKind('invitationCampaign')!
      if (!(await findObject(db, businessId, kind, invitationCampaignId))) {
        throw notFound(kind.title, invitationCampaignId)
      }
      return (await listDefinitionsOfCampaign(db, businessId, invitationCampaignId)).map(answerOf)
    },
  )

  app.get(
    '/eventDefinition/:eventDefinitionId',
    {
      config: { ...reading, etag: true },
      schema: { tags, params: ById, response: { 200: EventDefinition } },
    },
    async ({ caller, params: { eventDefinitionId } }) => {
      const definition = await findDefinition(caller.db, caller.businessId, eventDefinitionId)
      if (!definition?.active) throw notFound('event definition', eventDefinitionId)
      return answerOf(definition)
    },
  )

  app.get(
    '/eventDefinition',
    {
      config: reading,
      schema: {
        tags,
        querystring: Type.Object(PageQuery),
        response: {
          200: Type.Object({
            items: Definitions,
            nextCursor: Type.Union([Type.String(), Type.Null()]),
          }),
        },
      },
    },
    async ({ caller, query }) => {
      const { limit, after } = readPage(query, 'eventDefinition')
      const found = await listDefinitions(caller.db, caller.businessId, {
        afterId: after?.[0] ?? 0,
        limit: limit + 1,
      })
      const page = pageOf(found, limit, 'eventDefinition', (one) => [one.eventDefnId])
      return { ...page, items: page.items.map(answerOf) }
    },
  )

  app.post(
    '/eventDefinition',
    {
      config: { ...writing, idempotent: true },
      // Both forms and both nestings are read by the contract itself.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags,
        body: EventDefinitionBody,
        response: { 200: EventDefinition, 201: EventDefinition },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const defining = { businessId: caller.businessId, user: caller.user, now: clock.now() }
      return answerOnce(caller.db, request, reply, defining.now, async (tx) => {
        const { definition, before } = await saveDefinition(tx, body, defining, (current) =>
          requireMatch(request, current?.active ? answerOf(current) : undefined),
        )
        const answer = answerOf(definition)
        const afterCommit = () => planWithin(services, definition)
        return before
          ? { ...ok(answer), afterCommit }
          : { ...created(answer, `/eventDefinition/${definition.eventDefnId}`), afterCommit }
      })
    },
  )

  app.delete(
    '/eventDefinition/:eventDefinitionId',
    {
      config: writing,
      schema: { tags, params: ById, response: { 200: EventDefinition } },
    },
    async (request) => {
      const { caller, params } = request
      const { eventDefinitionId } = params
      const defining = { businessId: caller.businessId, user: caller.user, now: clock.now() }
      const definition = await caller.db.transaction((tx) =>
        deactivateDefinition(tx, eventDefinitionId, defining, (current) =>
          requireMatch(request, current.active ? answerOf(current) : undefined),
        ),
      )
      if (!definition) throw notFound('event definition', eventDefinitionId)
      return { ...answerOf(definition), ...(await planWithin(services, definition)) }
    },
  )
}

/** A long plan continues after the answer; the caller does not wait for its end. */
const MAX_PLAN_WAIT_MS = 5_000
const BUSY_RETRY_MS = 100

async function planWithin({ database, clock, log }: Services, definition: StoredDefinition) {
  if (definition.plannedVersion >= definition.version) return {}
  const patience = AbortSignal.timeout(MAX_PLAN_WAIT_MS)
  const isPlanned = await Promise.race([
    planOnceFree(database, definition, () => clock.now(), patience).catch((err) => {
      // The planner continues every plan that is not complete.
      log.error({ err, eventDefnId: definition.eventDefnId }, 'plan failed')
      return false
    }),
    sleep(MAX_PLAN_WAIT_MS, false, { ref: false }),
  ])
  return isPlanned ? {} : { planning: true }
}

/** If another worker is planning the definition, waits until it has finished. */
async function planOnceFree(
  database: Database,
  { businessId, eventDefnId }: StoredDefinition,
  now: () => Temporal.Instant,
  patience: AbortSignal,
) {
  const db = database.forBusiness(businessId, 'SYSTEM')
  while (!patience.aborted) {
    const current = await findDefinition(db, businessId, eventDefnId)
    if (!current || current.plannedVersion >= current.version) return true
    if (await planDefinition(database, current, now)) return true
    await sleep(BUSY_RETRY_MS)
  }
  return false
}

/** Spec 2.1: its actions have an address of their own. Moments become numbers on the wire. */
export function answerOf(definition: StoredDefinition) {
  const { plannedVersion: _planned, askedSince: _since, eventTypeId, ...rest } = definition
  const eventType = eventTypeById(eventTypeId)!
  return { ...rest, eventActions: null, eventType } as unknown as EventDefinition
}
