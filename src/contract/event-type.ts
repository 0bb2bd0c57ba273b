import { Type, type Static } from 'typebox'

/** The types of objects that have events. */
export const OBJECT_TYPES = [
  'CALENDAR',
  'CLASS_SCHEDULE',
  'INVITATION',
  'RECALL',
  'DISCLAIMER',
] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

/** See docs/automations.md. */
export const EventType = Type.Object(
  {
    eventTypeId: Type.Integer(),
    eventType: Type.String(),
    objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
    eventCategory: Type.Enum(['EVENT', 'REMINDER'], { title: 'EventCategory' }),
  },
  { title: 'EventType' },
)
export type EventType = Static<typeof EventType>

export const EVENT_TYPES = [
  { eventTypeId: 1, eventType: 'APPT_CREATED', objectType: 'CALENDAR', eventCategory: 'EVENT' },
  { eventTypeId: 2, eventType: 'APPT_CHANGED', objectType: 'CALENDAR', eventCategory: 'EVENT' },
  { eventTypeId: 3, eventType: 'APPT_REMINDER', objectType: 'CALENDAR', eventCategory: 'REMINDER' },
  {
    eventTypeId: 4,
    eventType: 'CLASS_SCHEDULE_CREATED',
    objectType: 'CLASS_SCHEDULE',
    eventCategory: 'EVENT',
  },
  {
    eventTypeId: 5,
    eventType: 'CLASS_SCHEDULE_CHANGED',
    objectType: 'CLASS_SCHEDULE',
    eventCategory: 'EVENT',
  },
  {
    eventTypeId: 6,
    eventType: 'CLASS_SCHEDULE_REMINDER',
    objectType: 'CLASS_SCHEDULE',
    eventCategory: 'REMINDER',
  },
  { eventTypeId: 7, eventType: 'INVITE_CREATED', objectType: 'INVITATION', eventCategory: 'EVENT' },
  {
    eventTypeId: 8,
    eventType: 'INVITE_REMINDER',
    objectType: 'INVITATION',
    eventCategory: 'REMINDER',
  },
  {
    eventTypeId: 9,
    eventType: 'INVITE_COMPLETED',
    objectType: 'INVITATION',
    eventCategory: 'EVENT',
  },
  { eventTypeId: 10, eventType: 'RECALL', objectType: 'RECALL', eventCategory: 'REMINDER' },
  {
    eventTypeId: 11,
    eventType: 'INVITE_CHANGED',
    objectType: 'INVITATION',
    eventCategory: 'EVENT',
  },
  {
    eventTypeId: 12,
    eventType: 'DISCLAIMER_CREATED',
    objectType: 'DISCLAIMER',
    eventCategory: 'EVENT',
  },
  {
    eventTypeId: 13,
    eventType: 'DISCLAIMER_CHANGED',
    objectType: 'DISCLAIMER',
    eventCategory: 'EVENT',
  },
] as const satisfies EventType[]

export type EventTypeName = (typeof EVENT_TYPES)[number]['eventType']

/** The values of `changes` of a definition. */
export const CHANGES = [
  'TIME',
  'STAFF',
  'LOCATION',
  'SERVICE',
  'CLIENT',
  'STATUS',
  'STUDENTS',
  'EXPIRY',
  'ANSWER',
] as const
export type WatchedChange = (typeof CHANGES)[number]

/**
 * The properties whose change fires a `…_CHANGED` event, each with its value in `changes`. ANSWER, an
 * answer of a client by a link, is told only to definitions that ask for it: see src/automation/match.ts.
 */
export const WATCHED: Record<ObjectType, Record<string, WatchedChange>> = {
  CALENDAR: {
    status: 'STATUS',
    startTime: 'TIME',
    endTime: 'TIME',
    professionalId: 'STAFF',
    reasonId: 'SERVICE',
    locationId: 'LOCATION',
    clientId: 'CLIENT',
    answeredTime: 'ANSWER',
  },
  CLASS_SCHEDULE: {
    status: 'STATUS',
    startTime: 'TIME',
    endTime: 'TIME',
    professionalId: 'STAFF',
    reasonId: 'SERVICE',
    locationId: 'LOCATION',
    clientIdList: 'STUDENTS',
    answers: 'ANSWER',
  },
  INVITATION: { status: 'STATUS', expiresTime: 'EXPIRY', clientId: 'CLIENT' },
  RECALL: {},
  DISCLAIMER: { status: 'STATUS', clientId: 'CLIENT' },
}

export const changesOf = (objectType: ObjectType): WatchedChange[] => [
  ...new Set(Object.values(WATCHED[objectType])),
]

const byId = new Map<number, (typeof EVENT_TYPES)[number]>(
  EVENT_TYPES.map((type) => [type.eventTypeId, type]),
)

export const eventTypeById = (eventTypeId: number) => byId.get(eventTypeId)

/** An event type with the details that a person needs to choose one. */
export const EventTypeInfo = Type.Object(
  {
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
  },
  { title: 'EventTypeInfo' },
)
export type EventTypeInfo = Static<typeof EventTypeInfo>
