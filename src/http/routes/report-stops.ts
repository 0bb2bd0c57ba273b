import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { escapeHtml } from '../../email/merge.ts'
import { RequestError } from '../../errors.ts'
import { findStopper, readStopToken, type Recipient } from '../../report-delivery/stop-links.ts'
import { REPORTS } from '../../reports/catalog/catalog.ts'
import { wordsOf } from '../../reports/words.ts'
import {
  isStopped,
  lockSchedule,
  findSchedule,
  saveStopped,
  type ScheduleObject,
} from '../../store/report-schedules.ts'
import { textsFor } from '../../texts/texts.ts'
import { operation, type Routes, type Services } from '../server/services.ts'
import { chooseLanguage, explainDeadLinks } from './answer-pages.ts'
import { HtmlPage, readSender, sendMailPage } from './mail-page.ts'

const tags = ['Reports']
const Page = { 200: HtmlPage, 404: HtmlPage }
const MAX_FORM_BYTES = 4_096
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })

/**
 * The link by which the reader of a mailed report stops it. GET changes nothing, because mail scanners
 * open every link. The button on the page and the one-click button of mail programs send a POST.
 */
export const reportStops: Routes = async (app, services) => {
  const { clock, database } = services
  explainDeadLinks(app)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, form: string) => ({ isUndo: new URLSearchParams(form).has('undo') }),
  )
  // The one click of some mail programs is a form in parts. Its content is not needed.
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, async () => undefined)

  app.get(
    '/report/stop/:token',
    operation('showReportStop', 'Show the page that stops a mailed report', {
      config: { open: true },
      tags,
      params: ByToken,
      response: Page,
    }),
    async ({ params }, reply) => {
      const { schedule, recipient } = await findRecipient(services, params.token)
      const state = isStopped(schedule, recipient) ? 'done' : 'asks'
      return sendPage(services, reply, schedule, state)
    },
  )

  app.post(
    '/report/stop/:token',
    {
      ...operation('stopReport', 'Stop a mailed report for one recipient, or take it back', {
        config: { open: true, emptyBody: true },
        tags,
        params: ByToken,
        response: Page,
      }),
      bodyLimit: MAX_FORM_BYTES,
      // The route is public: no body is read without a valid token.
      onRequest: async ({ params }) =>
        void (await findRecipient(services, (params as { token: string }).token)),
    },
    async ({ params, body }, reply) => {
      const { schedule, recipient } = await findRecipient(services, params.token)
      const { businessId, reportScheduleId } = schedule
      const { isUndo = false } = (body ?? {}) as { isUndo?: boolean }
      await database.forBusiness(businessId, 'SYSTEM').transaction(async (tx) => {
        const current = await lockSchedule(tx, businessId, reportScheduleId)
        if (!current || isStopped(current.schedule, recipient) !== isUndo) return
        const by = { user: 'SYSTEM', now: clock.now() }
        await saveStopped(tx, current.schedule, { recipient, isStopped: !isUndo }, by)
      })
      return sendPage(services, reply, schedule, isUndo ? 'undone' : 'done')
    },
  )
}

type Found = { schedule: ScheduleObject; recipient: Recipient }

async function findRecipient({ database, linkSeal }: Services, token: string): Promise<Found> {
  const link = readStopToken(token)
  const db = link && database.forBusiness(link.businessId, 'SYSTEM')
  const row = db && (await findSchedule(db, link.businessId, link.reportScheduleId))
  const recipient = row && findStopper(token, row.schedule, linkSeal)
  if (!recipient) throw new RequestError(404, 'This link is not valid.')
  return { schedule: row.schedule, recipient }
}

async function sendPage(
  { database }: Services,
  reply: FastifyReply,
  { businessId, name, reportId }: ScheduleObject,
  state: 'asks' | 'done' | 'undone',
) {
  const sender = await readSender(database.forBusiness(businessId, 'SYSTEM'), businessId)
  const language = chooseLanguage([sender.business.language])
  const texts = textsFor(language).reportStop
  const report = REPORTS.find((one) => one.reportId === reportId)?.reportName ?? ''
  const names = { report: name ?? wordsOf(language).say(report), business: sender.business.name }
  const button = (text: string, attributes = '') =>
    `<form method="post"><button${attributes}>${escapeHtml(text)}</button></form>`
  const body = {
    asks: [button(texts.button)],
    done: [button(texts.undo, ' class="quiet" name="undo" value="yes"')],
    undone: [],
  }[state]
  const title = { asks: texts.title, done: texts.doneTitle, undone: texts.undoneTitle }[state]
  const text = { asks: texts.question, done: texts.done, undone: texts.undone }[state]
  const line = escapeHtml(text).replace(/\{(\w+)\}/g, (whole, key: string) =>
    key === 'report' || key === 'business' ? `<b>${escapeHtml(names[key])}</b>` : whole,
  )
  return sendMailPage(reply, 200, { sender, language, title, body: [`<p>${line}</p>`, ...body] })
}
