import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { escapeHtml } from '../../email/merge.ts'
import { isSealOf, readUnsubscribe } from '../../email/unsubscribe.ts'
import { languageOfWords, wordsFor, type Words } from '../../email/words.ts'
import { RequestError } from '../../errors.ts'
import { findReaderLanguage, findSignedMail } from '../../store/unsubscribe-links.ts'
import { suppress } from '../../store/suppressions.ts'
import type { Routes, Services } from '../server/services.ts'

const tags = ['unsubscribe']
const Page = { 200: { content: { 'text/html': { schema: Type.String() } } } }
const MAX_FORM_BYTES = 4_096
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/**
 * The unsubscribe link (RFC 8058). GET changes nothing, because mail scanners open every link. The
 * button on the page and the one-click button of mail programs send a POST.
 */
export const unsubscribe: Routes = async (app, services) => {
  const { clock, database } = services
  // The one-click POST of mail programs sends a form. Its content is not needed.
  app.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'buffer' },
    async () => undefined,
  )

  app.get(
    '/unsubscribe/:token',
    {
      config: { open: true },
      schema: { tags, summary: 'Show the unsubscribe page', params: ByToken, response: Page },
    },
    async ({ params }, reply) => {
      const recipient = await findRecipient(services, params.token)
      const language = await languageOf(services, recipient)
      const { question, button } = wordsFor(language).unsubscribePage
      return sendPage(
        reply,
        language,
        `<p>${withAddress(question, recipient.address)}</p>
<form method="post"><button>${escapeHtml(button)}</button></form>`,
      )
    },
  )

  app.post(
    '/unsubscribe/:token',
    {
      config: { open: true, emptyBody: true },
      bodyLimit: MAX_FORM_BYTES,
      schema: { tags, summary: 'Unsubscribe', params: ByToken, response: Page },
      // The route is public: no body is read without a valid token.
      onRequest: async ({ params }) =>
        void (await findRecipient(services, (params as { token: string }).token)),
    },
    async ({ params }, reply) => {
      const recipient = await findRecipient(services, params.token)
      const { businessId, address } = recipient
      const db = database.forBusiness(businessId, 'SYSTEM')
      const entry = { businessId, emailAddress: address, reason: 'UNSUBSCRIBED' as const }
      await suppress(db, [{ ...entry, detail: 'by the link in an email' }], {
        user: 'SYSTEM',
        now: clock.now(),
      })
      const language = await languageOf(services, recipient)
      const { done } = wordsFor(language).unsubscribePage
      return sendPage(reply, language, `<p>${withAddress(done, address)}</p>`)
    },
  )
}

type Recipient = { businessId: number; emailId: number; address: string }

async function findRecipient({ database, linkSeal }: Services, token: string): Promise<Recipient> {
  const link = readUnsubscribe(token)
  const mail = link && (await findSignedMail(database.operator, link.businessId, link.emailId))
  if (!mail || !isSealOf(mail, link.seal, linkSeal)) {
    throw new RequestError(404, 'This unsubscribe link is not valid.')
  }
  return { businessId: mail.businessId, emailId: mail.emailId, address: mail.toAddress }
}

const languageOf = ({ database }: Services, { businessId, emailId }: Recipient) =>
  findReaderLanguage(database.forBusiness(businessId, 'SYSTEM'), businessId, emailId)

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"

/** A fixed text with the reader's address in bold. */
const withAddress = (text: string, address: string) =>
  escapeHtml(text).replace('{address}', () => `<b>${escapeHtml(address)}</b>`)

const sendPage = (reply: FastifyReply, language: string | null, body: string) =>
  reply
    .header('content-security-policy', POLICY)
    .type('text/html; charset=utf-8')
    .send(page(languageOfWords(language), wordsFor(language), body))

const page = (language: string, words: Words, body: string) => `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(words.unsubscribePage.title)}</title>
<style>:root{color-scheme:light dark}body{font:1.1rem/1.6 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem}
button{font:inherit;padding:.6em 1.6em;border:0;border-radius:.5em;background:#2f5d50;color:#fff;cursor:pointer}</style>
</head><body>${body}</body></html>
`
