import { Type } from 'typebox'
import { EventTrigger, TRIGGER_STATUSES } from '../contract/event-trigger.ts'
import { OBJECT_TYPES, type ObjectType } from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import { notFound } from '../errors.ts'
import { listTriggers, listTriggersOfObject, type StoredTrigger } from '../store/event-triggers.ts'
import { findObject } from '../store/objects.ts'
import { pageOf, PageQuery, readPage } from './cursor.ts'
import type { Routes } from './services.ts'

const tags = ['event trigger']
const config = { scope: 'definitions:read', function: 'VIEW_SCHEDULE' } as const

/** Spec: invitations are asked for by their word, all others by their object type. */
const ADDRESSES: [string, ObjectType][] = [
  ['invitation', 'INVITATION'],
  ['CALENDAR', 'CALENDAR'],
  ['CLASS_SCHEDULE', 'CLASS_SCHEDULE'],
  ['RECALL', 'RECALL'],
  ['DISCLAIMER', 'DISCLAIMER'],
]

export const eventTriggers: Routes = async (app) => {
  for (const [word, objectType] of ADDRESSES) {
    const kind = kindOfObjectType(objectType)
    const id = objectType === 'INVITATION' ? Type.String() : Type.Integer({ minimum: 1 })
    app.get(
      `/eventTriggers/${word}/:${kind.id}`,
      {
        config,
        schema: {
          tags,
          params: Type.Object({ [kind.id]: id }),
          response: { 200: Type.Array(EventTrigger) },
        },
      },
      async ({ caller, params }) => {
        const { db, businessId, scope } = caller
        const id = (params as Record<string, number | string>)[kind.id]!
        if (!(await findObject(db, businessId, kind, id, scope))) throw notFound(kind.title, id)
        return (await listTriggersOfObject(db, businessId, objectType, id)).map(answerOf)
      },
    )
  }

  app.get(
    '/eventTriggers',
    {
      config: { scope: 'definitions:read' },
      schema: {
        tags,
        querystring: Type.Object({
          ...PageQuery,
          status: Type.Optional(Type.Enum([...TRIGGER_STATUSES])),
          from: Type.Optional(Type.Integer()),
          to: Type.Optional(Type.Integer()),
          eventDefnId: Type.Optional(Type.Integer({ minimum: 1 })),
          objectType: Type.Optional(Type.Enum([...OBJECT_TYPES])),
        }),
        response: {
          200: Type.Object({
            items: Type.Array(EventTrigger),
            nextCursor: Type.Union([Type.String(), Type.Null()]),
          }),
        },
      },
    },
    async ({ caller, query }) => {
      const { limit: _limit, cursor: _cursor, from, to, ...filters } = query
      const list = JSON.stringify(['eventTriggers', from, to, filters])
      const { limit, after } = readPage(query, list)
      const found = await listTriggers(caller.db, caller.businessId, {
        ...filters,
        from: moment(from),
        to: moment(to),
        after: after && { scheduledTime: String(after[0]), eventTriggerId: Number(after[1]) },
        limit: limit + 1,
      })
      const page = pageOf(found, limit, list, (trigger) => [
        String(trigger.scheduledTime),
        trigger.eventTriggerId,
      ])
      return { ...page, items: page.items.map(answerOf) }
    },
  )
}

/** Moments become numbers on the wire. */
const answerOf = (trigger: StoredTrigger) => trigger as unknown as EventTrigger

const moment = (ms: number | undefined) =>
  ms === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(ms)
