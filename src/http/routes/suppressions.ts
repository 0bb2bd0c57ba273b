import { Type } from 'typebox'
import { Suppression, SuppressionBody } from '../../contract/email.ts'
import { PageOf } from '../../contract/page.ts'
import { SuppressionsQuery } from '../../contract/queries.ts'
import { notFound } from '../../errors.ts'
import {
  deleteSuppressions,
  listSuppressed,
  listSuppressions,
  positionOf,
  suppress,
} from '../../store/suppressions.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { toWire } from '../server/serialize.ts'
import type { Routes } from '../server/services.ts'

const tags = ['suppression']
// The list is the same at all locations, so a person must see all of them.
const writing = { scope: 'mail:write', function: 'EDIT_SUPPRESSIONS' } as const

/** The addresses that a business no longer sends email to. */
export const suppressions: Routes = async (app, { clock }) => {
  app.get(
    '/suppression',
    {
      config: { scope: 'mail:read' },
      schema: {
        operationId: 'listSuppressions',
        tags,
        summary: 'List suppressed addresses',
        description:
          'BOUNCED and COMPLAINED addresses get no email; UNSUBSCRIBED ones get transactional email only, or with `emailCategoryId` no email of that category.',
        querystring: SuppressionsQuery,
        response: {
          200: PageOf(Suppression, 'SuppressionPage'),
        },
      },
    },
    async ({ caller, query }) => {
      const list = JSON.stringify(['suppression', query.emailAddress, query.text])
      const { limit, after } = readPage(query, list, ['text', 'text', 'id'])
      const found = await listSuppressions(caller.db, caller.businessId, {
        emailAddress: query.emailAddress,
        text: query.text,
        after,
        limit: limit + 1,
      })
      return toWire(pageOf(found, limit, list, positionOf))
    },
  )

  app.post(
    '/suppression',
    {
      config: { ...writing, idempotent: true },
      schema: {
        operationId: 'createSuppression',
        tags,
        summary: 'Send no more email to an address',
        description:
          'An address that is suppressed for the same reason already stays as it is, with its date and detail.',
        body: SuppressionBody,
        response: { 200: Suppression },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const { businessId, user } = caller
      const { emailAddress, detail = null } = body
      const reason = body.reason ?? 'UNSUBSCRIBED'
      const now = clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        await suppress(tx, [{ businessId, emailAddress, reason, detail }], { user, now })
        const entries = await listSuppressed(tx, [{ businessId, emailAddress }])
        return ok(entries.find((one) => one.reason === reason && one.emailCategoryId === null)!)
      })
    },
  )

  app.delete(
    '/suppression/:emailAddress',
    {
      config: writing,
      schema: {
        operationId: 'deleteSuppression',
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
