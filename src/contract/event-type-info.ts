import { Type, type Static } from 'typebox'
import { CHANGES, OBJECT_TYPES } from './event-type.ts'
import { Named } from './schema.ts'

/** See docs/automations.md. */
export const EventType = Named('EventType', {
  eventTypeId: Type.Integer(),
  eventType: Type.String(),
  objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
  eventCategory: Type.Enum(['EVENT', 'REMINDER'], { title: 'EventCategory' }),
})
export type EventType = Static<typeof EventType>

/** An event type with the details that a person needs to choose one. */
export const EventTypeInfo = Named('EventTypeInfo', {
  ...EventType.properties,
  description: Type.String({
    examples: ['An appointment is saved for the first time.'],
    description: 'When the event happens.',
  }),
  anchor: Type.String({
    examples: ['The time of the change.'],
    description: 'The time from which the offset of a definition counts.',
  }),
  changes: Type.Array(Type.Enum([...CHANGES], { title: 'WatchedChange' }), {
    description: 'For the CHANGED types: the values that `changes` of a definition can hold.',
  }),
  statuses: Type.Array(Type.String(), {
    examples: [['OPEN', 'CONFIRMED', 'CANCELLED']],
    description: 'The statuses of the object type in this business.',
  }),
  tokens: Type.Array(Type.String(), {
    examples: [['%CLIENT_FULLNAME%', '%APPT_DATE%']],
    description: 'The tokens that a template for this type can use.',
  }),
})
export type EventTypeInfo = Static<typeof EventTypeInfo>
