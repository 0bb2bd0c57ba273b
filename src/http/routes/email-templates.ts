import { Type } from 'typebox'
import { findTemplate } from '../../automation/templates.ts'
import { previewMail } from '../../automation/preview.ts'
import { sendTests } from '../../automation/send-again.ts'
import type { Caller } from '../../auth/caller.ts'
import { parseAddress } from '../../contract/addresses.ts'
import {
  MailObject,
  MailPreview,
  MailTest,
  SentTests,
  TokenGroup,
} from '../../contract/email-template.ts'
import type { ObjectType } from '../../contract/event-type.ts'
import { kindOfObjectType } from '../../contract/objects.ts'
import { listTokens } from '../../email/tokens.ts'
import { invalid, notFound } from '../../errors.ts'
import { findObject } from '../../store/objects.ts'
import { listEmailsById } from '../../store/emails.ts'
import { abortOnDisconnect } from '../server/connections.ts'
import { sendFramed, sendingOf } from './emails.ts'
import { answerOnce } from '../server/idempotency.ts'
import type { Routes } from '../server/services.ts'

const tags = ['email template']
const ById = Type.Object({ emailTemplateId: Type.Integer({ minimum: 1 }) })

/** In addition to the routes of objects.ts, which every kind of object has. */
export const emailTemplates: Routes = async (app, services) => {
  for (const route of [getTokens, postPreview, getPreviewHtml, postTest]) {
    await app.register(route, services)
  }
}

const getTokens: Routes = async (app) => {
  app.get(
    '/emailTemplate/token',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'List all %TOKENS% by object type, each with an example',
        response: { 200: Type.Array(TokenGroup) },
      },
    },
    async () => listTokens(),
  )
}

const postPreview: Routes = async (app, { config, queues }) => {
  app.post(
    '/emailTemplate/:emailTemplateId/preview',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'Preview the email that a template makes for an object',
        description: 'Nothing is sent.',
        params: ById,
        body: MailObject,
        response: { 200: MailPreview },
      },
    },
    async ({ caller, params: { emailTemplateId }, body }, reply) => {
      const { mail, template } = await queues.interactive.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => renderPreview(caller, emailTemplateId, body, config.publicUrl),
      )
      const { subject, html, text, to, emptyTokens } = mail
      const attachments = template.attachments ?? []
      return { subject, html, text, to: to?.address ?? null, emptyTokens, attachments }
    },
  )
}

const getPreviewHtml: Routes = async (app, { config, queues }) => {
  app.get(
    '/emailTemplate/:emailTemplateId/preview/html',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'Preview the HTML of that email, for an iframe',
        params: ById,
        querystring: MailObject,
        response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
      },
    },
    async ({ caller, params: { emailTemplateId }, query }, reply) => {
      const { mail } = await queues.interactive.run(
        { businessId: caller.businessId, signal: abortOnDisconnect(reply) },
        () => renderPreview(caller, emailTemplateId, query, config.publicUrl),
      )
      return sendFramed(reply, mail.html)
    },
  )
}

const postTest: Routes = async (app, services) => {
  app.post(
    '/emailTemplate/:emailTemplateId/test',
    {
      config: { scope: 'mail:write', idempotent: true },
      schema: {
        tags,
        summary: 'Send that email to up to five addresses, marked as a test',
        params: ById,
        body: MailTest,
        response: { 201: SentTests },
      },
    },
    async (request, reply) => {
      const { caller, body } = request
      const { emailTemplateId } = request.params
      const addresses = body.to.map((address) => parseAddress(address))
      const faults = addresses.flatMap((address, i) =>
        address === undefined ? [{ pointer: `/to/${i}`, detail: 'must be one plain address' }] : [],
      )
      if (faults.length > 0) throw invalid(faults)
      // Compiles the template into its cache before the transaction starts.
      await findTemplate(caller.db, { businessId: caller.businessId, emailTemplateId })
      const now = services.clock.now()
      return answerOnce(caller.db, request, reply, now, async (tx) => {
        const found = await renderPreview(
          { ...caller, db: tx },
          emailTemplateId,
          body,
          services.config.publicUrl,
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

/** Renders a template for an object that the caller may see. */
async function renderPreview(
  { db, businessId, scope }: Pick<Caller, 'db' | 'businessId' | 'scope'>,
  emailTemplateId: number,
  about: { objectType: ObjectType; objectId: number | string },
  publicUrl: string,
) {
  const template = await findTemplate(db, { businessId, emailTemplateId })
  if (!template) throw notFound('email template', emailTemplateId)

  const { objectType, objectId } = about
  const kind = kindOfObjectType(objectType)
  const isOfKind = (typeof objectId === 'string') === (objectType === 'INVITATION')
  const isSeen = isOfKind && (await findObject(db, businessId, kind, objectId, scope))
  const links = { unsubscribe: `${publicUrl}/unsubscribe/…`, answer: `${publicUrl}/answer/…` }
  const preview = isSeen ? await previewMail(db, template, about, links) : undefined
  if (!preview) {
    throw invalid([{ pointer: '/objectId', detail: `there is no ${kind.title} ${objectId}` }])
  }
  return { ...preview, template }
}
