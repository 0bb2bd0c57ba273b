import { Type } from 'typebox'
import { notFound } from '../../errors.ts'
import { loadDemo } from '../../demo/demo.ts'
import { findBusiness } from '../../store/businesses.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { operation, type Routes } from '../server/services.ts'
import { about, Counts, Named } from '../../contract/schema.ts'

const Loaded = Named(
  'SeedResult',
  {
    businessId: Type.Integer(),
    accepted: about(
      Counts,
      'The number of objects of each kind, including those that existed already.',
    ),
  },
  { businessId: 1, accepted: { location: 3, client: 400, calendar: 9_000 } },
)

export const seed: Routes = async (app, { database, clock }) => {
  app.post(
    '/business/:businessId/seed',
    operation('seedBusiness', 'Load the demo data into a business', {
      config: { operator: true, emptyBody: true, idempotent: true },
      tags: ['Business'],
      description:
        'Eighteen months of an invented practice. Loading it again updates the objects and adds none.',
      params: Type.Object({ businessId: Type.Integer({ minimum: 1 }) }),
      response: { 200: Loaded },
    }),
    async (request, reply) => {
      const { businessId } = request.params
      const business = await findBusiness(database.operator, businessId)
      if (!business) throw notFound('business', businessId)
      const user = 'OPERATOR'
      const db = database.forBusiness(businessId, user)
      const now = clock.now()
      return answerOnce(db, request, reply, now, async (tx) => {
        const { accepted } = await loadDemo(tx, { businessId, user, now: () => now })
        return ok({ businessId, accepted })
      })
    },
  )
}
