import { Type } from 'typebox'
import { findBouncedMail, recordReport } from '../../automation/bounces.ts'
import { Named } from '../../contract/schema.ts'
import type { Db } from '../../database/database.ts'
import { readMailReport } from '../../email/bounce.ts'
import { envelopeDomainOf } from '../../email/mail-route.ts'
import { invalid } from '../../errors.ts'
import { MAX_BODY_BYTES } from '../server/body.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

/** Bounces and complaints: a report in JSON, or as the mail server forwards it. */
export const bounces: Routes = async (app, { clock, config, linkSeal }) => {
  app.addContentTypeParser(
    'message/rfc822',
    { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
    async (_request: unknown, message: string) => ({ message }),
  )
  const seal = { domain: envelopeDomainOf(config), secret: linkSeal }

  /** Ignores bounce addresses of other businesses. */
  const findOwnMail = async (db: Db, businessId: number, addresses: string[]) => {
    for (const address of addresses) {
      const mail = await findBouncedMail(() => db, address, seal)
      if (mail?.businessId === businessId) return mail
    }
    return undefined
  }

  app.post(
    '/emails/bounce',
    {
      config: { scope: 'mail:write', idempotent: true },
      schema: {
        tags: ['email'],
        summary: 'Report a bounce or a complaint',
        description:
          'Takes a delivery status notification (RFC 3464) or a complaint (RFC 5965). The email shows it. ' +
          'The address is suppressed if its mailbox does not exist (status 5.1.x for the recipient), ' +
          'after five soft bounces within 30 days, or if the recipient complained.',
        body: Named('BounceReport', {
          message: Type.String({ description: 'The report with its headers.' }),
        }),
        response: {
          200: Named('BounceResult', { suppressed: Type.Array(Type.String()) }),
        },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const { businessId, user } = caller
      const now = clock.now()
      const report = await readMailReport(body.message)
      if (report.bounces.length === 0 && !report.complaint) {
        const detail = 'is not a delivery status notification, and not a complaint'
        throw invalid([{ pointer: '/message', detail }])
      }
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const mail = await findOwnMail(tx, businessId, report.envelopeSenders.slice(0, MAX_TRIED))
        const by = { user, now }
        return ok({ suppressed: await recordReport(tx, report, { businessId, mail }, by) })
      })
    },
  )
}

/** A report has one envelope sender; more are tried in case a forwarder added headers. */
const MAX_TRIED = 5
