import { Type } from 'typebox'
import { listTemplates } from '../automation/fire.ts'
import { previewMail } from '../automation/preview.ts'
import { OBJECT_TYPES } from '../contract/event-type.ts'
import { kindOfObjectType } from '../contract/objects.ts'
import { OrNull } from '../contract/schema.ts'
import { listTokens, TOKEN_KINDS } from '../email/tokens.ts'
import { invalid, notFound } from '../errors.ts'
import { findObject } from '../store/objects.ts'
import type { Routes } from './services.ts'

const tags = ['email template']
const ById = Type.Object({ emailTemplateId: Type.Integer({ minimum: 1 }) })

/** Beside the routes that every object has. */
export const emailTemplates: Routes = async (app, { config }) => {
  app.get(
    '/emailTemplate/token',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'Every %TOKEN% by what it speaks of, each with an example',
        response: { 200: Type.Array(Tokens) },
      },
    },
    async () => listTokens(),
  )

  app.post(
    '/emailTemplate/:emailTemplateId/preview',
    {
      config: { scope: 'mail:read' },
      schema: {
        tags,
        summary: 'The mail that a template makes of an object; nothing is sent',
        params: ById,
        body: Type.Object({
          objectType: Type.Enum([...OBJECT_TYPES]),
          objectId: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ maxLength: 100 })], {
            description: 'its id; of an invitation its UUID',
          }),
        }),
        response: { 200: Preview },
      },
    },
    async ({ caller, params: { emailTemplateId }, body }) => {
      const { db, businessId, scope } = caller
      const templates = await listTemplates(db, [{ businessId, emailTemplateId }])
      const template = templates.get(emailTemplateId)?.[0]
      if (!template) throw notFound('email template', emailTemplateId)

      const { objectType, objectId } = body
      const kind = kindOfObjectType(objectType)
      const isOfKind = (typeof objectId === 'string') === (objectType === 'INVITATION')
      const isSeen = isOfKind && (await findObject(db, businessId, kind, objectId, scope))
      const link = `${config.publicUrl}/unsubscribe/…`
      const preview = isSeen ? await previewMail(db, template, body, link) : undefined
      if (!preview) {
        throw invalid([{ pointer: '/objectId', detail: `there is no ${kind.title} ${objectId}` }])
      }
      const { subject, html, text, to, emptyTokens } = preview.mail
      return { subject, html, text, to: to?.address ?? null, emptyTokens }
    },
  )
}

const Tokens = Type.Object({
  objectType: Type.Enum([...TOKEN_KINDS]),
  tokens: Type.Array(
    Type.Object({
      token: Type.String({ examples: ['%CLIENT_FULLNAME%'] }),
      description: Type.String(),
      example: Type.String(),
    }),
  ),
})

const Preview = Type.Object({
  subject: Type.String(),
  html: Type.String(),
  text: Type.String(),
  to: OrNull(Type.String({ description: 'null where there is no address to write to' })),
  emptyTokens: Type.Array(Type.String(), { description: 'tokens that have no value here' }),
})
