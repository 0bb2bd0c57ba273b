import { Type } from 'typebox'
import { ClientData, ErasedCounts } from '../../contract/client-data.ts'
import { notFound } from '../../errors.ts'
import { readClientData } from '../../scheduling/client-data.ts'
import { eraseBusiness } from '../../scheduling/erase-business.ts'
import { eraseClient } from '../../scheduling/erase-client.ts'
import type { Routes } from '../server/services.ts'

/** What the law lets a person ask for: a copy of the data, and its erasure. */
export const privacy: Routes = async (app, services) => {
  for (const route of [getClientData, postClientErasure, postBusinessErasure]) {
    await route(app, services)
  }
}

const ClientById = Type.Object({ clientId: Type.Integer({ minimum: 1 }) })

const getClientData: Routes = async (app, { queues }) => {
  app.get(
    '/client/:clientId/data',
    {
      config: { scope: 'admin', function: 'VIEW_AUDIT' },
      schema: {
        operationId: 'getClientData',
        tags: ['Client'],
        summary: 'Read everything that is stored about a client, as a file for that person',
        params: ClientById,
        response: { 200: ClientData },
      },
    },
    async ({ caller: { db, businessId }, params: { clientId } }, reply) => {
      const data = await queues.interactive.run({ businessId }, () =>
        readClientData(db, { businessId, clientId }),
      )
      if (!data) throw notFound('client', clientId)
      reply.header('content-disposition', `attachment; filename="client-${clientId}.json"`)
      return data
    },
  )
}

const postClientErasure: Routes = async (app, { database, clock, queues }) => {
  app.post(
    '/client/:clientId/erase',
    {
      config: { scope: 'admin', function: 'MANAGE_BUSINESS', emptyBody: true },
      schema: {
        operationId: 'eraseClient',
        tags: ['Client'],
        summary: 'Overwrite all personal data of a client',
        description:
          'Names, addresses, notes and tags are overwritten everywhere, also in mails and in the audit. Appointments stay, so that reports do not change. This cannot be undone. It can be repeated after an interruption.',
        params: ClientById,
        response: { 200: ErasedCounts },
      },
    },
    async ({ caller: { businessId, user }, params: { clientId } }) => {
      const maintenance = database.maintenanceBy(user)
      const erased = await queues.background.run({ businessId }, () =>
        eraseClient({ maintenance }, { businessId, clientId }, clock.now()),
      )
      if (!erased) throw notFound('client', clientId)
      return { erased }
    },
  )
}

const postBusinessErasure: Routes = async (app, { database, credentials }) => {
  app.post(
    '/business/:businessId/erase',
    {
      config: { operator: true },
      schema: {
        operationId: 'eraseBusiness',
        tags: ['Business'],
        summary: 'Delete a business with everything that is stored about it',
        description:
          'Deactivate the business first. The body must have its exact name, so that a wrong id deletes nothing. This cannot be undone. It can be repeated after an interruption.',
        params: Type.Object({ businessId: Type.Integer({ minimum: 1 }) }),
        body: Type.Object(
          { name: Type.String({ minLength: 1, maxLength: 200 }) },
          { title: 'BusinessErasure', examples: [{ name: 'Riverside Clinic' }] },
        ),
        response: { 200: ErasedCounts },
      },
    },
    async ({ params: { businessId }, body: { name } }) => {
      const rows = await eraseBusiness(database, { businessId, name })
      credentials.forget()
      return { erased: { rows } }
    },
  )
}
