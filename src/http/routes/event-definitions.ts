import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { deleteDefinition, saveDefinition } from '../../automation/define.ts'
import { planDefinition } from '../../automation/plan.ts'
import type { Findings } from '../../automation/reconcile.ts'
import { EventDefinition, EventDefinitionBody } from '../../contract/event-definition.ts'
import { eventTypeById } from '../../contract/event-type.ts'
import { objectKind } from '../../contract/objects.ts'
import { PageOf } from '../../contract/page.ts'
import { DefinitionQuery, DefinitionsQuery } from '../../contract/queries.ts'
import type { Database } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import {
  findDefinition,
  listDefinitions,
  listDefinitionsOfCampaign,
  listDefinitionsOfTypes,
  type StoredDefinition,
} from '../../store/event-definitions.ts'
import type { Caller } from '../../auth/caller.ts'
import { listShownActions } from '../../store/event-actions.ts'
import { readActivities } from '../../store/definition-activity.ts'
import { findLastReconciliation } from '../../store/reconciliation.ts'
import { answerOf as actionAnswerOf } from './event-actions.ts'
import { findObject } from '../../store/objects.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import type { Routes, Services } from '../server/services.ts'

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
      schema: {
        tags,
        summary: 'One definition',
        params: ById,
        querystring: DefinitionQuery,
        response: { 200: EventDefinition },
      },
    },
    async ({ caller, params: { eventDefinitionId }, query: { active } }) => {
      const definition = await findDefinition(caller.db, caller.businessId, eventDefinitionId)
      const isShown = definition?.active || (active === 'all' && !definition?.deletedDate)
      if (!definition || !isShown) throw notFound('event definition', eventDefinitionId)
      return answerOf(definition)
    },
  )

  app.get(
    '/eventDefinition',
    {
      config: reading,
      schema: {
        tags,
        summary: 'Active or paused definitions, oldest first',
        querystring: DefinitionsQuery,
        response: {
          200: PageOf(EventDefinition, 'EventDefinitionPage'),
        },
      },
    },
    async ({ caller, query }) => {
      const { active = 'true', eventDefnId, expand } = query
      const list = JSON.stringify(['eventDefinition', active, eventDefnId])
      const { limit, after } = readPage(query, list)
      const found = await listDefinitions(caller.db, caller.businessId, {
        active: active === 'all' ? undefined : active === 'true',
        eventDefnId,
        afterId: after?.[0] ?? 0,
        limit: limit + 1,
      })
      const page = pageOf(found, limit, list, (one) => [one.eventDefnId])
      const items = await expandDefinitions(services, caller, page.items, expand)
      return { ...page, items }
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
          requireMatch(request, answerUnlessDeleted(current)),
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
        deleteDefinition(tx, eventDefinitionId, defining, (current) =>
          requireMatch(request, answerUnlessDeleted(current)),
        ),
      )
      if (!definition) throw notFound('event definition', eventDefinitionId)
      return { ...answerOf(definition), ...(await planWithin(services, definition)) }
    },
  )
}

/** A page of definitions as answered, with what `expand` asks for. */
async function expandDefinitions(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { db, businessId }: Pick<Caller, 'db' | 'businessId'>,
  definitions: StoredDefinition[],
  expand: string | undefined,
) {
  const ids = definitions.map((definition) => definition.eventDefnId)
  const wants = (name: string) => expand?.split(',').includes(name) && ids.length > 0
  const [actions, activities, reconciliation] = await Promise.all([
    wants('actions') ? listShownActions(db, businessId, ids) : undefined,
    wants('activity') ? readActivities(db, businessId, definitions, clock.now()) : undefined,
    wants('activity') ? findLastReconciliation<Findings>(database.engine) : undefined,
  ])
  const stopped = new Set(reconciliation?.findings.stoppedDefinitionIds)
  const actionsOf = actions && Map.groupBy(actions, (action) => action.eventDefnId)
  return definitions.map((definition) => {
    const { eventDefnId } = definition
    return {
      ...answerOf(definition),
      ...(actionsOf && {
        eventActions: (actionsOf.get(eventDefnId) ?? []).map(actionAnswerOf),
      }),
      ...(activities && {
        activity: {
          ...activities.get(eventDefnId),
          hasStoppedMatching: stopped.has(eventDefnId),
        } as never,
      }),
    }
  })
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

/** What a GET with `active=all` answers. */
const answerUnlessDeleted = (definition: StoredDefinition | undefined) =>
  definition && !definition.deletedDate ? answerOf(definition) : undefined

/** Spec 2.1: its actions have an address of their own. Moments become numbers on the wire. */
export function answerOf(definition: StoredDefinition) {
  const { plannedVersion: _planned, askedSince: _since, eventTypeId, ...rest } = definition
  const eventType = eventTypeById(eventTypeId)!
  return { ...rest, eventActions: null, eventType } as unknown as EventDefinition
}
