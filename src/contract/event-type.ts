/* Tables without imports, which the console loads too. */

/** The types of objects that have events. */
export const OBJECT_TYPES = [
  'CALENDAR',
  'CLASS_SCHEDULE',
  'INVITATION',
  'RECALL',
  'DISCLAIMER',
] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

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
] as const satisfies {
  eventTypeId: number
  eventType: string
  objectType: ObjectType
  eventCategory: 'EVENT' | 'REMINDER'
}[]

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
