import { Type } from 'typebox'
import { saveAction } from '../../automation/define.ts'
import {
  EMAIL_MSG_TYPE,
  EventAction,
  EventActionBody,
  labelled,
} from '../../contract/event-action.ts'
import { ChangesPageOf, ChangesQuery } from '../../contract/page.ts'
import { notFound } from '../../errors.ts'
import {
  findAction,
  listActions,
  listChangedActions,
  type ShownAction,
} from '../../store/event-actions.ts'
import { findDefinition } from '../../store/event-definitions.ts'
import { readList } from '../server/change-list.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['event action']

export const eventActions: Routes = inOrder(() => [
  getActionsOfDefinition,
  getAction,
  getActions,
  postAction,
])

const getActionsOfDefinition: Routes = async (app) => {
  app.get(
    '/eventAction/eventDefinition/:eventDefinitionId',
    operation('listEventActionsOfDefinition', 'List the active actions of a definition', {
      config: { scope: 'definitions:read' },
      tags,
      params: Type.Object({ eventDefinitionId: Type.Integer({ minimum: 1 }) }),
      response: { 200: Type.Array(EventAction) },
    }),
    async ({ caller, params: { eventDefinitionId } }) => {
      const { db, businessId } = caller
      const definition = await findDefinition(db, businessId, eventDefinitionId)
      if (!definition) throw notFound('event definition', eventDefinitionId)
      return (await listActions(db, businessId, { eventDefnIds: [eventDefinitionId] })).map(
        answerOf,
      )
    },
  )
}

const getAction: Routes = async (app) => {
  app.get(
    '/eventAction/:eventActionId',
    operation('getEventAction', 'Read an event action', {
      config: { scope: 'definitions:read', etag: true },
      tags,
      params: Type.Object({ eventActionId: Type.Integer({ minimum: 1 }) }),
      response: { 200: EventAction },
    }),
    async ({ caller, params: { eventActionId } }) => {
      const action = await findAction(caller.db, caller.businessId, eventActionId)
      if (!action?.active) throw notFound('event action', eventActionId)
      return answerOf(action)
    },
  )
}

const getActions: Routes = async (app) => {
  app.get(
    '/eventAction',
    operation('listEventActions', 'List event actions', {
      config: { scope: 'definitions:read' },
      tags,
      description: 'Active ones; with `changedSince` also inactive ones.',
      querystring: Type.Object(ChangesQuery),
      response: { 200: ChangesPageOf(EventAction, 'EventActionPage') },
    }),
    async ({ caller: { db, businessId }, query }) => {
      const page = await readList(db, query, {
        kind: 'eventAction',
        name: 'eventAction',
        seen: { businessId },
        types: ['id'],
        positionOf: (one: ShownAction) => [one.eventActionId],
        read: ({ after, changes, limit }) =>
          changes
            ? listChangedActions(db, businessId, { changes, limit })
            : listActions(db, businessId, { afterId: Number(after?.[0] ?? 0), limit }),
      })
      return { ...page, items: page.items.map(answerOf) }
    },
  )
}

const postAction: Routes = async (app, { clock }) => {
  app.post(
    '/eventAction',
    operation('createEventAction', 'Create or change an event action', {
      config: { scope: 'definitions:write', etag: true, idempotent: true, readsBody: true },
      tags,
      body: EventActionBody,
      response: { 200: EventAction, 201: EventAction },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const defining = { businessId: caller.businessId, user: caller.user, now: clock.now() }
      return answerOnce(caller.db, request, reply, defining.now, async (tx) => {
        const { action, before } = await saveAction(tx, body, defining, (current) =>
          requireMatch(request, current?.active ? answerOf(current) : undefined),
        )
        const answer = answerOf(action)
        return before ? ok(answer) : created(answer, `/eventAction/${action.eventActionId}`)
      })
    },
  )
}

/** `recipient` is the effective one: that of the template if the action names none. */
export const answerOf = ({
  recipient: _recipient,
  byTemplate: _byTemplate,
  writesTo,
  ...action
}: ShownAction) => toWire({ ...action, recipient: labelled(writesTo), msgType: EMAIL_MSG_TYPE })
