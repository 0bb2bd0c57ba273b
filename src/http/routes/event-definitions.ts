import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { deleteDefinition, saveDefinition } from '../../automation/define.ts'
import { planDefinition } from '../../automation/plan.ts'
import type { Findings } from '../../automation/reconcile.ts'
import { EventDefinition, EventDefinitionBody } from '../../contract/event-definition.ts'
import { eventTypeById } from '../../contract/event-type.ts'
import { objectKind } from '../../contract/objects.ts'
import { ChangesPageOf } from '../../contract/page.ts'
import { DefinitionQuery, DefinitionsQuery } from '../../contract/queries.ts'
import type { Database, Db } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import {
  findDefinition,
  listChangedDefinitions,
  listDefinitions,
  listDefinitionsOfCampaign,
  listDefinitionsOfTypes,
  type StoredDefinition,
} from '../../store/event-definitions.ts'
import type { Caller } from '../../auth/caller.ts'
import { listActions } from '../../store/event-actions.ts'
import { readActivities } from '../../store/definition-activity.ts'
import { findLastReconciliation } from '../../store/reconciliation.ts'
import { answerOf as actionAnswerOf } from './event-actions.ts'
import { findObject } from '../../store/objects.ts'
import { readList } from '../server/change-list.ts'
import { requireMatch, versionOf } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const ById = Type.Object({ eventDefinitionId: Type.Integer({ minimum: 1 }) })
const Definitions = Type.Array(EventDefinition)
const tags = ['event definition']
const reading = { scope: 'definitions:read' } as const
const writing = { scope: 'definitions:write', etag: true } as const

export const eventDefinitions: Routes = inOrder(() => [
  getDefinitionsOfType,
  getDefinitionsOfCampaign,
  getDefinition,
  getDefinitions,
  postDefinition,
  deactivateDefinition,
])

const getDefinitionsOfType: Routes = async (app) => {
  app.get(
    '/eventDefinition/eventType/:eventTypeId',
    operation('listEventDefinitionsOfType', 'List the active definitions of an event type', {
      config: reading,
      tags,
      params: Type.Object({ eventTypeId: Type.Integer() }),
      response: { 200: Definitions },
    }),
    async ({ caller, params: { eventTypeId } }) => {
      if (!eventTypeById(eventTypeId)) throw notFound('event type', eventTypeId)
      const found = await listDefinitionsOfTypes(caller.db, caller.businessId, [eventTypeId])
      return found.map(answerOf)
    },
  )
}

const getDefinitionsOfCampaign: Routes = async (app) => {
  app.get(
    '/eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId',
    operation(
      'listEventDefinitionsOfCampaign',
      'List the active definitions of an invitation campaign',
      {
        config: reading,
        tags,
        params: Type.Object({ invitationCampaignId: Type.Integer({ minimum: 1 }) }),
        response: { 200: Definitions },
      },
    ),
    async ({ caller, params: { invitationCampaignId } }) => {
      const { db, businessId } = caller
      const kind = objectKind('invitationCampaign')!
      if (!(await findObject(db, businessId, kind, invitationCampaignId))) {
        throw notFound(kind.title, invitationCampaignId)
      }
      return (await listDefinitionsOfCampaign(db, businessId, invitationCampaignId)).map(answerOf)
    },
  )
}

const getDefinition: Routes = async (app) => {
  app.get(
    '/eventDefinition/:eventDefinitionId',
    operation('getEventDefinition', 'Read a definition', {
      config: { ...reading, etag: true },
      tags,
      description: 'The `ETag` also covers the actions of the definition.',
      params: ById,
      querystring: DefinitionQuery,
      response: { 200: EventDefinition },
    }),
    async ({ caller, params: { eventDefinitionId }, query: { active, expand } }, reply) => {
      const { db, businessId } = caller
      const [definition, actions] = await Promise.all([
        findDefinition(db, businessId, eventDefinitionId),
        actionsOf(db, businessId, eventDefinitionId),
      ])
      const isShown = definition?.active || (active === 'all' && !definition?.deletedDate)
      if (!definition || !isShown) throw notFound('event definition', eventDefinitionId)
      const answer = answerOf(definition)
      reply.header('etag', versionOf(answer, actions))
      return expand === undefined ? answer : { ...answer, eventActions: actions }
    },
  )
}

const getDefinitions: Routes = async (app, services) => {
  app.get(
    '/eventDefinition',
    operation('listEventDefinitions', 'List definitions, oldest first', {
      config: reading,
      tags,
      description: 'With `changedSince` in the order of the changes.',
      querystring: DefinitionsQuery,
      response: { 200: ChangesPageOf(EventDefinition, 'EventDefinitionPage') },
    }),
    async ({ caller, query }) => {
      const { db, businessId } = caller
      const { eventDefnId, expand } = query
      const active = query.active ?? (query.changedSince === undefined ? 'true' : 'all')
      const filters = { active: active === 'all' ? undefined : active === 'true', eventDefnId }
      const page = await readList(db, query, {
        kind: 'eventDefinition',
        name: JSON.stringify(['eventDefinition', active, eventDefnId]),
        seen: { businessId },
        types: ['id'],
        positionOf: (one: StoredDefinition) => [one.eventDefnId],
        read: ({ after, changes, limit }) =>
          changes
            ? listChangedDefinitions(db, businessId, { ...filters, changes, limit })
            : listDefinitions(db, businessId, {
                ...filters,
                afterId: Number(after?.[0] ?? 0),
                limit,
              }),
      })
      const items = await expandDefinitions(services, caller, page.items, expand)
      return { ...page, items }
    },
  )
}

const postDefinition: Routes = async (app, services) => {
  app.post(
    '/eventDefinition',
    operation('createEventDefinition', 'Create or change an event definition', {
      config: { ...writing, idempotent: true, readsBody: true },
      tags,
      body: EventDefinitionBody,
      response: { 200: EventDefinition, 201: EventDefinition },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const defining = {
        businessId: caller.businessId,
        user: caller.user,
        now: services.clock.now(),
      }
      return answerOnce(caller.db, request, reply, defining.now, async (tx) => {
        const { definition, before } = await saveDefinition(tx, body, defining, (current) =>
          requireVersion(request, tx, current),
        )
        const { eventDefnId } = definition
        const answer = answerOf(definition)
        const saved = before ? ok(answer) : created(answer, `/eventDefinition/${eventDefnId}`)
        const etag = versionOf(answer, await actionsOf(tx, caller.businessId, eventDefnId))
        const afterCommit = () => planWithin(services, definition)
        return { ...saved, headers: { ...saved.headers, etag }, afterCommit }
      })
    },
  )
}

const deactivateDefinition: Routes = async (app, services) => {
  app.delete(
    '/eventDefinition/:eventDefinitionId',
    operation('deleteEventDefinition', 'Deactivate an event definition', {
      config: writing,
      tags,
      params: ById,
      response: { 200: EventDefinition },
    }),
    async (request, reply) => {
      const { caller, params } = request
      const { eventDefinitionId } = params
      const defining = {
        businessId: caller.businessId,
        user: caller.user,
        now: services.clock.now(),
      }
      const definition = await caller.db.transaction((tx) =>
        deleteDefinition(tx, eventDefinitionId, defining, (current) =>
          requireVersion(request, tx, current),
        ),
      )
      if (!definition) throw notFound('event definition', eventDefinitionId)
      const answer = answerOf(definition)
      const actions = await actionsOf(caller.db, caller.businessId, eventDefinitionId)
      reply.header('etag', versionOf(answer, actions))
      return { ...answer, ...(await planWithin(services, definition)) }
    },
  )
}

/** Adds the properties that `expand` names. */
async function expandDefinitions(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  { db, businessId }: Pick<Caller, 'db' | 'businessId'>,
  definitions: StoredDefinition[],
  expand: string | undefined,
) {
  const ids = definitions.map((definition) => definition.eventDefnId)
  const wants = (name: string) => expand?.split(',').includes(name) && ids.length > 0
  const [actions, activities, reconciliation] = await Promise.all([
    wants('actions') ? listActions(db, businessId, { eventDefnIds: ids }) : undefined,
    wants('activity') ? readActivities(db, businessId, definitions, clock.now()) : undefined,
    wants('activity') ? findLastReconciliation<Findings>(database.engine) : undefined,
  ])
  const stopped = new Set(reconciliation?.findings.stoppedDefinitionIds)
  const actionsOf = actions && Map.groupBy(actions, (action) => action.eventDefnId)
  return definitions.map((definition) => {
    const { eventDefnId } = definition
    const activity = activities?.get(eventDefnId)
    return {
      ...answerOf(definition),
      ...(actionsOf && {
        eventActions: (actionsOf.get(eventDefnId) ?? []).map(actionAnswerOf),
      }),
      ...(activity && {
        activity: toWire({ ...activity, hasStoppedMatching: stopped.has(eventDefnId) }),
      }),
    }
  })
}

/** After this time the request is answered with `planning: true`; the planner continues. */
const MAX_PLAN_WAIT_MS = 5_000
const BUSY_RETRY_MS = 100

async function planWithin({ database, clock, log }: Services, definition: StoredDefinition) {
  if (definition.plannedVersion >= definition.version) return {}
  const timeout = AbortSignal.timeout(MAX_PLAN_WAIT_MS)
  const isPlanned = await Promise.race([
    planWhenFree(database, definition, () => clock.now(), timeout).catch((err) => {
      // The planner retries every plan that is not complete.
      log.error({ err, eventDefnId: definition.eventDefnId }, 'planning a definition failed')
      return false
    }),
    sleep(MAX_PLAN_WAIT_MS, false, { ref: false }),
  ])
  return isPlanned ? {} : { planning: true }
}

/** If another worker plans this definition, waits until it has finished. */
async function planWhenFree(
  database: Database,
  { businessId, eventDefnId }: StoredDefinition,
  now: () => Temporal.Instant,
  timeout: AbortSignal,
) {
  const db = database.forBusiness(businessId, 'SYSTEM')
  while (!timeout.aborted) {
    const current = await findDefinition(db, businessId, eventDefnId)
    if (!current || current.plannedVersion >= current.version) return true
    if (await planDefinition(database, current, now)) return true
    await sleep(BUSY_RETRY_MS)
  }
  return false
}

/** Refuses a change of another version than the one in `If-Match`. */
async function requireVersion(
  request: FastifyRequest,
  tx: Db,
  current: StoredDefinition | undefined,
) {
  if (request.headers['if-match'] === undefined) return
  if (!current || current.deletedDate) return requireMatch(request, undefined)
  const actions = await actionsOf(tx, current.businessId, current.eventDefnId)
  requireMatch(request, answerOf(current), actions)
}

/** The active actions of a definition, as `expand=actions` answers them. */
const actionsOf = async (db: Db, businessId: number, eventDefnId: number) =>
  (await listActions(db, businessId, { eventDefnIds: [eventDefnId] })).map(actionAnswerOf)

/** `eventActions` is null unless `expand=actions` fills it. */
export function answerOf(definition: StoredDefinition) {
  const { plannedVersion: _planned, askedSince: _since, eventTypeId, ...rest } = definition
  const eventType = eventTypeById(eventTypeId)!
  return toWire({ ...rest, eventActions: null, eventType })
}
