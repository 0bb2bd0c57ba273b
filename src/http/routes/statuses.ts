import { Type } from 'typebox'
import { OBJECT_TYPES } from '../../contract/event-type.ts'
import { SavePlan } from '../../contract/save-plan.ts'
import { Status, StatusWrite } from '../../contract/status.ts'
import { notFound } from '../../errors.ts'
import { planSettings } from '../../scheduling/plan-save.ts'
import { removeStatus, saveStatusOf } from '../../scheduling/statuses.ts'
import { findStatus, listStatuses } from '../../store/statuses.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import { answerPlan } from './objects.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'

const ByName = Type.Object({
  objectType: Type.Enum([...OBJECT_TYPES]),
  status: Type.String({ minLength: 1, maxLength: 60 }),
})
const tags = ['status']
const reading = { scope: 'scheduling:read' } as const
const writing = { scope: 'scheduling:write', function: 'EDIT_SETUP' } as const

export const statuses: Routes = inOrder(() => [
  getStatuses,
  getStatus,
  postStatus,
  postStatusPlan,
  deleteStatus,
])

const getStatuses: Routes = async (app) => {
  app.get(
    '/status',
    operation('listStatuses', 'List all statuses', {
      config: reading,
      tags,
      description: 'Those of all object types, the predefined ones first.',
      response: { 200: Type.Array(Status) },
    }),
    async ({ caller }) => toWire(await listStatuses(caller.db, caller.businessId)),
  )
}

const getStatus: Routes = async (app) => {
  app.get(
    '/status/:objectType/:status',
    operation('getStatus', 'Read a status', {
      config: { ...reading, etag: true },
      tags,
      params: ByName,
      response: { 200: Status },
    }),
    async ({ caller, params: { objectType, status } }) => {
      const found = await findStatus(caller.db, {
        businessId: caller.businessId,
        objectType,
        status,
      })
      if (!found) throw notFound(`${objectType} status`, status)
      return toWire(found)
    },
  )
}

const postStatus: Routes = async (app, { clock }) => {
  app.post(
    '/status',
    operation('createStatus', 'Create or change a status', {
      config: { ...writing, etag: true, idempotent: true, readsBody: true },
      tags,
      description:
        'A change of `live` or `liveAfter` cancels or restores pending reminders of objects with this status.',
      body: StatusWrite,
      response: { 200: Status, 201: Status },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const now = clock.now()
      const saving = { businessId: caller.businessId, user: caller.user, now }
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const { status, before } = await saveStatusOf(tx, body, saving, (current) =>
          requireMatch(request, current),
        )
        const path = `/status/${status.objectType}/${encodeURIComponent(status.status)}`
        return before ? ok(status) : created(status, path)
      })
    },
  )
}

const postStatusPlan: Routes = async (app, services) => {
  app.post(
    '/status/plan',
    operation('planStatus', 'Show what saving a status would schedule and cancel', {
      config: { ...reading, readsBody: true },
      tags,
      description: 'The body is that of `POST /status`. Nothing is saved.',
      body: StatusWrite,
      response: { 200: SavePlan },
    }),
    async (request, reply) => {
      const { body, caller } = request
      const { db, user } = caller
      return answerPlan(services, request, reply, (planning) =>
        planSettings(db, planning, (tx) => saveStatusOf(tx, body, { ...planning, user })),
      )
    },
  )
}

const deleteStatus: Routes = async (app, { clock }) => {
  app.delete(
    '/status/:objectType/:status',
    operation('deleteStatus', 'Delete an unused status', {
      config: { ...writing, etag: true },
      tags,
      description:
        '409 while an object has this status, or an active definition or the business names it.',
      params: ByName,
      response: { 200: Status },
    }),
    async (request) => {
      const { caller, params } = request
      const saving = { businessId: caller.businessId, user: caller.user, now: clock.now() }
      const removed = await caller.db.transaction(async (tx) => {
        const { objectType, status } = params
        const removed = await removeStatus(tx, params, saving, (current) =>
          requireMatch(request, current),
        )
        if (!removed) throw notFound(`${objectType} status`, status)
        return removed
      })
      return toWire(removed)
    },
  )
}
