import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { escapeHtml } from '../../email/merge.ts'
import { isSealOf, readUnsubscribe } from '../../email/unsubscribe.ts'
import { RequestError } from '../../errors.ts'
import { findReaderOf, findSignedMail } from '../../store/unsubscribe-links.ts'
import {
  listTopics,
  readUnsubscribed,
  setUnsubscribed,
  type Topic,
  type Unsubscribed,
} from '../../store/suppressions.ts'
import { textsFor, type Texts } from '../../texts/texts.ts'
import { operation, type Routes, type Services } from '../server/services.ts'
import { chooseLanguage, explainDeadLinks } from './answer-pages.ts'
import { HtmlPage, readSender, sendMailPage } from './mail-page.ts'

const tags = ['unsubscribe']
const Page = { 200: HtmlPage, 404: HtmlPage }
const MAX_FORM_BYTES = 4_096
const ByToken = Type.Object({ token: Type.String({ maxLength: 100 }) })
const Choosing = Type.Object({
  choose: Type.Optional(
    Type.String({
      maxLength: 10,
      description: 'Any value: show the choice also to a reader who has unsubscribed.',
    }),
  ),
})

/**
 * The unsubscribe link (RFC 8058). GET changes nothing, because mail scanners open every link. The
 * buttons on the page and the one-click button of mail programs send a POST.
 */
export const unsubscribe: Routes = async (app, services) => {
  const { clock, database } = services
  explainDeadLinks(app)
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, form: string) => readForm(new URLSearchParams(form)),
  )
  // The one click of some mail programs is a form in parts. Its content is not needed.
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, async () => undefined)

  app.get(
    '/unsubscribe/:token',
    operation('showUnsubscribe', 'Show the unsubscribe page', {
      config: { open: true },
      tags,
      params: ByToken,
      querystring: Choosing,
      response: Page,
    }),
    async ({ params, query }, reply) => {
      const reader = await findReader(services, params.token)
      const { unsubscribed, emailCategoryId } = reader
      if (query.choose !== undefined || !isStopped(unsubscribed, emailCategoryId)) {
        return sendPage(services, reply, reader, { name: 'asks', isChoosing: !!query.choose })
      }
      const before = without(unsubscribed, emailCategoryId)
      return sendPage(services, reply, reader, { name: 'done', before })
    },
  )

  app.post(
    '/unsubscribe/:token',
    {
      ...operation('unsubscribe', 'Unsubscribe, or take it back', {
        config: { open: true, emptyBody: true },
        tags,
        description: 'Without a choice it stops the mails of the category of the mail.',
        params: ByToken,
        response: Page,
      }),
      bodyLimit: MAX_FORM_BYTES,
      // The route is public: no body is read without a valid token.
      onRequest: async ({ params }) =>
        void (await findMail(services, (params as { token: string }).token)),
    },
    async ({ params, body }, reply) => {
      const reader = await findReader(services, params.token)
      const { businessId, address, unsubscribed: before } = reader
      const form = (body ?? {}) as Partial<Form>
      const unsubscribed = wantedBy(form, reader)
      const by = { user: 'SYSTEM', now: clock.now() }
      const db = database.forBusiness(businessId, by.user)
      await db.transaction((tx) =>
        setUnsubscribed(tx, { businessId, emailAddress: address }, unsubscribed, by),
      )
      const isUndone = form.undo !== undefined || isNothing(unsubscribed)
      const shown = isUndone ? { name: 'undone' as const } : { name: 'done' as const, before }
      return sendPage(services, reply, { ...reader, unsubscribed }, shown)
    },
  )
}

type Form = {
  isAll: boolean
  /** The topics that stay, if the reader chose; undefined for one click. */
  kept: number[] | undefined
  /** What the reader had unsubscribed from before. */
  undo: Unsubscribed | undefined
}

const readIds = (ids: string[]) => ids.filter((id) => /^\d{1,15}$/.test(id)).map(Number)

const readForm = (form: URLSearchParams): Form => {
  const undo = form.get('undo')
  return {
    isAll: form.has('all'),
    kept: form.has('choice') ? readIds(form.getAll('topic')) : undefined,
    undo:
      undo === null
        ? undefined
        : { isAll: undo === ALL, emailCategoryIds: readIds(undo.split(' ')) },
  }
}

const ALL = 'all'
const writeUndo = ({ isAll, emailCategoryIds }: Unsubscribed) =>
  isAll ? ALL : emailCategoryIds.join(' ')

const isNothing = ({ isAll, emailCategoryIds }: Unsubscribed) =>
  !isAll && emailCategoryIds.length === 0

const isStopped = ({ isAll, emailCategoryIds }: Unsubscribed, topic: number | null) =>
  isAll || (topic !== null && emailCategoryIds.includes(topic))

const without = ({ isAll, emailCategoryIds }: Unsubscribed, topic: number | null) => ({
  isAll: false,
  emailCategoryIds: isAll ? [] : emailCategoryIds.filter((id) => id !== topic),
})

/** What the reader is unsubscribed from after sending this form. */
function wantedBy({ isAll, kept, undo }: Partial<Form>, reader: Reader): Unsubscribed {
  const { topics, unsubscribed, emailCategoryId } = reader
  // The category may have been deleted since the page was shown.
  const known = new Set([...topics.map((one) => one.emailCategoryId), emailCategoryId])
  const hidden = unsubscribed.emailCategoryIds.filter((id) => !known.has(id))
  if (undo) {
    const emailCategoryIds = undo.emailCategoryIds.filter((id) => known.has(id))
    return { isAll: undo.isAll, emailCategoryIds: [...hidden, ...emailCategoryIds] }
  }
  if (isAll || (unsubscribed.isAll && !kept)) return { isAll: true, emailCategoryIds: [] }
  if (kept) {
    const stopped = topics.map((one) => one.emailCategoryId).filter((id) => !kept.includes(id))
    const isEverything = topics.length > 0 && stopped.length === topics.length
    return { isAll: isEverything, emailCategoryIds: [...hidden, ...stopped] }
  }
  if (emailCategoryId === null) return { isAll: true, emailCategoryIds: [] }
  const { emailCategoryIds } = unsubscribed
  return { isAll: false, emailCategoryIds: [...new Set([...emailCategoryIds, emailCategoryId])] }
}

type Mail = { businessId: number; emailId: number; address: string }

async function findMail({ database, linkSeal }: Services, token: string): Promise<Mail> {
  const link = readUnsubscribe(token)
  const mail = link && (await findSignedMail(database.operator, link.businessId, link.emailId))
  if (!mail || !isSealOf(mail, link.seal, linkSeal)) {
    throw new RequestError(404, 'This link is not valid.')
  }
  const { businessId, emailId, toAddress: address } = mail
  return { businessId, emailId, address }
}

type Reader = Mail & {
  emailCategoryId: number | null
  language: string | null
  unsubscribed: Unsubscribed
  topics: Topic[]
}

async function findReader(services: Services, token: string): Promise<Reader> {
  const mail = await findMail(services, token)
  const { businessId, emailId, address } = mail
  const db = services.database.forBusiness(businessId, 'SYSTEM')
  const [reader, unsubscribed, topics] = await Promise.all([
    findReaderOf(db, businessId, emailId),
    readUnsubscribed(db, businessId, address),
    listTopics(db, businessId),
  ])
  return { ...mail, ...reader, unsubscribed, topics }
}

type Shown =
  | { name: 'asks'; isChoosing: boolean }
  | { name: 'done'; before: Unsubscribed }
  | { name: 'undone' }

async function sendPage({ database }: Services, reply: FastifyReply, reader: Reader, shown: Shown) {
  const { businessId, address, topics, unsubscribed } = reader
  const db = database.forBusiness(businessId, 'SYSTEM')
  const sender = await readSender(db, businessId)
  const language = chooseLanguage([reader.language])
  const texts = textsFor(language).mail.unsubscribePage
  const { name: business } = sender.business
  const filled = (text: string, more = {}) =>
    `<p>${withNames(text, { address, business, ...more })}</p>`
  const send = (title: string, body: string[]) =>
    sendMailPage(reply, 200, { sender, language, title, body })

  if (shown.name === 'undone') return send(texts.undoneTitle, [filled(texts.undone)])
  if (shown.name === 'done') {
    const stopped = topics.filter((one) => isStopped(unsubscribed, one.emailCategoryId))
    const names = new Intl.ListFormat(language).format(stopped.map(({ name }) => name))
    const undo = `<button class="quiet" name="undo" value="${writeUndo(shown.before)}">${escapeHtml(texts.undo)}</button>`
    return send(texts.doneTitle, [
      unsubscribed.isAll || stopped.length === 0
        ? filled(texts.done)
        : filled(texts.stopped, { topics: names }),
      formOf(undo),
      topics.length > 1 ? `<p><a href="?choose=yes">${escapeHtml(texts.choose)}</a></p>` : '',
    ])
  }
  const kept = `<p class="soft">${escapeHtml(texts.kept)}</p>`
  const all = (text: string, attributes = '') =>
    `<button${attributes} name="all" value="yes">${escapeHtml(text)}</button>`
  return send(
    texts.title.replace('{business}', () => business),
    topics.length > 1
      ? [
          filled(texts.topics),
          kept,
          formOf(choiceOf(reader, shown.isChoosing, texts) + all(texts.all, ' class="quiet"')),
        ]
      : [filled(texts.question), kept, formOf(all(texts.button))],
  )
}

/** Without an `action`, the browser would repeat the query of the page. */
const formOf = (content: string) => `<form method="post" action="?">${content}</form>`

/** The topics of the business. That of the mail is stopped unless the reader keeps it. */
function choiceOf(
  { topics, unsubscribed, emailCategoryId: own }: Reader,
  isChoosing: boolean,
  texts: Texts['mail']['unsubscribePage'],
) {
  const boxes = topics.map(({ emailCategoryId, name }) => {
    const isStopping = !isChoosing && emailCategoryId === own
    const isKept = !isStopping && !isStopped(unsubscribed, emailCategoryId)
    return `<label class="topic"><input type="checkbox" name="topic" value="${emailCategoryId}"${isKept ? ' checked' : ''}> ${escapeHtml(name)}</label>`
  })
  return `${boxes.join('\n')}<button name="choice" value="yes">${escapeHtml(texts.save)}</button>`
}

/** A fixed text with these values in bold. */
const withNames = (text: string, names: Record<string, string>) =>
  escapeHtml(text).replace(/\{(\w+)\}/g, (whole, name: string) =>
    names[name] === undefined ? whole : `<b>${escapeHtml(names[name])}</b>`,
  )
