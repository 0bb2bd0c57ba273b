import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { Attachment } from './file-library.ts'
import { ObjectNames } from './object-names.ts'
import { Moment, Named, OrNull } from './schema.ts'

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
export const Email = Type.Object(
  {
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
    test: Type.Boolean(),
    messageId: Type.String(),
    createdDate: Moment,
    sentTime: OrNull(Moment),
    attempts: Type.Array(
      Named('DeliveryAttempt', { time: Moment, phase: Type.String(), reply: Type.String() }),
    ),
  },
  { title: 'Email' },
)
export type Email = Static<typeof Email>

const { clientId: _clientId, ...namesOfObject } = ObjectNames

/** With the names that `expand=names` adds. */
export const NamedEmail = Type.Object(
  {
    ...Email.properties,
    ...namesOfObject,
    templateName: Type.Optional(OrNull(Type.String())),
  },
  { title: 'NamedEmail' },
)

/** With the content, as long as it is stored. */
export const WholeEmail = Type.Object(
  {
    ...Email.properties,
    html: OrNull(Type.String()),
    text: OrNull(Type.String()),
    attachments: Type.Array(Attachment, {
      description: 'The attached files of the library. A calendar file is not listed.',
    }),
  },
  { title: 'EmailWithContent' },
)

export const SUPPRESSION_REASONS = ['UNSUBSCRIBED', 'BOUNCED', 'COMPLAINED'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** An address that the business no longer sends email to. */
export const Suppression = Type.Object(
  {
    businessId: Type.Integer(),
    emailAddress: Type.String(),
    reason: Type.Enum([...SUPPRESSION_REASONS], { title: 'SuppressionReason' }),
    detail: OrNull(Type.String()),
    createdDate: Moment,
    createdUser: Type.String(),
  },
  { title: 'Suppression' },
)
