import { Type } from 'typebox'
import { escapeHtml } from '../../email/merge.ts'
import { isSealOf, readUnsubscribe } from '../../email/unsubscribe.ts'
import { notFound } from '../../errors.ts'
import { findSignedMail } from '../../store/link-seal.ts'
import { suppress } from '../../store/suppressions.ts'
import type { Routes } from '../server/services.ts'

const tags = ['unsubscribe']
const Page = { 200: { content: { 'text/html': { schema: Type.String() } } } }
const MAX_FORM_BYTES = 4_096
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/**
 * The link in mails that are not needed (RFC 8058). Opening it changes nothing: mail scanners open
 * every link. The button on the page, and the one click of a mail program, are a POST.
 */
export const unsubscribe: Routes = async (app, { clock, database, linkSeal }) => {
  // The one click of a mail program is a form. The service needs nothing from it.
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'buffer' },
    async () => undefined,
  )

  const addressee = async (token: string) => {
    const link = readUnsubscribe(token)
    const mail = link && (await findSignedMail(database.operator, link.businessId, link.emailId))
    if (!mail || !isSealOf(mail, link.seal, linkSeal)) {
      throw notFound('unsubscribe link', 'like this')
    }
    return { businessId: mail.businessId, address: mail.toAddress }
  }

  app.get(
    '/unsubscribe/:token',
    {
      config: { open: true },
      schema: { tags, summary: 'Asks whether to unsubscribe', params: ByToken, response: Page },
    },
    async ({ params }, reply) => {
      const { address } = await addressee(params.token)
      return reply
        .header('content-security-policy', POLICY)
        .type('text/html; charset=utf-8')
        .send(
          page(`<p>No more such mails to <b>${escapeHtml(address)}</b>?</p>
<form method="post"><button>Unsubscribe</button></form>`),
        )
    },
  )

  app.post(
    '/unsubscribe/:token',
    {
      config: { open: true, emptyBody: true },
      bodyLimit: MAX_FORM_BYTES,
      schema: { tags, summary: 'Unsubscribes', params: ByToken, response: Page },
      // No body is read without a valid token: everybody may call this route.
      onRequest: async ({ params }) => void (await addressee((params as { token: string }).token)),
    },
    async ({ params }, reply) => {
      const { businessId, address } = await addressee(params.token)
      const db = database.forBusiness(businessId, 'SYSTEM')
      const entry = { businessId, emailAddress: address, reason: 'UNSUBSCRIBED' as const }
      await suppress(db, [{ ...entry, detail: 'by the link in a mail' }], {
        user: 'SYSTEM',
        now: clock.now(),
      })
      return reply
        .header('content-security-policy', POLICY)
        .type('text/html; charset=utf-8')
        .send(page(`<p><b>${escapeHtml(address)}</b> gets no more such mails.</p>`))
    },
  )
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"

const page = (body: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Unsubscribe</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem;color:#1f2937}
button{font:inherit;padding:.6em 1.6em;border:0;border-radius:.5em;background:#2563eb;color:#fff;cursor:pointer}</style>
</head><body>${body}</body></html>
`
