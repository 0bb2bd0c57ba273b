import { Type, type Static } from 'typebox'
import { Email } from './email.ts'
import { OBJECT_TYPES } from './event-type.ts'
import { Attachment } from './file-library.ts'
import { about, Named, OrNull } from './schema.ts'

/** The subjects of tokens, in the order in which they are listed. */
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
const mailObject = {
  objectType: Type.Enum([...OBJECT_TYPES], {
    title: 'ObjectType',
    description: 'The type of the object.',
  }),
  objectId: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ maxLength: 100 })], {
    description: 'Its id; the UUID of an invitation.',
    examples: [4711],
  }),
}

/** Templates with the same name are versions of one mail. */
const version = {
  version: Type.Optional(
    Type.Enum(['this', 'sent'], {
      title: 'PreviewVersion',
      default: 'this',
      description:
        '`sent`: the version that the client gets, of the active templates with the same name: by language, service and location.',
    }),
  ),
}

export const MailObject = Named(
  'MailObject',
  { ...mailObject, ...version },
  { objectType: 'CALENDAR', objectId: 4711 },
)

/** The properties of a template that is not saved yet. `saveObject` checks them. */
const unsaved = {
  template: Type.Optional(
    Type.Object(
      {},
      {
        title: 'UnsavedEmailTemplate',
        additionalProperties: true,
        description:
          'Changes that are not saved: the body of `POST /emailTemplate`. The mail is made as if they were saved; absent properties are those of the stored template.',
        examples: [{ subject: 'See you on %APPT_DATE%' }],
      },
    ),
  ),
}

export const PreviewRequest = Named(
  'PreviewRequest',
  { ...mailObject, ...version, ...unsaved },
  { objectType: 'CALENDAR', objectId: 4711 },
)

export const TemplateCheck = Named('TemplateCheck', unsaved, {
  template: { subject: 'See you on %APPT_DATE%' },
})

/** With both `objectType` and `objectId`, tokens are listed with their values. One alone is refused. */
export const TokenQuery = Type.Object({
  objectType: Type.Optional(mailObject.objectType),
  objectId: Type.Optional(mailObject.objectId),
  language: Type.Optional(
    Type.String({
      maxLength: 35,
      description: 'The language of the template; used if the client has none.',
    }),
  ),
})

export const MailTest = Named(
  'MailTest',
  {
    ...mailObject,
    ...unsaved,
    to: Type.Array(Type.String({ maxLength: 254, examples: ['anna@praxis.example'] }), {
      minItems: 1,
      maxItems: 5,
      description: 'Where the test goes.',
    }),
  },
  { objectType: 'CALENDAR', objectId: 4711, to: ['anna@praxis.example'] },
)

export const SentTests = Named('SentTests', {
  items: Type.Array(Email, { description: 'The mails that were queued.' }),
})

const Token = Named('Token', {
  token: about(Type.String(), 'As it is written in a template.', '%CLIENT_FULLNAME%'),
  description: about(Type.String(), 'What it becomes.', 'The first and last name of the client'),
  example: Type.String({ description: 'Such as a mail shows it.', examples: ['Anna Müller'] }),
  value: Type.Optional(
    OrNull(
      Type.String({
        description:
          'The first 200 characters of its value for the object that was asked for; null if it is empty. Absent if no object was asked for.',
        examples: ['Zoë Meier'],
      }),
    ),
  ),
})

export const TokenGroup = Named('TokenGroup', {
  objectType: Type.Enum([...TOKEN_KINDS], {
    title: 'TokenSubject',
    description: 'What the tokens are about.',
  }),
  tokens: Type.Array(Token, { description: 'Every token about it.' }),
})

export const MailPreview = Named('MailPreview', {
  emailTemplateId: Type.Integer({
    description: 'The template that the mail was made from.',
    examples: [12],
  }),
  language: OrNull(about(Type.String(), 'The language of the template; null: any.', 'de')),
  subject: Type.String({
    description: 'The subject, with its tokens filled in.',
    examples: ['See you on 14 January'],
  }),
  html: about(Type.String(), 'The HTML part.', '<p>Dear Anna Müller, see you at 10:00.</p>'),
  text: about(Type.String(), 'The text part.', 'Dear Anna Müller, see you at 10:00.'),
  to: OrNull(
    about(Type.String(), 'The address of the reader; null if there is none.', 'anna@example.com'),
  ),
  toName: OrNull(
    about(Type.String(), 'The name of the reader; null if there is none.', 'Anna Müller'),
  ),
  from: about(Type.String(), 'The address of the sender.', 'hello@praxis.example'),
  fromName: about(Type.String(), 'The name of the sender.', 'Praxis am See'),
  replyTo: OrNull(
    about(Type.String(), 'Where an answer goes; null if to the sender.', 'hello@praxis.example'),
  ),
  cc: OrNull(
    Type.String({
      description: 'The address that gets a copy, shown to the reader.',
      examples: ['desk@praxis.example'],
    }),
  ),
  bcc: OrNull(
    Type.String({
      description: 'The address that gets a copy, not shown to the reader.',
      examples: ['archive@praxis.example'],
    }),
  ),
  emptyTokens: Type.Array(Type.String(), {
    description: 'Tokens that have no value here.',
    examples: [['%CLIENT_PHONE%']],
  }),
  attachments: Type.Array(Attachment, {
    description: 'The attached files of the library. A calendar file is not listed.',
  }),
})
export type MailPreview = Static<typeof MailPreview>

export const TemplateWarnings = Type.Array(
  Named('TemplateWarning', {
    property: Type.Optional(
      Type.String({
        description: 'The property that a warning about the sender or the HTML is about.',
        examples: ['fromAddress'],
      }),
    ),
    detail: Type.Optional(
      Type.String({
        description:
          'What is wrong with the sender and what to do, or what was removed from the HTML.',
        examples: [
          'The DNS records of praxis.example are not checked yet. Publish the DNS records that GET /senderDomain/praxis.example lists.',
        ],
      }),
    ),
    token: Type.Optional(
      about(Type.String(), 'The token that a warning about a token is about.', '%CLIENT_PHONE%'),
    ),
    objects: Type.Optional(
      about(Type.Integer(), 'In how many of the checked objects it is empty.', 12),
    ),
    of: Type.Optional(
      Type.Integer({ examples: [50], description: 'How many recent objects were checked.' }),
    ),
    example: about(
      Type.Optional(
        Named('WarnedObject', {
          objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
          objectId: Type.Union([Type.Integer(), Type.String()], { examples: [4711] }),
        }),
      ),
      'One of these objects.',
    ),
  }),
  {
    description:
      'HTML that was removed, a sender that receivers may not trust, and tokens that have no value in some of the most recent objects.',
  },
)

export const CheckedTemplate = Named('CheckedEmailTemplate', { warnings: TemplateWarnings })
export type CheckedTemplate = Static<typeof CheckedTemplate>
