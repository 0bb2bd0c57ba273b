import { Type } from 'typebox'
import { Suppression, SuppressionBody, type SuppressionReason } from '../../contract/email.ts'
import { objectKind } from '../../contract/objects.ts'
import { PageOf } from '../../contract/page.ts'
import { SuppressionsQuery } from '../../contract/queries.ts'
import { foreignBusiness } from '../../contract/read-fields.ts'
import type { Db } from '../../database/database.ts'
import { invalid, notFound, type Fault } from '../../errors.ts'
import { findObject } from '../../store/objects.ts'
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
import { operation, type Routes } from '../server/services.ts'

const tags = ['suppression']
// The list is the same at all locations, so a person must see all of them.
const writing = { scope: 'mail:write', function: 'EDIT_SUPPRESSIONS' } as const

/** The addresses that a business no longer sends email to. */
export const suppressions: Routes = async (app, { clock }) => {
  app.get(
    '/suppression',
    operation('listSuppressions', 'List suppressed addresses', {
      config: { scope: 'mail:read' },
      tags,
      description:
        'BOUNCED and COMPLAINED addresses get no email; UNSUBSCRIBED ones get transactional email only, or with `emailCategoryId` no email of that category.',
      querystring: SuppressionsQuery,
      response: { 200: PageOf(Suppression, 'SuppressionPage') },
    }),
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
    operation('createSuppression', 'Send no more email to an address', {
      config: { ...writing, idempotent: true },
      tags,
      description:
        'An address that is suppressed for the same reason already stays as it is, with its date and detail.',
      body: SuppressionBody,
      response: { 200: Suppression },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const { businessId, user } = caller
      const { emailAddress, detail = null, emailCategoryId = null } = body
      const reason = body.reason ?? 'UNSUBSCRIBED'
      const now = clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const faults = [
          ...foreignBusiness(body, businessId),
          ...(await categoryFaults(tx, businessId, { emailCategoryId, reason })),
        ]
        if (faults.length > 0) throw invalid(faults)
        const entry = { businessId, emailAddress, reason, detail, emailCategoryId }
        await suppress(tx, [entry], { user, now })
        const entries = await listSuppressed(tx, [entry])
        return ok(
          entries.find((one) => one.reason === reason && one.emailCategoryId === emailCategoryId)!,
        )
      })
    },
  )

  app.delete(
    '/suppression/:emailAddress',
    operation('deleteSuppression', 'Allow email to an address again', {
      config: writing,
      tags,
      params: Type.Object({ emailAddress: Type.String({ maxLength: 254 }) }),
      response: { 200: Suppression },
    }),
    async ({ caller, params: { emailAddress } }) => {
      const [cleared] = await caller.db.transaction((tx) =>
        deleteSuppressions(tx, caller.businessId, emailAddress),
      )
      if (!cleared) throw notFound('suppressed address', emailAddress)
      return toWire(cleared)
    },
  )
}

async function categoryFaults(
  tx: Db,
  businessId: number,
  { emailCategoryId, reason }: { emailCategoryId: number | null; reason: SuppressionReason },
): Promise<Fault[]> {
  if (emailCategoryId === null) return []
  const pointer = '/emailCategoryId'
  if (reason !== 'UNSUBSCRIBED') return [{ pointer, detail: 'needs the reason UNSUBSCRIBED' }]
  const kind = objectKind('emailCategory')!
  const category = await findObject(tx, businessId, kind, emailCategoryId)
  return category ? [] : [{ pointer, detail: `there is no ${kind.title} ${emailCategoryId}` }]
}
