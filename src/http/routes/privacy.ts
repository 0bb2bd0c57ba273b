import { Type } from 'typebox'
import { ClientData, ErasedCounts } from '../../contract/client-data.ts'
import { notFound } from '../../errors.ts'
import { readClientData } from '../../scheduling/client-data.ts'
import { eraseBusiness } from '../../scheduling/erase-business.ts'
import { eraseClient } from '../../scheduling/erase-client.ts'
import { inOrder, operation, type Routes } from '../server/services.ts'
import { Named } from '../../contract/schema.ts'

/** What the law lets a person ask for: a copy of the data, and its erasure. */
export const privacy: Routes = inOrder(() => [
  getClientData,
  postClientErasure,
  postBusinessErasure,
])

const ClientById = Type.Object({ clientId: Type.Integer({ minimum: 1 }) })

const getClientData: Routes = async (app, { queues }) => {
  app.get(
    '/client/:clientId/data',
    operation(
      'getClientData',
      'Read everything that is stored about a client, as a file for that person',
      {
        config: { scope: 'admin', function: 'VIEW_AUDIT' },
        tags: ['Client'],
        params: ClientById,
        response: { 200: ClientData },
      },
    ),
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
    operation('eraseClient', 'Overwrite all personal data of a client', {
      config: { scope: 'admin', function: 'MANAGE_BUSINESS', emptyBody: true },
      tags: ['Client'],
      description:
        'Names, addresses, notes and tags are overwritten everywhere, also in mails and in the audit. Appointments stay, so that reports do not change. This cannot be undone. It can be repeated after an interruption.',
      params: ClientById,
      response: { 200: ErasedCounts },
    }),
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
    operation('eraseBusiness', 'Delete a business with everything that is stored about it', {
      config: { operator: true },
      tags: ['Business'],
      description:
        'Deactivate the business first. The body must have its exact name, so that a wrong id deletes nothing. This cannot be undone. It can be repeated after an interruption.',
      params: Type.Object({ businessId: Type.Integer({ minimum: 1 }) }),
      body: Named(
        'BusinessErasure',
        { name: Type.String({ minLength: 1, maxLength: 200 }) },
        { name: 'Riverside Clinic' },
      ),
      response: { 200: ErasedCounts },
    }),
    async ({ params: { businessId }, body: { name } }) => {
      const rows = await eraseBusiness(database, { businessId, name })
      credentials.forget()
      return { erased: { rows } }
    },
  )
}
