import { Type } from 'typebox'
import { OBJECT_TYPES } from '../../contract/event-type.ts'
import { Status, StatusWrite } from '../../contract/status.ts'
import { notFound } from '../../errors.ts'
import { removeStatus, saveStatusOf } from '../../scheduling/statuses.ts'
import { findStatus, listStatuses } from '../../store/statuses.ts'
import { requireMatch } from '../server/etag.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

const ByName = Type.Object({
  objectType: Type.Enum([...OBJECT_TYPES]),
  status: Type.String({ minLength: 1, maxLength: 60 }),
})
const tags = ['status']
const reading = { scope: 'scheduling:read' } as const
const writing = { scope: 'scheduling:write', function: 'EDIT_SETUP' } as const

export const statuses: Routes = async (app, { clock }) => {
  app.get(
    '/status',
    {
      config: reading,
      schema: {
        tags,
        summary: 'All statuses',
        description: 'Those of every kind of object, the ready-made ones first.',
        response: { 200: Type.Array(Status) },
      },
    },
    async ({ caller }) => (await listStatuses(caller.db, caller.businessId)) as never,
  )

  app.get(
    '/status/:objectType/:status',
    {
      config: { ...reading, etag: true },
      schema: { tags, summary: 'One status', params: ByName, response: { 200: Status } },
    },
    async ({ caller, params: { objectType, status } }) => {
      const found = await findStatus(caller.db, caller.businessId, objectType, status)
      if (!found) throw notFound(`${objectType} status`, status)
      return found as never
    },
  )

  app.post(
    '/status',
    {
      config: { ...writing, etag: true, idempotent: true },
      // Read by the declaration, so that an import and a POST refuse in the same words.
      validatorCompiler: () => (value) => ({ value }),
      schema: {
        tags,
        summary: 'Add a status, or change it',
        description:
          'Where `live` or `liveAfter` changes, pending reminders of objects in the status follow.',
        body: StatusWrite,
        response: { 200: Status, 201: Status },
      },
    },
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

  app.delete(
    '/status/:objectType/:status',
    {
      config: { ...writing, etag: true },
      schema: {
        tags,
        summary: 'Remove a status that nothing is in',
        description: 'Refused with 409 while an object is in it or a definition asks for it.',
        params: ByName,
        response: { 200: Status },
      },
    },
    async (request) => {
      const { caller, params } = request
      const saving = { businessId: caller.businessId, user: caller.user, now: clock.now() }
      return (await caller.db.transaction(async (tx) => {
        const { objectType, status } = params
        const removed = await removeStatus(tx, params, saving, (current) =>
          requireMatch(request, current),
        )
        if (!removed) throw notFound(`${objectType} status`, status)
        return removed
      })) as never
    },
  )
}
