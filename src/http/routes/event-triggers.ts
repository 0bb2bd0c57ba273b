import { Type, type Static } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { fireOrHold } from '../../automation/approvals.ts'
import { readTriggerHistory } from '../../automation/trigger-history.ts'
import {
  EventTrigger,
  NamedTrigger,
  TriggerDetails,
  type TriggerStatus,
} from '../../contract/event-trigger.ts'
import type { ObjectType } from '../../contract/event-type.ts'
import { pascalCase, withArticle } from '../../contract/object-body.ts'
import { kindOfObjectType } from '../../contract/objects.ts'
import { PageOf } from '../../contract/page.ts'
import { TriggerQuery, TriggersOfObjectQuery, TriggersQuery } from '../../contract/queries.ts'
import { about, Counts, BulkIds, BulkResult } from '../../contract/schema.ts'
import { conflict, notFound } from '../../errors.ts'
import { listEmailsOfTrigger, listEmailsSentAgain } from '../../store/emails.ts'
import {
  cancelTriggers,
  countTriggers,
  findTrigger,
  fireTriggersNow,
  listTriggers,
  listTriggersById,
  listTriggersOfCalendar,
  listTriggersOfObject,
  type TriggerFilters,
  type StoredTrigger,
} from '../../store/event-triggers.ts'
import { findObject } from '../../store/objects.ts'
import type { Visibility } from '../../store/visibility.ts'
import { nameTriggers } from '../../store/trigger-names.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { toInstant, toWire } from '../server/serialize.ts'
import { explainWaiting } from './waiting-emails.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const tags = ['event trigger']
const config = { scope: 'definitions:read', function: 'VIEW_SCHEDULE' } as const

const changing = { scope: 'definitions:write', function: 'EDIT_SCHEDULE' } as const

/** The last part of the path: `invitation` for invitations, the object type for the others. */
const PATHS: [string, ObjectType][] = [
  ['invitation', 'INVITATION'],
  ['CALENDAR', 'CALENDAR'],
  ['CLASS_SCHEDULE', 'CLASS_SCHEDULE'],
  ['RECALL', 'RECALL'],
  ['DISCLAIMER', 'DISCLAIMER'],
]

export const eventTriggers: Routes = inOrder(() => [
  postByHand,
  getTriggersOfObject,
  getTriggers,
  getTriggerCounts,
  getTrigger,
])

const getTriggersOfObject: Routes = async (app) => {
  for (const [word, objectType] of PATHS) {
    const kind = kindOfObjectType(objectType)
    const id = objectType === 'INVITATION' ? Type.String() : Type.Integer({ minimum: 1 })
    app.get(
      `/eventTriggers/${word}/:${kind.id}`,
      operation(
        `listEventTriggersOf${pascalCase(kind.title)}`,
        `List the fired and planned triggers of ${withArticle(kind.title)}`,
        {
          config,
          tags,
          params: Type.Object({ [kind.id]: id }),
          ...(objectType === 'CALENDAR' && {
            description: 'Also those of its disclaimers, with objectType DISCLAIMER.',
          }),
          querystring: TriggersOfObjectQuery,
          response: { 200: Type.Array(NamedTrigger) },
        },
      ),
      async ({ caller, params, query }) => {
        const { db, businessId, visibility } = caller
        const id = (params as Record<string, number | string>)[kind.id]!
        if (!(await findObject(db, businessId, kind, id, visibility)))
          throw notFound(kind.title, id)
        const triggers =
          objectType === 'CALENDAR'
            ? await listTriggersOfCalendar(db, businessId, Number(id))
            : await listTriggersOfObject(db, businessId, objectType, id)
        const named = query.expand ? await withNames(caller, triggers) : triggers
        return toWire(named)
      },
    )
  }
}

const getTriggers: Routes = async (app, { clock }) => {
  app.get(
    '/eventTriggers',
    operation('listEventTriggers', 'List triggers, ordered by scheduledTime', {
      config,
      tags,
      querystring: TriggersQuery,
      response: { 200: PageOf(NamedTrigger, 'EventTriggerPage') },
    }),
    async ({ caller, query }) => {
      const { limit: _limit, cursor: _cursor, expand, order, ...asked } = query
      const list = JSON.stringify(['eventTriggers', order, asked])
      const { limit, after } = readPage(query, list, ['moment', 'id'])
      const filters = filtersOf(asked, caller, clock.now())
      const found = await listTriggers(caller.db, caller.businessId, filters, {
        newestFirst: order === 'newest',
        after: after && { scheduledTime: after[0], eventTriggerId: after[1] },
        limit: limit + 1,
      })
      const page = pageOf(found, limit, list, (trigger) => [
        String(trigger.scheduledTime),
        trigger.eventTriggerId,
      ])
      const items = expand ? await withNames(caller, page.items) : page.items
      return { ...page, items: toWire(items) }
    },
  )
}

const getTriggerCounts: Routes = async (app, { clock }) => {
  app.get(
    '/eventTriggers/counts',
    operation('countEventTriggers', 'Count triggers by status', {
      config,
      tags,
      querystring: TriggerQuery,
      response: {
        200: about(Counts, 'How many triggers have each status.', {
          SCHEDULED: 60,
          COMPLETED: 1643,
          FAILED: 31,
        }),
      },
    }),
    async ({ caller, query }) =>
      countTriggers(caller.db, caller.businessId, filtersOf(query, caller, clock.now())),
  )
}

const getTrigger: Routes = async (app, services) => {
  const { clock } = services
  app.get(
    '/eventTriggers/:eventTriggerId',
    operation('getEventTrigger', 'Read a trigger with its names, emails, checks and history', {
      config: { ...config, etag: true },
      tags,
      description:
        'The history holds the changes of the trigger, and those of its object and definition until ' +
        'the trigger was finished.',
      params: ById,
      response: { 200: TriggerDetails },
    }),
    async ({ caller, params: { eventTriggerId } }) => {
      const { db, businessId, visibility, functions } = caller
      const trigger = await findTrigger(db, businessId, eventTriggerId, visibility)
      if (!trigger) throw notFound('event trigger', eventTriggerId)
      const [[named], emails] = await Promise.all([
        withNames(caller, [trigger]),
        listEmailsOfTrigger(db, businessId, eventTriggerId),
      ])
      const history = await readTriggerHistory(db, trigger, emails, clock.now())
      const emailIds = emails.map(({ emailId }) => emailId)
      const shown = functions.has('VIEW_EMAILS')
        ? {
            emails: await explainWaiting(services, caller, emails),
            sentAgain: await explainWaiting(
              services,
              caller,
              await listEmailsSentAgain(db, businessId, emailIds),
            ),
          }
        : { emails: null, sentAgain: null }
      return toWire({ ...trigger, ...named, ...shown, ...history })
    },
  )
}

/** With names and the first mail, which only callers that may read mails get. */
async function withNames({ db, businessId, functions }: Caller, triggers: StoredTrigger[]) {
  const named = await nameTriggers(db, businessId, triggers)
  return functions.has('VIEW_EMAILS') ? named : named.map((one) => ({ ...one, email: null }))
}

function filtersOf(
  query: Static<typeof TriggerQuery>,
  { visibility }: { visibility: Visibility },
  now: Temporal.Instant,
): TriggerFilters {
  const { status, from, to, ...same } = query
  return {
    ...same,
    statuses: status?.split(',') as TriggerStatus[] | undefined,
    from: toInstant(from),
    to: toInstant(to),
    visibility,
    now,
  }
}

const BY_HAND = [
  {
    word: 'fire',
    act: fireTriggersNow,
    actOnMany: fireOrHold,
    summary: 'Fire a trigger now, before its scheduled time',
    summaryOfMany: 'Fire up to 1,000 triggers now, before their scheduled time',
  },
  {
    word: 'cancel',
    act: cancelTriggers,
    actOnMany: cancelMany,
    summary: 'Cancel a trigger before it fires',
    summaryOfMany: 'Cancel up to 1,000 triggers before they fire',
  },
]

async function cancelMany(
  ...call: Parameters<typeof cancelTriggers>
): ReturnType<typeof fireOrHold> {
  return { acted: await cancelTriggers(...call) }
}

const ById = Type.Object({ eventTriggerId: Type.Integer({ minimum: 1 }) })

/** Firing and cancelling by hand, one trigger or up to 1,000. Only SCHEDULED triggers can be changed. */
const postByHand: Routes = async (app, { clock }) => {
  for (const { word, act, actOnMany, summary, summaryOfMany } of BY_HAND) {
    app.post(
      `/eventTriggers/:eventTriggerId/${word}`,
      operation(`${word}EventTrigger`, summary, {
        config: { ...changing, idempotent: true, emptyBody: true },
        tags,
        params: ById,
        response: { 200: EventTrigger },
      }),
      async (request, reply) => {
        const { caller, params } = request
        const { eventTriggerId: id } = params
        const now = clock.now()
        return answerOnce(caller.db, request, reply, now, async (tx) => {
          const find = () => findTrigger(tx, caller.businessId, id, caller.visibility)
          if (!(await find())) throw notFound('event trigger', id)
          const [done] = await act(tx, caller.businessId, [id], { user: caller.user, now })
          if (done) return ok(done)
          const found = await find()
          throw conflict(
            `Event trigger ${id} is ${found?.status}. Only a SCHEDULED one can be ${word === 'fire' ? 'fired' : 'cancelled'}.`,
          )
        })
      },
    )

    app.post(
      `/eventTriggers/${word}`,
      operation(`${word}EventTriggers`, summaryOfMany, {
        config: { ...changing, idempotent: true },
        tags,
        body: BulkIds,
        response: { 200: BulkResult },
      }),
      async (request, reply) => {
        const { caller, body } = request
        const { db, businessId, user, visibility } = caller
        const now = clock.now()
        return answerOnce(db, request, reply, now, async (tx) => {
          const list = (ids: number[]) => listTriggersById(tx, businessId, ids, visibility)
          const seen = (await list(body.ids)).map((trigger) => trigger.eventTriggerId)
          const by = { user, now }
          const { acted, approvalId, heldIds = [] } = await actOnMany(tx, businessId, seen, by)
          const done = acted.map((trigger) => trigger.eventTriggerId)
          const followed = new Set([...done, ...heldIds])
          const left = [...new Set(body.ids)].filter((id) => !followed.has(id))
          const refused = refusalsOf(left, await list(left))
          return ok({ done, refused, ...(approvalId !== undefined && { approvalId }) })
        })
      },
    )
  }
}

function refusalsOf(ids: number[], triggers: StoredTrigger[]) {
  const found = new Map(triggers.map((one) => [one.eventTriggerId, one]))
  return ids.map((id) => {
    const trigger = found.get(id)
    if (!trigger) return { id, status: 404, detail: `there is no event trigger ${id}` }
    const { status, approvalId } = trigger
    const detail = approvalId === null ? `it is ${status}` : `it waits for approval ${approvalId}`
    return { id, status: 409, detail }
  })
}
