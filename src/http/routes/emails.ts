import { isShadowReason } from '../../contract/reasons.ts'
import type { FastifyReply } from 'fastify'
import { Type, type Static } from 'typebox'
import type { Caller } from '../../auth/caller.ts'
import { mayManage } from '../../auth/users.ts'
import { findExceededLimit, holdResend } from '../../automation/approvals.ts'
import { showLogo } from '../../automation/logo.ts'
import { findPresentAddress, sendAgain, type Sending } from '../../automation/send-again.ts'
import { Email, NamedEmail, WholeEmail, type EmailStatus } from '../../contract/email.ts'
import { pascalCase } from '../../contract/object-body.ts'
import { objectKind } from '../../contract/objects.ts'
import { PageOf } from '../../contract/page.ts'
import {
  EmailQuery,
  EmailsAboutQuery,
  EmailsQuery,
  MAX_EMAILS_ABOUT,
} from '../../contract/queries.ts'
import { about, Counts, BulkIds, BulkResult } from '../../contract/schema.ts'
import { answerLinks, withoutAnswers } from '../../email/answer-links.ts'
import { contentOf } from '../../email/message.ts'
import { readMailBody } from '../../automation/mail-bodies.ts'
import { UnreadableBody, type ReadBody } from '../../store/message-bodies.ts'
import { calendarLink, unsubscribeLink } from '../../email/unsubscribe.ts'
import { conflict, forbidden, notFound, RequestError } from '../../errors.ts'
import { nameEmails } from '../../store/email-names.ts'
import {
  countEmails,
  findEmail,
  listEmails,
  listEmailsAbout,
  OUTCOMES,
  type EmailFilters,
  type StoredEmail,
  type WholeEmail as StoredWholeEmail,
} from '../../store/emails.ts'
import { countContents } from '../../store/files.ts'
import { findObject } from '../../store/objects.ts'
import type { Visibility } from '../../store/visibility.ts'
import { findRoleOfLinkIn } from '../../store/password-links.ts'
import { findReportInEmail } from '../../store/report-schedules.ts'
import { mayPrint, REPORTS } from '../../reports/catalog/catalog.ts'
import { listSuppressed } from '../../store/suppressions.ts'
import type { Db } from '../../database/database.ts'
import { pageOf, readPage } from '../server/cursor.ts'
import { answerOnce, created, ok } from '../server/idempotency.ts'
import { toInstant, toWire } from '../server/serialize.ts'
import { explainWaiting } from './waiting-emails.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const tags = ['email']
const NEXT_PAGE =
  'If there are more, the answer has a `Link` header with `rel="next"`: the URL of the next page.'
const reading = { scope: 'mail:read' } as const
const sending = { scope: 'mail:write' } as const
const ById = Type.Object({ emailId: Type.Integer({ minimum: 1 }) })

export const emails: Routes = inOrder(() => [
  getEmails,
  getEmailCounts,
  getEmailsOfObject,
  getEmail,
  getEmailHtml,
  postResend,
  postBulkResend,
])

const getEmails: Routes = async (app, services) => {
  app.get(
    '/emails',
    operation('listEmails', 'List emails, newest first', {
      config: reading,
      tags,
      querystring: EmailsQuery,
      response: { 200: PageOf(NamedEmail, 'EmailPage') },
    }),
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
      const explained = await explainWaiting(services, caller, page.items)
      const items = expand ? await nameEmails(db, businessId, explained) : explained
      return { ...page, items: toWire(items) }
    },
  )
}

const getEmailCounts: Routes = async (app) => {
  app.get(
    '/emails/counts',
    operation('countEmails', 'Count emails by status', {
      config: reading,
      tags,
      querystring: EmailQuery,
      response: {
        200: about(Counts, 'How many emails have each status.', {
          SENT: 1643,
          RETRYING: 2,
          FAILED: 31,
        }),
      },
    }),
    async ({ caller, query }) =>
      countEmails(caller.db, caller.businessId, filtersOf(query, caller)),
  )
}

const LISTS_OF_OBJECTS = [
  {
    word: 'calendar',
    idSchema: Type.Integer({ minimum: 1 }),
    aboutOf: (id: number | string) => ({ calendarId: Number(id) }),
  },
  {
    word: 'invitation',
    idSchema: Type.String(),
    aboutOf: (id: number | string) => ({ invitationUUID: String(id) }),
  },
  {
    word: 'client',
    idSchema: Type.Integer({ minimum: 1 }),
    aboutOf: (id: number | string) => ({ clientId: Number(id) }),
  },
]

const getEmailsOfObject: Routes = async (app, services) => {
  for (const { word, idSchema, aboutOf } of LISTS_OF_OBJECTS) {
    const kind = objectKind(word)!
    app.get(
      `/emails/${word}/:${kind.id}`,
      operation(
        `listEmailsOf${pascalCase(kind.title)}`,
        `List the emails about one ${kind.title}, oldest first`,
        {
          config: reading,
          tags,
          description: NEXT_PAGE,
          params: Type.Object({ [kind.id]: idSchema }),
          querystring: EmailsAboutQuery,
          response: { 200: Type.Array(Email) },
        },
      ),
      async ({ caller, params, query }, reply) => {
        const { db, businessId, visibility } = caller
        const id = (params as Record<string, number | string>)[kind.id]!
        if (!(await findObject(db, businessId, kind, id, visibility)))
          throw notFound(kind.title, id)
        const path = `/emails/${word}/${id}`
        const position = { limit: MAX_EMAILS_ABOUT, ...query }
        const { limit, after } = readPage(position, path, ['moment', 'id'])
        const found = await listEmailsAbout(db, businessId, aboutOf(id), {
          after: after && { createdDate: after[0], emailId: after[1] },
          limit: limit + 1,
          visibility,
        })
        const page = pageOf(found, limit, path, positionOf)
        if (page.nextCursor !== null) {
          reply.header('link', `<${path}?limit=${limit}&cursor=${page.nextCursor}>; rel="next"`)
        }
        return toWire(await explainWaiting(services, caller, page.items))
      },
    )
  }
}

const getEmail: Routes = async (app, services) => {
  app.get(
    '/emails/:emailId',
    operation('getEmail', 'Read an email as it was rendered', {
      config: { ...reading, etag: true },
      tags,
      params: ById,
      response: { 200: WholeEmail },
    }),
    async ({ caller, params: { emailId } }) => {
      const found = await requireReadableEmail(caller, emailId, services.clock.now())
      const [email] = await explainWaiting(services, caller, [found])
      const { html, text, attachments } = found
      return { ...toWire(withoutContent(email!)), html, text, attachments: attachments ?? [] }
    },
  )
}

const getEmailHtml: Routes = async (app, { clock }) => {
  app.get(
    '/emails/:emailId/html',
    operation('getEmailHtml', 'Read the HTML of an email, for an iframe', {
      config: reading,
      tags,
      params: ById,
      response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
    }),
    async ({ caller, params: { emailId } }, reply) => {
      const { html } = await requireReadableEmail(caller, emailId, clock.now())
      if (html === null) throw noLongerKept(emailId)
      return sendFramed(reply, await showLogo(caller.db, caller.businessId, html))
    },
  )
}

const postResend: Routes = async (app, services) => {
  app.post(
    '/emails/:emailId/resend',
    operation('resendEmail', 'Send an email again, as a new one', {
      config: { ...sending, idempotent: true, emptyBody: true },
      tags,
      description: 'An email that is QUEUED, SENDING, RETRYING or UNCERTAIN is a 409.',
      params: ById,
      response: { 201: Email },
    }),
    async (request, reply) => {
      const { caller, params } = request
      const now = services.clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const sent = await resend(tx, caller, params.emailId, sendingOf(services, now))
        return created(sent, `/emails/${sent.emailId}`)
      })
    },
  )
}

const postBulkResend: Routes = async (app, services) => {
  app.post(
    '/emails/resend',
    operation('resendEmails', 'Send many emails again', {
      config: { ...sending, idempotent: true },
      tags,
      description: 'An email that is QUEUED, SENDING, RETRYING or UNCERTAIN is refused with 409.',
      body: BulkIds,
      response: { 200: BulkResult },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const now = services.clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const ids = [...new Set(body.ids)]
        const bulkLimit =
          ids.length > 1
            ? await findExceededLimit(tx, caller.businessId, ids.length, now)
            : undefined
        if (bulkLimit !== undefined)
          return ok(await askForApproval(tx, caller, { ids, bulkLimit, now }))
        return ok(await resendMany(tx, caller, ids, sendingOf(services, now)))
      })
    },
  )
}

/** Nothing is sent before the approval is released. Mails that cannot be sent again are refused now. */
async function askForApproval(
  tx: Db,
  { businessId, user, visibility }: Caller,
  { ids, bulkLimit, now }: { ids: number[]; bulkLimit: number; now: Temporal.Instant },
) {
  const emailIds: number[] = []
  const refused: Refused[] = []
  for (const id of ids) {
    const email = await findEmail(tx, businessId, id, visibility)
    if (!email) refused.push(refusalOf(id, notFound('email', id)))
    else if (!hasEnded(email)) refused.push(refusalOf(id, stillQueued(email)))
    else emailIds.push(id)
  }
  const approvalId = await holdResend(tx, businessId, { emailIds, bulkLimit }, { user, now })
  return { done: [], refused, approvalId }
}

/** Sends mails again. One that cannot be sent does not stop the others. */
export async function resendMany(
  tx: Db,
  viewer: Omit<Viewer, 'db'>,
  emailIds: number[],
  sending: Sending,
) {
  const done: number[] = []
  const refused: Refused[] = []
  for (const id of emailIds) {
    try {
      await resend(tx, viewer, id, sending)
      done.push(id)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      refused.push(refusalOf(id, error))
    }
  }
  return { done, refused }
}

type Refused = { id: number; status: number; detail: string }

const refusalOf = (id: number, { status, message }: RequestError): Refused => ({
  id,
  status,
  detail: message,
})

function filtersOf(
  query: Static<typeof EmailQuery>,
  { visibility }: { visibility: Visibility },
): EmailFilters {
  const { status, templateId, emailTemplateId = templateId, from, to, ...same } = query
  return {
    ...same,
    emailTemplateId,
    statuses: status?.split(',') as EmailStatus[] | undefined,
    from: toInstant(from),
    to: toInstant(to),
    visibility,
  }
}

/** The settings for emails that no trigger caused. */
export const sendingOf = ({ config, linkSeal }: Services, now: Temporal.Instant): Sending => ({
  now,
  links: {
    unsubscribe: (mail) => unsubscribeLink(config.publicUrl, linkSeal, mail),
    addToCalendar: (mail) => calendarLink(config.publicUrl, linkSeal, mail),
    answer: (mail) => answerLinks(config.publicUrl, linkSeal, mail),
  },
  mailFrom: config.mailFrom,
  host: new URL(config.publicUrl).hostname,
})

type Viewer = { db: Db; businessId: number; visibility: Visibility }

/** A mail with its content, if it is still stored. */
type ReadEmail = StoredWholeEmail & { body: ReadBody | null }

async function requireEmail(
  { db, businessId, visibility }: Viewer,
  emailId: number,
): Promise<ReadEmail> {
  const email = await findEmail(db, businessId, emailId, visibility)
  if (!email) throw notFound('email', emailId)
  try {
    const body = await readMailBody(db, email)
    return { ...email, body, ...(body && contentOf(body.text)) }
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    throw conflict(`Email ${emailId} cannot be read: ${error.message}. Tell the operator.`)
  }
}

/**
 * While an email holds a valid password link, only callers who could set that password anyway may read
 * it: see docs/decisions/0006-password-links.md.
 */
async function requireReadableEmail(caller: Caller, emailId: number, now: Temporal.Instant) {
  const email = await requireEmail(caller, emailId)
  const role = await findRoleOfLinkIn(caller.db, caller.businessId, emailId, now)
  const { functions, account } = caller
  const mayRead = functions.has('MANAGE_USERS') && role && mayManage(account?.role ?? null, role)
  if (role && !mayRead)
    throw forbidden(
      'This email holds a password link. Only those who manage that person may read it.',
    )
  const reportId = await findReportInEmail(caller.db, caller.businessId, emailId)
  if (reportId !== undefined && !mayPrintAll(reportId, functions))
    throw forbidden('This email holds a report that you may not see.')
  return functions.has('EDIT_SCHEDULE') ? email : withoutAnswerLinks(email)
}

/** Answer links change the status of an appointment. */
const withoutAnswerLinks = (email: ReadEmail): ReadEmail => ({
  ...email,
  html: email.html && withoutAnswers(email.html),
  text: email.text && withoutAnswers(email.text),
})

/** The report in the email was made for somebody else: a reader must see all of it, money included. */
const mayPrintAll = (reportId: number, functions: ReadonlySet<string>) =>
  functions.has('VIEW_REVENUE_REPORTS') &&
  REPORTS.some((report) => report.reportId === reportId && mayPrint(report, functions))

async function resend(
  tx: Db,
  { businessId, visibility }: Omit<Viewer, 'db'>,
  emailId: number,
  sending: Sending,
): Promise<StoredEmail> {
  const email = await requireEmail({ db: tx, businessId, visibility }, emailId)
  if (!hasEnded(email)) throw stillQueued(email)
  if (email.status === 'CAPTURED' && isShadowReason(email.statusReason)) {
    throw conflict('This email was captured because its feed was in shadow mode. It is never sent.')
  }
  const { html, text, body } = email
  if (html === null || text === null || body === null) throw noLongerKept(emailId)
  if (await findRoleOfLinkIn(tx, businessId, emailId, sending.now)) {
    throw conflict(
      'This email holds a password link that works once. Invite the person again instead.',
    )
  }
  if ((await findReportInEmail(tx, businessId, emailId)) !== undefined) {
    throw conflict(
      'This email holds a report, and the rights of its recipient may have changed. Print the report instead.',
    )
  }
  const files = (email.attachments ?? []).map(({ fileUUId }) => fileUUId)
  if (files.length > 0 && (await countContents(tx, businessId, files)) < files.length) {
    throw conflict('A file that this email attaches was deleted, so it cannot be sent again.')
  }
  const to = await findPresentAddress(tx, email)
  await refuseSuppressed(tx, businessId, to)
  const newId = await sendAgain(tx, { ...email, html, text, body }, to, sending)
  return withoutContent((await findEmail(tx, businessId, newId, null))!)
}

/** The caller is told why the address gets no mail, instead of a mail that is not sent. */
export async function refuseSuppressed(tx: Db, businessId: number, to: string) {
  const suppressed = await listSuppressed(tx, [{ businessId, emailAddress: to }])
  const final = suppressed.find(({ reason }) => reason !== 'UNSUBSCRIBED')
  if (!final) return
  const why = final.reason === 'BOUNCED' ? 'bounced before' : 'reported an earlier mail as spam'
  throw conflict(`${to} ${why}. Remove it with DELETE /suppression first.`)
}

const hasEnded = ({ status }: Pick<StoredEmail, 'status'>) => OUTCOMES.includes(status)

/** The email queue sends it anyway: the recipient would get it twice. */
const stillQueued = ({ status }: Pick<StoredEmail, 'status'>) =>
  conflict(`This email is ${status} and will be sent anyway. Send it again when that has ended.`)

function withoutContent({
  html: _html,
  text: _text,
  message: _message,
  body: _body,
  fromAddress: _from,
  emailCategoryId: _category,
  transactional: _transactional,
  attachments: _attachments,
  isToClient: _isToClient,
  recipientKey: _recipientKey,
  ...email
}: StoredWholeEmail & Partial<Pick<ReadEmail, 'body'>>): StoredEmail {
  return email
}

const noLongerKept = (emailId: number) =>
  conflict(
    `The content of email ${emailId} is no longer stored, so it cannot be shown or sent again.`,
  )

/** Sends the HTML of an email for an iframe of the console. */
export const sendFramed = (reply: FastifyReply, html: string) =>
  reply
    .header('content-security-policy', FRAME_POLICY)
    .removeHeader('x-frame-options')
    .type('text/html; charset=utf-8')
    .send(html)

/** Templates are untrusted: no script runs, nothing is loaded and no link leaves the iframe. */
const FRAME_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

const positionOf = ({ createdDate, emailId }: StoredEmail) => [String(createdDate), emailId]
