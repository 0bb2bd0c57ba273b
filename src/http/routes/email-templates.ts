import { Type } from 'typebox'
import { lackOf } from '../../auth/permissions.ts'
import { senderOf } from '../../automation/compose.ts'
import { listTokenValues, previewMail } from '../../automation/preview.ts'
import { findTemplateWarnings } from '../../automation/template-warnings.ts'
import { findTemplate, listTemplates, type RenderedTemplate } from '../../automation/templates.ts'
import { showLogo } from '../../automation/logo.ts'
import { sendTests } from '../../automation/send-again.ts'
import type { Caller } from '../../auth/caller.ts'
import { parseAddress } from '../../contract/addresses.ts'
import {
  CheckedTemplate,
  MailObject,
  MailPreview,
  MailTest,
  PreviewRequest,
  SentTests,
  TemplateCheck,
  TokenGroup,
  TokenQuery,
} from '../../contract/email-template.ts'
import type { ObjectType } from '../../contract/event-type.ts'
import { kindOfObjectType, objectKind } from '../../contract/objects.ts'
import type { Db } from '../../database/database.ts'
import { runAndRollBack } from '../../database/roll-back.ts'
import { listTokens } from '../../email/tokens.ts'
import { forbidden, invalid, notFound, RequestError } from '../../errors.ts'
import { checkHtmlOf, removedFrom, type HtmlChecks } from '../../scheduling/email-templates.ts'
import { saveObject } from '../../scheduling/save.ts'
import { findObject } from '../../store/objects.ts'
import { listEmailsById } from '../../store/emails.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { sendFramed, sendingOf } from './emails.ts'
import { answerOnce } from '../server/idempotency.ts'
import { inOrder, operation, type Routes, type Services } from '../server/services.ts'

const tags = ['email template']
const ById = Type.Object({ emailTemplateId: Type.Integer({ minimum: 1 }) })

/** In addition to the routes of objects.ts, which every kind of object has. */
export const emailTemplates: Routes = inOrder(() => [
  getTokens,
  postPreview,
  postCheck,
  getPreviewHtml,
  postTest,
])

const getTokens: Routes = async (app, { config }) => {
  app.get(
    '/emailTemplate/token',
    operation('listTokens', 'List all %TOKENS% by object type, each with an example', {
      config: { scope: 'mail:read' },
      tags,
      description:
        'With `objectType` and `objectId` also with the value in a mail about that object.',
      querystring: TokenQuery,
      response: { 200: Type.Array(TokenGroup) },
    }),
    async ({ caller, query: { objectType, objectId, language = null } }) => {
      if (objectType === undefined && objectId === undefined) return listTokens()
      if (objectType === undefined || objectId === undefined) {
        const pointer = objectType === undefined ? '?objectType' : '?objectId'
        throw invalid([{ pointer, detail: 'objectType and objectId belong together' }])
      }
      const about = { objectType, objectId }
      const options = { language, links: exampleLinks(config.publicUrl) }
      const isSeen = await canSee(caller, about)
      const listed = isSeen && (await listTokenValues(caller.db, caller.businessId, about, options))
      if (!listed) throw noObject(about, '?objectId')
      return listed
    },
  )
}

const postPreview: Routes = async (app, services) => {
  app.post(
    '/emailTemplate/:emailTemplateId/preview',
    operation('previewEmailTemplate', 'Preview the email that a template makes for an object', {
      config: { scope: 'mail:read' },
      tags,
      description:
        'Nothing is sent, and nothing is saved: unsaved changes in `template` are saved in a transaction that is rolled back.',
      params: ById,
      body: PreviewRequest,
      response: { 200: MailPreview },
    }),
    async ({ caller, params: { emailTemplateId }, body }, reply) => {
      const { mail, row, template } = await services.queues.interactive.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        async () => {
          const changes = await prepare(caller, emailTemplateId, body.template)
          return asIfSaved(services, caller, changes, (db) =>
            renderPreview({ ...caller, db }, emailTemplateId, body, services.config.publicUrl),
          )
        },
      )
      const { subject, text, to, cc, bcc, emptyTokens } = mail
      const html = await showLogo(caller.db, caller.businessId, mail.html)
      const { from, replyTo } = senderOf(mail, row.context.business, services.config.mailFrom)
      return {
        emailTemplateId: template.emailTemplateId,
        language: template.language,
        subject,
        html,
        text,
        emptyTokens,
        to: to?.address ?? null,
        toName: to?.name || null,
        from: from.address,
        fromName: from.name,
        replyTo: replyTo?.address ?? null,
        cc: cc?.address ?? null,
        bcc: bcc?.address ?? null,
        attachments: template.attachments ?? [],
      }
    },
  )
}

const postCheck: Routes = async (app, services) => {
  app.post(
    '/emailTemplate/:emailTemplateId/check',
    operation(
      'checkEmailTemplate',
      'Check the sender and the tokens of a template, or of unsaved changes',
      {
        config: { scope: 'mail:write', function: 'EDIT_TEMPLATES' },
        tags,
        description:
          'Answers the warnings that saving would answer. Changes that could not be saved are 422.',
        params: ById,
        body: TemplateCheck,
        response: { 200: CheckedTemplate },
      },
    ),
    async ({ caller, params: { emailTemplateId }, body }, reply) => {
      const warnings = await services.queues.interactive.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        async () => {
          const { businessId } = caller
          const changes = await prepare(caller, emailTemplateId, body.template)
          return asIfSaved(services, caller, changes, async (db) => {
            const template = await findTemplate(db, { businessId, emailTemplateId })
            const removed = changes ? removedFrom(changes.html) : []
            return findTemplateWarnings(db, template!, services.config.mailFrom, removed)
          })
        },
      )
      return { warnings }
    },
  )
}

const getPreviewHtml: Routes = async (app, { config, queues }) => {
  app.get(
    '/emailTemplate/:emailTemplateId/preview/html',
    operation('getPreviewHtml', 'Preview the HTML of that email, for an iframe', {
      config: { scope: 'mail:read' },
      tags,
      params: ById,
      querystring: MailObject,
      response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
    }),
    async ({ caller, params: { emailTemplateId }, query }, reply) => {
      const { mail } = await queues.interactive.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => renderPreview(caller, emailTemplateId, query, config.publicUrl),
      )
      return sendFramed(reply, await showLogo(caller.db, caller.businessId, mail.html))
    },
  )
}

const postTest: Routes = async (app, services) => {
  app.post(
    '/emailTemplate/:emailTemplateId/test',
    operation('testEmailTemplate', 'Send that email to up to five addresses, marked as a test', {
      config: { scope: 'mail:write', idempotent: true },
      tags,
      params: ById,
      body: MailTest,
      response: { 201: SentTests },
    }),
    async (request, reply) => {
      const { caller, body } = request
      const { emailTemplateId } = request.params
      const addresses = body.to.map((address) => parseAddress(address))
      const faults = addresses.flatMap((address, i) =>
        address === undefined ? [{ pointer: `/to/${i}`, detail: 'must be one plain address' }] : [],
      )
      if (faults.length > 0) throw invalid(faults)
      // Unsaved changes are text of the caller's own, which only an author of templates may send.
      const lack = body.template && lackOf(caller, 'EDIT_TEMPLATES')
      if (lack) throw forbidden(lack)
      const changes = await prepare(caller, emailTemplateId, body.template)
      const now = services.clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const found = await asIfSaved(services, { ...caller, db: tx }, changes, (db) =>
          renderPreview({ ...caller, db }, emailTemplateId, body, services.config.publicUrl),
        )
        const about = { ...found.template, objectType: body.objectType }
        const to = [...new Set(addresses as string[])]
        const ids = await sendTests(tx, found, about, to, sendingOf(services, now))
        const sent = await listEmailsById(tx, caller.businessId, ids)
        return { status: 201, body: { items: sent } }
      })
    },
  )
}

type Unsaved = object | undefined
type About = { objectType: ObjectType; objectId: number | string }

/** A body to save and its checked HTML; undefined if there are no changes. */
type Prepared = { body: Record<string, unknown>; html: HtmlChecks } | undefined

/** Checks and renders HTML before the transaction starts, because that may take seconds. */
async function prepare(
  { db, businessId }: Caller,
  emailTemplateId: number,
  changes: Unsaved,
): Promise<Prepared> {
  const stored = await findTemplate(db, { businessId, emailTemplateId })
  if (!stored) throw notFound('email template', emailTemplateId)
  if (!changes) return undefined
  const body = { ...changes, emailTemplateId }
  return { body, html: await checkHtmlOf(TEMPLATE, [body], businessId) }
}

async function asIfSaved<T>(
  { clock, settings }: Services,
  { db, businessId, user, visibility }: Caller,
  prepared: Prepared,
  read: (tx: Db) => Promise<T>,
): Promise<T> {
  if (!prepared) return read(db)
  const saving = { businessId, user, now: clock.now(), settings, visibility, html: prepared.html }
  return runAndRollBack(db, async (tx) => {
    await saveObject(tx, TEMPLATE, prepared.body, saving).catch((error: unknown) => {
      throw error instanceof RequestError && error.errors
        ? invalid(error.errors.map((fault) => ({ ...fault, pointer: `/template${fault.pointer}` })))
        : error
    })
    return read(tx)
  })
}

const TEMPLATE = objectKind('emailTemplate')!

const exampleLinks = (publicUrl: string) => ({
  unsubscribe: `${publicUrl}/unsubscribe/…`,
  answer: `${publicUrl}/answer/…`,
  calendar: `${publicUrl}/addToCalendar/…`,
})

/** Renders a template for an object that the caller may see. */
async function renderPreview(
  { db, businessId, visibility }: Pick<Caller, 'db' | 'businessId' | 'visibility'>,
  emailTemplateId: number,
  about: About & { version?: 'this' | 'sent' },
  publicUrl: string,
) {
  const all = await listTemplates(db, [{ businessId, emailTemplateId }])
  const [named, ...variants] = all.get(emailTemplateId) ?? []
  if (!named) throw notFound('email template', emailTemplateId)

  const versions: [RenderedTemplate, ...RenderedTemplate[]] =
    about.version === 'sent' ? [named, ...variants] : [named]
  const isSeen = await canSee({ db, businessId, visibility }, about)
  const preview = isSeen && (await previewMail(db, versions, about, exampleLinks(publicUrl)))
  if (!preview) throw noObject(about, '/objectId')
  return preview
}

async function canSee(
  { db, businessId, visibility }: Pick<Caller, 'db' | 'businessId' | 'visibility'>,
  { objectType, objectId }: About,
) {
  const isOfKind = (typeof objectId === 'string') === (objectType === 'INVITATION')
  const kind = kindOfObjectType(objectType)
  return isOfKind && (await findObject(db, businessId, kind, objectId, visibility)) !== undefined
}

const noObject = ({ objectType, objectId }: About, pointer: string) =>
  invalid([{ pointer, detail: `there is no ${kindOfObjectType(objectType).title} ${objectId}` }])
