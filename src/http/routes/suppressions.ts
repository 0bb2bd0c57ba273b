import { Type } from 'typebox'
import { Suppression } from '../../contract/email.ts'
import { PageOf } from '../../contract/page.ts'
import { SuppressionsQuery } from '../../contract/queries.ts'
import { notFound } from '../../errors.ts'
import { deleteSuppressions, listSuppressions } from '../../store/suppressions.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import type { Routes } from '../server/services.ts'

const tags = ['suppression']

/** The addresses that a business no longer writes to. */
export const suppressions: Routes = async (app) => {
  app.get(
    '/suppression',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'Addresses that get nothing, or only what they need',
        querystring: SuppressionsQuery,
        response: {
          200: PageOf(Suppression, 'SuppressionPage'),
        },
      },
    },
    async ({ caller, query }) => {
      const list = JSON.stringify(['suppression', query.emailAddress])
      const { limit, after } = readPage(query, list, ['text', 'text'])
      const found = await listSuppressions(caller.db, caller.businessId, {
        emailAddress: query.emailAddress,
        after,
        limit: limit + 1,
      })
      return pageOf(found, limit, list, (one) => [one.emailAddress, one.reason]) as never
    },
  )

  app.delete(
    '/suppression/:emailAddress',
    {
      config: { scope: 'mail:write' },
      schema: {
        tags,
        summary: 'Write to this address again',
        params: Type.Object({ emailAddress: Type.String({ maxLength: 254 }) }),
        response: { 200: Suppression },
      },
    },
    async ({ caller, params: { emailAddress } }) => {
      const [cleared] = await deleteSuppressions(caller.db, caller.businessId, emailAddress)
      if (!cleared) throw notFound('suppressed address', emailAddress)
      return cleared as never
    },
  )
}
