import { Type } from 'typebox'
import { findMailOfReport, recordReport } from '../../automation/bounces.ts'
import { about, Named } from '../../contract/schema.ts'
import { envelopeDomainOf } from '../../email/mail-route.ts'
import { readReport } from '../../email/mail-reports.ts'
import { invalid } from '../../errors.ts'
import { MAX_BODY_BYTES } from '../server/body.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import { operation, type Routes } from '../server/services.ts'

/** Bounces and complaints: a report in JSON, or as the mail server forwards it. */
export const bounces: Routes = async (app, { clock, config, linkSeal }) => {
  app.addContentTypeParser(
    'message/rfc822',
    { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
    async (_request: unknown, message: string) => ({ message }),
  )
  const seal = { domain: envelopeDomainOf(config), secret: linkSeal }

  app.post(
    '/emails/bounce',
    operation('reportBounce', 'Report a bounce or a complaint', {
      config: { scope: 'mail:write', function: 'EDIT_SUPPRESSIONS', idempotent: true },
      tags: ['email'],
      description:
        'Takes a delivery status notification (RFC 3464) or a complaint (RFC 5965). The email shows it. ' +
        '422 if it names no email of the business. ' +
        'The address is suppressed if its mailbox does not exist (status 5.1.x for the recipient), ' +
        'after five soft bounces within 30 days, or if the recipient complained.',
      body: Named('BounceReport', {
        message: Type.String({
          examples: [
            'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b …',
          ],
          description: 'The report with its headers.',
        }),
      }),
      response: {
        200: Named('BounceResult', {
          suppressed: about(Type.Array(Type.String()), 'The addresses that were suppressed.', [
            'anna@example.com',
          ]),
        }),
      },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const { businessId, user } = caller
      const now = clock.now()
      const report = await readReport({ businessId }, body.message)
      if (report.bounces.length === 0 && !report.complaint) {
        const detail = 'is not a delivery status notification, and not a complaint'
        throw invalid([{ pointer: '/message', detail }])
      }
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        // Of other businesses the transaction sees no mail.
        const mail = await findMailOfReport(() => tx, report, seal)
        if (!mail) throw invalid([{ pointer: '/message', detail: NO_MAIL }])
        return ok({ suppressed: await recordReport(tx, report, mail, { user, now }) })
      })
    },
  )
}

const NO_MAIL =
  'is about no mail of this business: it must quote its Message-ID, or be sent to its bounce address'
