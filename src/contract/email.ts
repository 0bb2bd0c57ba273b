import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
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

/** One mail to one recipient, and what became of it. */
export const Email = Type.Object(
  {
    emailId: Type.Integer(),
    businessId: Type.Integer(),
    eventTriggerId: OrNull(Type.Integer({ description: 'null for tests and mails sent again' })),
    eventActionId: OrNull(Type.Integer()),
    emailTemplateId: OrNull(Type.Integer()),
    objectType: OrNull(Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' })),
    objectId: OrNull(Type.Integer()),
    objectUUId: OrNull(Type.String()),
    clientId: OrNull(Type.Integer()),
    to: Type.String(),
    subject: Type.String(),
    status: Type.Enum([...EMAIL_STATUSES], { title: 'EmailStatus' }),
    statusReason: OrNull(
      Type.String({ description: 'in words, the mail server’s where it spoke' }),
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

/** What `expand=names` adds: the words that people know a mail by. */
export const NamedEmail = Type.Object(
  {
    ...Email.properties,
    ...namesOfObject,
    templateName: Type.Optional(OrNull(Type.String())),
  },
  { title: 'NamedEmail' },
)

/** One alone also as rendered, while that is kept. */
export const WholeEmail = Type.Object(
  {
    ...Email.properties,
    html: OrNull(Type.String()),
    text: OrNull(Type.String()),
  },
  { title: 'EmailWithContent' },
)

/** An address that the business no longer writes to. */
export const Suppression = Type.Object(
  {
    businessId: Type.Integer(),
    emailAddress: Type.String(),
    reason: Type.Enum(['UNSUBSCRIBED', 'BOUNCED'], { title: 'SuppressionReason' }),
    detail: OrNull(Type.String()),
    createdDate: Moment,
    createdUser: Type.String(),
  },
  { title: 'Suppression' },
)
