import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import {
  answerLinks,
  formTokenOf,
  isFormToken,
  isSealed,
  readAnswerLink,
} from '../../email/answer-links.ts'
import { calendarLink } from '../../email/unsubscribe.ts'
import {
  CLIENT_USER,
  readAnswer,
  saveAnswer,
  type AnswerPage,
  type Question,
} from '../../scheduling/answers.ts'
import { RequestError } from '../../errors.ts'
import { findAskingMail } from '../../store/answer-links.ts'
import { hintChanges } from '../../store/changes.ts'
import { isCrossSite } from '../server/cookies.ts'
import { operation, type Routes, type Services } from '../server/services.ts'
import { answerPage, explainDeadLinks, MAX_REASON, type PageLinks } from './answer-pages.ts'
import { HtmlPage, readSender, sendMailPage } from './mail-page.ts'

const tags = ['answer']
/** A reason of 300 characters, each of three encoded bytes, fits. */
const MAX_FORM_BYTES = 4_096
const MAX_NAME = 200
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/**
 * The links with which a client confirms or cancels an appointment or class, or signs a form. GET changes
 * nothing, because mail scanners open every link. Only the form of the page does; it must send its token
 * from the same site.
 */
export const answers: Routes = async (app, services) => {
  explainDeadLinks(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, form: string) => readForm(new URLSearchParams(form)),
  )
  // Other content types are ignored, because pages of other sites can send some.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async () => undefined)

  for (const route of [getAnswer, postAnswer]) await route(app, services)
}

type Form = { formToken: string; reason: string | null; name: string | null; isUndo: boolean }

/** The text of a field on one line; null if it is empty. */
const readForm = (form: URLSearchParams): Form => {
  const read = (name: string, max: number) =>
    (form.get(name) ?? '')
      .toWellFormed()
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, max)
      .toWellFormed() || null
  return {
    formToken: form.get('formToken') ?? '',
    reason: read('reason', MAX_REASON),
    name: read('name', MAX_NAME),
    isUndo: form.has('undo'),
  }
}

const getAnswer: Routes = async (app, services) => {
  app.get(
    '/answer/:token',
    operation('showAnswer', 'Show an appointment, class or form and ask its client', {
      config: { open: true },
      tags,
      description:
        'The page of `%CONFIRM_URL%`, `%CANCEL_URL%` and `%SIGN_URL%`. It changes nothing.',
      params: ByToken,
      response: { 200: HtmlPage, 404: HtmlPage },
    }),
    async ({ params: { token } }, reply) => {
      const found = await findQuestion(services, token)
      const page = await readAnswer(
        dbOf(services, found.question),
        found.question,
        services.clock.now(),
      )
      return sendPage(services, reply, page.state === 'GONE' ? 404 : 200, { token, ...found, page })
    },
  )
}

const postAnswer: Routes = async (app, services) => {
  const { clock, config, linkSeal, settings } = services
  app.post(
    '/answer/:token',
    {
      ...operation(
        'sendAnswer',
        'Confirm or cancel an appointment or class, or sign a form, as its client',
        {
          config: { open: true, emptyBody: true },
          tags,
          params: ByToken,
          response: { 200: HtmlPage, 403: HtmlPage, 404: HtmlPage, 409: HtmlPage, 422: HtmlPage },
        },
      ),
      bodyLimit: MAX_FORM_BYTES,
      // The route is public: no body is read without a genuine link.
      onRequest: async ({ params }) =>
        void (await findQuestion(services, (params as { token: string }).token)),
    },
    async (request, reply) => {
      const { token } = request.params
      const found = await findQuestion(services, token)
      const { question } = found
      const db = dbOf(services, question)
      const now = clock.now()
      const form = (request.body ?? {}) as Partial<Form>
      const shown = await readAnswer(db, question, now)
      const isFormOfPage =
        isFormToken(form.formToken ?? '', formNameOf(token, shown), linkSeal) &&
        !isCrossSite(request, config.publicUrl)
      if (!isFormOfPage) {
        const status = shown.state === 'ASKS' ? 403 : STATUS_OF_STATE[shown.state]
        return sendPage(services, reply, status, { token, ...found, page: shown })
      }
      const name = form.name ?? null
      if (question.answer === 'sign' && shown.state === 'ASKS' && name === null) {
        const page = { token, ...found, page: shown, isNameMissing: true }
        return sendPage(services, reply, 422, page)
      }
      const note = question.answer === 'cancel' ? (form.reason ?? null) : null
      const given = { note, name, isUndo: form.isUndo ?? false }
      const page = await saveAnswer(db, question, given, { settings, now })
      if (page.state === 'DONE' || page.state === 'UNDONE') hintChanges(db, question.businessId)
      return sendPage(services, reply, STATUS_OF_STATE[page.state], { token, ...found, page })
    },
  )
}

type Found = { question: Question; links: PageLinks }

async function findQuestion(
  { config, database, linkSeal }: Services,
  token: string,
): Promise<Found> {
  const link = readAnswerLink(token)
  const mail = link && (await findAskingMail(database.operator, link.businessId, link.emailId))
  const isGenuine =
    mail &&
    isSealed(link, mail, linkSeal) &&
    (link.answer === 'sign') === (mail.objectType === 'DISCLAIMER')
  if (!isGenuine) throw new RequestError(404, 'This link is not valid.')
  const { answer, startTime } = link
  const { businessId, objectType, objectId, clientId, toAddress } = mail
  return {
    question: { answer, startTime, businessId, objectType, objectId, clientId, toAddress },
    links: {
      calendar: calendarLink(config.publicUrl, linkSeal, mail),
      cancel: answerLinks(config.publicUrl, linkSeal, { ...mail, startTime }).cancel,
    },
  }
}

const dbOf = ({ database }: Services, { businessId }: Question) =>
  database.forBusiness(businessId, CLIENT_USER)

/** A form to sign is bound to its text: a client signs what they have read. */
const formNameOf = (token: string, { row }: AnswerPage) => {
  const text = row?.context.disclaimer?.formBody
  return text ? `${token} ${createHash('sha256').update(text).digest('base64url')}` : token
}

const STATUS_OF_STATE = {
  ASKS: 200,
  DONE: 200,
  UNDONE: 200,
  MOVED: 409,
  CANCELLED: 409,
  OVER: 409,
  CLOSED: 409,
  TOO_LATE: 409,
  GONE: 404,
}

type ShownPage = Found & { token: string; page: AnswerPage; isNameMissing?: boolean }

async function sendPage(
  services: Services,
  reply: FastifyReply,
  status: number,
  { token, ...shown }: ShownPage,
) {
  const { question, page } = shown
  const location = page.row?.context.location ?? null
  const sender = await readSender(dbOf(services, question), question.businessId, location)
  const formToken = formTokenOf(formNameOf(token, page), services.linkSeal)
  return sendMailPage(reply, status, answerPage({ ...shown, sender, formToken }))
}
