import type { FastifyReply } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { mayManage } from '../../auth/users.ts'
import { sendAgain, type Sending } from '../../automation/send-again.ts'
import { Email, NamedEmail, WholeEmail, type EmailStatus } from '../../contract/email.ts'
import { objectKind } from '../../contract/objects.ts'
import { PageOf } from '../../contract/page.ts'
import {
  EmailQuery,
  EmailsAboutQuery,
  EmailsQuery,
  MAX_EMAILS_ABOUT,
} from '../../contract/queries.ts'
import { contentOf } from '../../email/message.ts'
import { unsubscribeLink } from '../../email/unsubscribe.ts'
import { conflict, forbidden, notFound, RequestError } from '../../errors.ts'
import { nameEmails } from '../../store/email-names.ts'
import {
  countEmails,
  findEmail,
  listEmails,
  listEmailsAbout,
  type EmailFilters,
  type StoredEmail,
  type WholeEmail as StoredWholeEmail,
} from '../../store/emails.ts'
import { findObject } from '../../store/objects.ts'
import type { Visibility } from '../../store/visibility.ts'
import { findRoleOfLinkIn } from '../../store/password-links.ts'
import { listSuppressed } from '../../store/suppressions.ts'
import type { Db } from '../../database/database.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { ManyDone, ManyIds } from '../server/many.ts'
import type { Routes, Services } from '../server/services.ts'

const tags = ['email']
const NEXT_PAGE =
  'An answer that is not the last page has a `Link` header with `rel="next"`: the address of the next page.'
const reading = { scope: 'mail:read' } as const
const sending = { scope: 'mail:write' } as const
const ById = Type.Object({ emailId: Type.Integer({ minimum: 1 }) })

export const emails: Routes = async (app, services) => {
  const { clock } = services

  app.get(
    '/emails',
    {
      config: reading,
      schema: {
        tags,
        summary: 'Every mail, the newest first',
        querystring: EmailsQuery,
        response: {
          200: PageOf(NamedEmail, 'EmailPage'),
        },
      },
    },
    async ({ caller, query }) => {
      const { db, businessId } = caller
      const { limit: _limit, cursor: _cursor, expand, ...asked } = query
      const list = JSON.stringify(['emails', asked])
      const { limit, after } = readPage(query, list, ['moment', 'id'])
      const found = await listEmails(db, businessId, filtersOf(asked, caller), {
        after: after && { createdDate: after[0], emailId: after[1] },
        limit: limit + 1,
      })
      const page = pageOf(found, limit, list, positionOf)
      const items = expand ? await nameEmails(db, businessId, page.items) : page.items
      return { ...page, items: items.map(answerOf) }
    },
  )

  app.get(
    '/emails/counts',
    {
      config: reading,
      schema: {
        tags,
        summary: 'How many mails of each status there are',
        querystring: EmailQuery,
        response: {
          200: Type.Record(Type.String(), Type.Integer(), {
            examples: [{ SENT: 1643, RETRYING: 2, FAILED: 31 }],
          }),
        },
      },
    },
    async ({ caller, query }) =>
      countEmails(caller.db, caller.businessId, filtersOf(query, caller)),
  )

  for (const [word, kind, id] of [
    ['calendar', objectKind('calendar')!, Type.Integer({ minimum: 1 })],
    ['invitation', objectKind('invitation')!, Type.String()],
    ['client', objectKind('client')!, Type.Integer({ minimum: 1 })],
  ] as const) {
    app.get(
      `/emails/${word}/:${kind.id}`,
      {
        config: reading,
        schema: {
          tags,
          summary: `The mails about one ${kind.title}, the oldest first`,
          description: NEXT_PAGE,
          params: Type.Object({ [kind.id]: id }),
          querystring: EmailsAboutQuery,
          response: { 200: Type.Array(Email) },
        },
      },
      async ({ caller, params, query }, reply) => {
        const { db, businessId, scope: visibility } = caller
        const named = params as Record<string, number | string>
        if (!(await findObject(db, businessId, kind, named[kind.id]!, visibility))) {
          throw notFound(kind.title, named[kind.id]!)
        }
        const path = `/emails/${word}/${named[kind.id]!}`
        const { limit, after } = readPage({ limit: MAX_EMAILS_ABOUT, ...query }, path, [
          'moment',
          'id',
        ])
        const found = await listEmailsAbout(db, businessId, named as never, {
          after: after && { createdDate: after[0], emailId: after[1] },
          limit: limit + 1,
          visibility,
        })
        const page = pageOf(found, limit, path, positionOf)
        if (page.nextCursor !== null) {
          reply.header('link', `<${path}?limit=${limit}&cursor=${page.nextCursor}>; rel="next"`)
        }
        return page.items.map(answerOf)
      },
    )
  }

  app.get(
    '/emails/:emailId',
    {
      config: { ...reading, etag: true },
      schema: {
        tags,
        summary: 'One mail as rendered',
        params: ById,
        response: { 200: WholeEmail },
      },
    },
    async ({ caller, params: { emailId } }) => {
      const email = await requireReadableEmail(caller, emailId, clock.now())
      return { ...answerOf(withoutContent(email)), html: email.html, text: email.text }
    },
  )

  app.get(
    '/emails/:emailId/html',
    {
      config: reading,
      schema: {
        tags,
        summary: 'The mail by itself, for a frame',
        params: ById,
        response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
      },
    },
    async ({ caller, params: { emailId } }, reply) => {
      const { html } = await requireReadableEmail(caller, emailId, clock.now())
      if (html === null) throw noLongerKept(emailId)
      return sendFramed(reply, html)
    },
  )

  app.post(
    '/emails/:emailId/resend',
    {
      config: { ...sending, idempotent: true, emptyBody: true },
      schema: {
        tags,
        summary: 'Send it again, as a new mail',
        params: ById,
        response: { 201: Email },
      },
    },
    async (request, reply) => {
      const { caller, params } = request
      const now = clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const sent = await resend(tx, caller, params.emailId, sendingOf(services, now))
        return created(answerOf(sent), `/emails/${sent.emailId}`)
      })
    },
  )

  app.post(
    '/emails/resend',
    {
      config: { ...sending, idempotent: true },
      schema: {
        tags,
        summary: 'Send many again',
        body: ManyIds,
        response: { 200: ManyDone },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const now = clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const done: number[] = []
        const refused: { id: number; status: number; detail: string }[] = []
        for (const id of new Set(body.ids)) {
          try {
            await resend(tx, caller, id, sendingOf(services, now))
            done.push(id)
          } catch (error) {
            if (!(error instanceof RequestError)) throw error
            refused.push({ id, status: error.status, detail: error.message })
          }
        }
        return ok({ done, refused })
      })
    },
  )
}

function filtersOf(
  query: Static<typeof EmailQuery>,
  { scope: visibility }: { scope: Visibility },
): EmailFilters {
  const { status, templateId, emailTemplateId = templateId, from, to, ...same } = query
  return {
    ...same,
    emailTemplateId,
    statuses: status?.split(',') as EmailStatus[] | undefined,
    from: moment(from),
    to: moment(to),
    visibility,
  }
}

/** What mails that people send by hand stand on. */
export const sendingOf = ({ config, linkSeal }: Services, now: Temporal.Instant): Sending => ({
  now,
  unsubscribeLink: (mail) => unsubscribeLink(config.publicUrl, linkSeal, mail),
  mailFrom: config.mailFrom,
  host: new URL(config.publicUrl).hostname,
})

type Asking = { db: Db; businessId: number; scope: Visibility }

async function requireEmail({ db, businessId, scope }: Asking, emailId: number) {
  const email = await findEmail(db, businessId, emailId, scope)
  if (!email) throw notFound('mail', emailId)
  const { html, message } = email
  return html === null && message ? { ...email, ...contentOf(message.toString('latin1')) } : email
}

/**
 * While a mail holds a link that sets a password, only those may read it who could set that password
 * anyway: see docs/decisions/0187-password-links.md.
 */
async function requireReadableEmail(caller: Caller, emailId: number, now: Temporal.Instant) {
  const email = await requireEmail(caller, emailId)
  const role = await findRoleOfLinkIn(caller.db, caller.businessId, emailId, now)
  const { functions, account } = caller
  const mayRead = functions.has('MANAGE_USERS') && role && mayManage(account?.role ?? null, role)
  if (role && !mayRead) throw forbidden('This mail holds a link to the password of a person.')
  return email
}

async function resend(
  tx: Db,
  { businessId, scope }: Omit<Asking, 'db'>,
  emailId: number,
  sending: Sending,
): Promise<StoredEmail> {
  const email = await requireEmail({ db: tx, businessId, scope }, emailId)
  const { html, text } = email
  if (html === null || text === null) throw noLongerKept(emailId)
  if (await findRoleOfLinkIn(tx, businessId, emailId, sending.now)) {
    throw conflict('This mail holds a link that works once: invite the person again instead.')
  }
  const bounced = await listSuppressed(tx, [{ businessId, emailAddress: email.to }])
  if (bounced.some((one) => one.reason === 'BOUNCED')) {
    throw conflict(`${email.to} bounced before: clear it with DELETE /suppression first.`)
  }
  const newId = await sendAgain(tx, { ...(email as StoredWholeEmail), html, text }, sending)
  return withoutContent((await findEmail(tx, businessId, newId, null))!)
}

function withoutContent({
  html: _html,
  text: _text,
  message: _message,
  fromAddress: _from,
  emailCategoryId: _category,
  transactional: _transactional,
  ...email
}: StoredWholeEmail): StoredEmail {
  return email
}

const noLongerKept = (emailId: number) =>
  conflict(`What mail ${emailId} said is no longer kept, only that it was sent.`)

/** Answers the HTML of a mail for a frame of the console. */
export const sendFramed = (reply: FastifyReply, html: string) =>
  reply
    .header('content-security-policy', FRAME_POLICY)
    .removeHeader('x-frame-options')
    .type('text/html; charset=utf-8')
    .send(html)

/** Whatever a template holds: nothing runs, loads or leaves the frame. */
const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

const positionOf = ({ createdDate, emailId }: StoredEmail) => [String(createdDate), emailId]

/** Moments become numbers on the wire. */
export const answerOf = (email: StoredEmail) => email as unknown as Email

const moment = (ms: number | undefined) =>
  ms === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(ms)
