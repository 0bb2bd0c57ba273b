import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { address, schemaOf, text } from './fields.ts'
import { Attachment } from './file-library.ts'
import { ObjectNames } from './object-names.ts'
import { Reasons } from './reasons.ts'
import { about, Id, IdWith, Maybe, Moment, Named, OrNull, ServerOwned } from './schema.ts'

export const EMAIL_STATUSES = [
  'QUEUED',
  'SENDING',
  'SENT',
  'CAPTURED',
  'RETRYING',
  'FAILED',
  'SUPPRESSED',
  'UNCERTAIN',
  'CANCELLED',
] as const
export type EmailStatus = (typeof EMAIL_STATUSES)[number]

/** One email to one recipient, with its delivery status. */
export const Email = Named('Email', {
  emailId: Type.Integer(),
  businessId: Type.Integer(),
  eventTriggerId: OrNull(
    Type.Integer({ description: 'Null for tests and for emails that were sent again.' }),
  ),
  eventActionId: OrNull(Type.Integer()),
  emailTemplateId: OrNull(Type.Integer()),
  objectType: OrNull(Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' })),
  objectId: OrNull(Type.Integer()),
  objectUUId: OrNull(Type.String()),
  clientId: OrNull(Type.Integer()),
  repeatsEmailId: OrNull(
    Type.Integer({ description: 'The first email that this one repeats, if it was sent again.' }),
  ),
  to: Type.String(),
  subject: Type.String(),
  status: Type.Enum([...EMAIL_STATUSES], { title: 'EmailStatus' }),
  statusReason: OrNull(
    Type.String({
      description: 'Why it has this status; the reply of the mail server if there is one.',
    }),
  ),
  statusReasons: Reasons,
  test: Type.Boolean(),
  messageId: Type.String(),
  createdDate: Moment,
  sentTime: OrNull(Moment),
  attempts: Type.Array(
    Named('DeliveryAttempt', {
      time: Moment,
      phase: about(Type.String(), 'The SMTP command that was answered.', 'DATA'),
      reply: about(Type.String(), 'The reply of the mail server.', '250 2.0.0 Ok: queued'),
    }),
  ),
})
export type Email = Static<typeof Email>

const { clientId: _clientId, ...namesOfObject } = ObjectNames

/** With the names that `expand=names` adds. */
export const NamedEmail = Named('NamedEmail', {
  ...Email.properties,
  ...namesOfObject,
  templateName: Type.Optional(OrNull(Type.String())),
})

/** With the content, as long as it is stored. */
export const WholeEmail = Named('EmailWithContent', {
  ...Email.properties,
  html: about(
    OrNull(Type.String()),
    'The HTML part; null if it is no longer stored.',
    '<p>Dear Anna Müller …</p>',
  ),
  text: about(
    OrNull(Type.String()),
    'The text part; null if it is no longer stored.',
    'Dear Anna Müller …',
  ),
  attachments: Type.Array(Attachment, {
    description: 'The attached files of the library. A calendar file is not listed.',
  }),
})

export const SUPPRESSION_REASONS = ['UNSUBSCRIBED', 'BOUNCED', 'COMPLAINED'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** An address that the business no longer sends email to. */
export const Suppression = Named('Suppression', {
  businessId: Type.Integer(),
  emailAddress: Type.String(),
  reason: Type.Enum([...SUPPRESSION_REASONS], { title: 'SuppressionReason' }),
  detail: about(OrNull(Type.String()), 'Details, for people.', 'mailbox does not exist'),
  emailCategoryId: about(
    OrNull(Type.Integer()),
    'The reader unsubscribed from mails of this category only. `null`: from all that are not transactional.',
  ),
  createdDate: Moment,
  createdUser: Type.String(),
})
export type Suppression = Static<typeof Suppression>

export const SuppressionBody = Named(
  'SuppressionBody',
  {
    emailAddress: schemaOf(address(), 'The address to suppress.'),
    reason: Maybe(
      Type.Enum([...SUPPRESSION_REASONS], {
        title: 'SuppressionReason',
        default: 'UNSUBSCRIBED',
        description: 'UNSUBSCRIBED addresses still get transactional email.',
      }),
    ),
    detail: Maybe(schemaOf(text(2_000), 'Details, for people.', 'asked by phone')),
    emailCategoryId: Maybe(
      IdWith({ description: 'Only mails of this category. Only with the reason UNSUBSCRIBED.' }),
    ),
    businessId: Maybe(Id),
    createdDate: ServerOwned,
    createdUser: ServerOwned,
  },
  { emailAddress: 'anna@example.com', detail: 'asked by phone' },
)
