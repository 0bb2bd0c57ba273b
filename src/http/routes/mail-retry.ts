import { MailServer } from '../../contract/mail-server.ts'
import { serverOfUrl } from '../../email/smtp.ts'
import { RequestError } from '../../errors.ts'
import { findMailServer, requestMailRetry } from '../../store/mail-servers.ts'
import { toWire } from '../server/serialize.ts'
import { operation, type Routes } from '../server/services.ts'

/** Tries a mail server that takes no mail at once, instead of within 30 s. */
export const mailRetry: Routes = async (app, { config, database, clock }) => {
  const server = serverOfUrl(config.smtpUrl)
  app.post(
    '/mail/retry',
    operation('retryMail', 'Try the mail server now', {
      config: {
        operator: true,
        scope: 'mail:write',
        function: 'MANAGE_BUSINESS',
        emptyBody: true,
      },
      tags: ['email'],
      description:
        'If the mail server takes no mail, the service opens a connection at once, and sends the waiting mails if that works. Changes nothing if it takes mails. At most one request within 5 s counts.',
      response: { 200: MailServer },
    }),
    async () => {
      if (server === undefined)
        throw new RequestError(409, 'There is no mail server: SMTP_URL is not set.')
      await requestMailRetry(database.engine, server, clock.now())
      const state = await findMailServer(database.engine, server)
      return toWire({
        failingSince: state?.outage?.since ?? null,
        lastAcceptedTime: state?.lastAcceptedTime ?? null,
        retryRequestedTime: state?.retryRequestedTime ?? null,
      })
    },
  )
}
