import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { EMAIL_STATUSES } from './email.ts'
import { ObjectNames } from './object-names.ts'
import { Moment, OrNull } from './schema.ts'

export const TRIGGER_STATUSES = [
  'SCHEDULED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'SKIPPED',
  'EXPIRED',
] as const
export type TriggerStatus = (typeof TRIGGER_STATUSES)[number]

/** A final state never changes again. */
export const isFinal = (status: TriggerStatus) => status !== 'SCHEDULED' && status !== 'RUNNING'

/** Spec 2.4, and why the status is what it is. */
export const EventTrigger = Type.Object({
  businessId: Type.Integer(),
  completedTime: OrNull(Moment),
  createdDate: Moment,
  createdUser: Type.String(),
  eventDefnId: Type.Integer(),
  eventTriggerId: Type.Integer(),
  modifiedDate: OrNull(Moment),
  modifiedUser: OrNull(Type.String()),
  objectId: OrNull(Type.Integer()),
  objectType: Type.Enum([...OBJECT_TYPES]),
  objectUUId: OrNull(Type.String()),
  scheduledTime: Moment,
  status: Type.Enum([...TRIGGER_STATUSES]),
  statusReason: OrNull(Type.String({ description: 'in words, for people' })),
})
export type EventTrigger = Static<typeof EventTrigger>

/** What `expand=names` adds: the words that people know a trigger by. */
export const NamedTrigger = Type.Object({
  ...EventTrigger.properties,
  description: Type.Optional(OrNull(Type.String({ description: 'Of its definition.' }))),
  ...ObjectNames,
  email: Type.Optional(
    OrNull(
      Type.Object(
        {
          emailId: Type.Integer(),
          to: Type.String(),
          subject: Type.String(),
          status: Type.Enum([...EMAIL_STATUSES]),
          attempts: Type.Integer({ description: 'How often it was tried.' }),
        },
        { description: 'Its first mail.' },
      ),
    ),
  ),
})
export type NamedTrigger = Static<typeof NamedTrigger>
