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
import { listActions } from '../../store/event-actions.ts'
import { readActivities } from '../../store/definition-activity.ts'
import { findLastReconciliation } from '../../store/reconciliation.ts'
import { answerOf as actionAnswerOf } from './event-actions.ts'
import { findObject } from '../../store/objects.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import type { Routes, Services } from '../server/services.ts'

const ById = Type.Object({ eventDefinitionId: Type.Integer({ minimum: 1 }) })
const Definitions = Type.Array(EventDefinition)
const tags = ['event definition']
const reading = { scope: 'definitions:read' } as const
/** `planning` is a state of the service, not a property of the definition. */
const writing = { scope: 'definitions:write', etag: true, untagged: 'planning' } as const

export const eventDefinitions: Routes = async (app, services) => {
  for (const route of [
    getDefinitionsOfType,
    getDefinitionsOfCampaign,
    getDefinition,
    getDefinitions,
    postDefinition,
    deactivateDefinition,
  ]) {
    await route(app, services)
  }
}

const getDefinitionsOfType: Routes = async (app) => {
  app.get(
    '/eventDefinition/eventType/:eventTypeId',
    {
      config: reading,
      schema: {
        tags,
        summary: 'List the active definitions of an event type',
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
}

const getDefinitionsOfCampaign: Routes = async (app) => {
  app.get(
    '/eventDefinition/INVITATION_CAMPAIGN/:invitationCampaignId',
    {
      config: reading,
      schema: {
        tags,
        summary: 'List the active definitions of an invitation campaign',
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
}

const getDefinition: Routes = async (app) => {
  app.get(
    '/eventDefinition/:eventDefinitionId',
    {
      config: { ...reading, etag: true },
      schema: {
        tags,
        summary: 'Read a definition',
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
}

const getDefinitions: Routes = async (app, services) => {
  app.get(
    '/eventDefinition',
    {
      config: reading,
      schema: {
        tags,
        summary: 'List definitions, oldest first',
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
}

const postDefinition: Routes = async (app, services) => {
  app.post(
    '/eventDefinition',
    {
      config: { ...writing, idempotent: true },
      // saveDefinition reads the body: it accepts two forms.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags,
        body: EventDefinitionBody,
        response: { 200: EventDefinition, 201: EventDefinition },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const defining = {
        businessId: caller.businessId,
        user: caller.user,
        now: services.clock.now(),
      }
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
}

const deactivateDefinition: Routes = async (app, services) => {
  app.delete(
    '/eventDefinition/:eventDefinitionId',
    {
      config: writing,
      schema: { tags, params: ById, response: { 200: EventDefinition } },
    },
    async (request) => {
      const { caller, params } = request
      const { eventDefinitionId } = params
      const defining = {
        businessId: caller.businessId,
        user: caller.user,
        now: services.clock.now(),
      }
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

/** The answer of a GET with `active=all`. */
const answerUnlessDeleted = (definition: StoredDefinition | undefined) =>
  definition && !definition.deletedDate ? answerOf(definition) : undefined

/** `eventActions` is null unless `expand=actions` fills it. */
export function answerOf(definition: StoredDefinition) {
  const { plannedVersion: _planned, askedSince: _since, eventTypeId, ...rest } = definition
  const eventType = eventTypeById(eventTypeId)!
  return toWire({ ...rest, eventActions: null, eventType })
}
