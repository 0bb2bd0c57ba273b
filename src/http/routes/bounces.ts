import { Type } from 'typebox'
import { Named } from '../../contract/schema.ts'
import { readBounces, type Bounce } from '../../email/bounce.ts'
import { emailIdOf } from '../../email/message.ts'
import { invalid } from '../../errors.ts'
import { noteBounces } from '../../store/emails.ts'
import { suppress } from '../../store/suppressions.ts'
import { MAX_BODY_BYTES } from '../server/body.ts'
import { answerOnce, ok } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

/** Bounces: a delivery status notification in JSON, or as the mail server forwards it. */
export const bounces: Routes = async (app, { clock }) => {
  app.addContentTypeParser(
    'message/rfc822',
    { parseAs: 'string', bodyLimit: MAX_BODY_BYTES },
    async (_request: unknown, message: string) => ({ message }),
  )

  app.post(
    '/emails/bounce',
    {
      config: { scope: 'mail:write', idempotent: true },
      schema: {
        tags: ['email'],
        summary: 'Report a delivery status notification',
        description:
          'The email shows the bounce. The address is suppressed only if its mailbox does not exist ' +
          '(status 5.1.x for the recipient).',
        body: Named('BounceReport', {
          message: Type.String({ description: 'The notification with its headers.' }),
        }),
        response: {
          200: Named('BounceResult', { suppressed: Type.Array(Type.String()) }),
        },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const now = clock.now()
      const reported = await readBounces(body.message)
      if (reported.length === 0) {
        throw invalid([{ pointer: '/message', detail: 'is not a delivery status notification' }])
      }
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const final = reported.filter((bounce) => bounce.permanent)
        const { businessId, user } = caller
        const gone = final.filter((bounce) => bounce.isNoSuchMailbox)
        const addresses = gone.map((bounce) => ({
          businessId,
          emailAddress: bounce.recipient,
          reason: 'BOUNCED' as const,
          detail: detailOf(bounce),
        }))
        await suppress(tx, addresses, { user, now })
        await noteBounces(tx, businessId, final.flatMap(noteOf))
        return ok({ suppressed: gone.map((bounce) => bounce.recipient.toLowerCase()) })
      })
    },
  )
}

const detailOf = ({ status, words }: Bounce) => [status, words].filter(Boolean).join(' ') || null

function noteOf(bounce: Bounce) {
  const { messageId, recipient } = bounce
  const emailId = messageId === null ? undefined : emailIdOf(messageId)
  const reason = `bounced: ${detailOf(bounce) ?? 'no reason given'}`
  return emailId === undefined ? [] : [{ emailId, messageId: messageId!, recipient, reason }]
}
