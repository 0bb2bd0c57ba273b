import { Type } from 'typebox'
import { Suppression } from '../../contract/email.ts'
import { PageOf } from '../../contract/page.ts'
import { SuppressionsQuery } from '../../contract/queries.ts'
import { notFound } from '../../errors.ts'
import { deleteSuppressions, listSuppressions } from '../../store/suppressions.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { toWire } from '../server/serialize.ts'
import type { Routes } from '../server/services.ts'

const tags = ['suppression']

/** The addresses that a business no longer sends email to. */
export const suppressions: Routes = async (app) => {
  app.get(
    '/suppression',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'List suppressed addresses',
        description:
          'BOUNCED and COMPLAINED addresses get no email; UNSUBSCRIBED ones get transactional email only.',
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
      return toWire(pageOf(found, limit, list, (one) => [one.emailAddress, one.reason]))
    },
  )

  app.delete(
    '/suppression/:emailAddress',
    {
      config: { scope: 'mail:write' },
      schema: {
        tags,
        summary: 'Allow email to an address again',
        params: Type.Object({ emailAddress: Type.String({ maxLength: 254 }) }),
        response: { 200: Suppression },
      },
    },
    async ({ caller, params: { emailAddress } }) => {
      const [cleared] = await caller.db.transaction((tx) =>
        deleteSuppressions(tx, caller.businessId, emailAddress),
      )
      if (!cleared) throw notFound('suppressed address', emailAddress)
      return toWire(cleared)
    },
  )
}
