import { Type, type Static } from 'typebox'
import { Email } from './email.ts'
import { OBJECT_TYPES } from './event-type.ts'
import { Attachment } from './file-library.ts'
import { OrNull } from './schema.ts'

/** What tokens speak of, in the order in which they are listed. */
export const TOKEN_KINDS = [
  'business',
  'location',
  'staff',
  'client',
  'service',
  'appointment',
  'class',
  'invitation',
  'recall',
  'disclaimer',
  'unsubscribe',
] as const

/** The object that a mail is made about. */
const about = {
  objectType: Type.Enum([...OBJECT_TYPES], {
    title: 'ObjectType',
    description: 'The type of the object.',
  }),
  objectId: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ maxLength: 100 })], {
    description: 'Its id; the UUID of an invitation.',
    examples: [4711],
  }),
}

export const MailObject = Type.Object(about, {
  title: 'MailObject',
  examples: [{ objectType: 'CALENDAR', objectId: 4711 }],
})

export const MailTest = Type.Object(
  {
    ...about,
    to: Type.Array(Type.String({ maxLength: 254, examples: ['anna@praxis.example'] }), {
      minItems: 1,
      maxItems: 5,
      description: 'Where the test goes.',
    }),
  },
  {
    title: 'MailTest',
    examples: [{ objectType: 'CALENDAR', objectId: 4711, to: ['anna@praxis.example'] }],
  },
)

export const SentTests = Type.Object(
  { items: Type.Array(Email, { description: 'The mails that were queued.' }) },
  { title: 'SentTests' },
)

const Token = Type.Object(
  {
    token: Type.String({
      description: 'As it is written in a template.',
      examples: ['%CLIENT_FULLNAME%'],
    }),
    description: Type.String({
      description: 'What it becomes.',
      examples: ['The first and last name of the client'],
    }),
    example: Type.String({ description: 'Such as a mail shows it.', examples: ['Anna Müller'] }),
  },
  { title: 'Token' },
)

export const TokenGroup = Type.Object(
  {
    objectType: Type.Enum([...TOKEN_KINDS], {
      title: 'TokenSubject',
      description: 'What the tokens speak of.',
    }),
    tokens: Type.Array(Token, { description: 'Every token about it.' }),
  },
  { title: 'TokenGroup' },
)

export const MailPreview = Type.Object(
  {
    subject: Type.String({
      description: 'The subject, with its tokens filled in.',
      examples: ['See you on 14 January'],
    }),
    html: Type.String({
      description: 'The HTML part.',
      examples: ['<p>Dear Anna Müller, see you at 10:00.</p>'],
    }),
    text: Type.String({
      description: 'The text part.',
      examples: ['Dear Anna Müller, see you at 10:00.'],
    }),
    to: OrNull(
      Type.String({
        description: 'The address of the reader; null if there is none.',
        examples: ['anna@example.com'],
      }),
    ),
    emptyTokens: Type.Array(Type.String(), {
      description: 'Tokens that have no value here.',
      examples: [['%CLIENT_PHONE%']],
    }),
    attachments: Type.Array(Attachment, {
      description: 'The attached files of the library. A calendar file is not listed.',
    }),
  },
  { title: 'MailPreview' },
)
export type MailPreview = Static<typeof MailPreview>
