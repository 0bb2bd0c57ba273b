import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { formTokenOf, isFormToken, isSealed, readAnswerLink } from '../../email/answer-links.ts'
import { CLIENT_USER, readAnswer, saveAnswer, type Question } from '../../scheduling/answers.ts'
import { findAskingMail } from '../../store/answer-links.ts'
import { hintChanges } from '../../store/changes.ts'
import { isCrossSite } from '../server/cookies.ts'
import type { Routes, Services } from '../server/services.ts'
import { answerPage, unknownLinkPage, STYLE_HASH } from './answer-pages.ts'

const tags = ['answer']
const Html = { content: { 'text/html': { schema: Type.String() } } }
const MAX_FORM_BYTES = 4_096
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/**
 * The links with which a client confirms or cancels an appointment. GET changes nothing, because mail
 * scanners open every link. Only the form of the page does; it must send its token from the same site.
 */
export const answers: Routes = async (app, services) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, form: string) => ({
      formToken: new URLSearchParams(form).get('formToken') ?? '',
    }),
  )
  // Other content types are ignored, because pages of other sites can send some.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined)

  for (const route of [getAnswer, postAnswer]) await route(app, services)
}

const getAnswer: Routes = async (app, services) => {
  const { clock, linkSeal } = services
  app.get(
    '/answer/:token',
    {
      config: { open: true },
      schema: {
        tags,
        summary: 'Show an appointment and ask its client',
        description: 'The page of `%CONFIRM_URL%` and `%CANCEL_URL%`. It changes nothing.',
        params: ByToken,
        response: { 200: Html, 404: Html },
      },
    },
    async (request, reply) => {
      const { token } = request.params
      const question = await findQuestion(services, token)
      if (!question) return sendUnknownLink(request, reply)
      const page = await readAnswer(dbOf(services, question), question, clock.now())
      const formToken = formTokenOf(token, linkSeal)
      const status = page.state === 'GONE' ? 404 : 200
      return sendPage(reply, status, answerPage(question, page, formToken))
    },
  )
}

const postAnswer: Routes = async (app, services) => {
  const { clock, config, linkSeal, settings } = services
  app.post(
    '/answer/:token',
    {
      config: { open: true, emptyBody: true },
      bodyLimit: MAX_FORM_BYTES,
      schema: {
        tags,
        summary: 'Confirm or cancel an appointment as its client',
        params: ByToken,
        response: { 200: Html, 403: Html, 404: Html, 409: Html },
      },
      // The route is public: no body is read without a genuine link.
      onRequest: async (request, reply) => {
        const { token } = request.params as { token: string }
        if (!(await findQuestion(services, token))) return sendUnknownLink(request, reply)
      },
    },
    async (request, reply) => {
      const { token } = request.params
      const question = await findQuestion(services, token)
      if (!question) return sendUnknownLink(request, reply)
      const db = dbOf(services, question)
      const now = clock.now()
      const { formToken: given = '' } = (request.body ?? {}) as { formToken?: string }
      const isFormOfPage =
        isFormToken(given, token, linkSeal) && !isCrossSite(request, config.publicUrl)
      const page = isFormOfPage
        ? await saveAnswer(db, question, { settings, now })
        : await readAnswer(db, question, now)
      if (isFormOfPage && page.state === 'DONE') hintChanges(db, question.businessId)
      const status = page.state === 'ASKS' ? 403 : STATUS_OF_STATE[page.state]
      return sendPage(reply, status, answerPage(question, page, formTokenOf(token, linkSeal)))
    },
  )
}

async function findQuestion(
  { database, linkSeal }: Services,
  token: string,
): Promise<Question | undefined> {
  const link = readAnswerLink(token)
  const mail = link && (await findAskingMail(database.operator, link.businessId, link.emailId))
  if (!mail || !isSealed(link, mail, linkSeal)) return undefined
  const { answer, startTime } = link
  const { businessId, calendarId, clientId, toAddress } = mail
  return { answer, startTime, businessId, calendarId, clientId, toAddress }
}

const dbOf = ({ database }: Services, { businessId }: Question) =>
  database.forBusiness(businessId, CLIENT_USER)

const STATUS_OF_STATE = {
  DONE: 200,
  MOVED: 409,
  OVER: 409,
  CLOSED: 409,
  TOO_LATE: 409,
  GONE: 404,
}

const sendUnknownLink = (request: FastifyRequest, reply: FastifyReply) =>
  sendPage(reply, 404, unknownLinkPage(request.headers['accept-language']))

/** `same-origin`: without a referrer, browsers send `Origin: null` with the form. */
const sendPage = (
  reply: FastifyReply,
  status: number,
  { html, language }: { html: string; language: string },
) =>
  reply
    .code(status)
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'same-origin')
    .header('x-robots-tag', 'noindex, nofollow')
    .header('content-language', language)
    .type('text/html; charset=utf-8')
    .send(html)

const POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
