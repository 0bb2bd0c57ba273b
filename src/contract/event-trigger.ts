import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
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
