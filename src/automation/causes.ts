import type { EventTypeName, ObjectType } from '../contract/event-type.ts'

type Causes = { created?: EventTypeName; changed?: EventTypeName; watched: string[] }

/** What each kind of object causes when it is first saved, and when one of these changes. */
export const CAUSES: Record<ObjectType, Causes> = {
  CALENDAR: {
    created: 'APPT_CREATED',
    changed: 'APPT_CHANGED',
    watched: [
      'status',
      'startTime',
      'endTime',
      'professionalId',
      'reasonId',
      'locationId',
      'clientId',
    ],
  },
  CLASS_SCHEDULE: {
    created: 'CLASS_SCHEDULE_CREATED',
    changed: 'CLASS_SCHEDULE_CHANGED',
    watched: [
      'status',
      'startTime',
      'endTime',
      'professionalId',
      'reasonId',
      'locationId',
      'clientIdList',
    ],
  },
  INVITATION: {
    created: 'INVITE_CREATED',
    changed: 'INVITE_CHANGED',
    watched: ['status', 'expiresTime', 'clientId'],
  },
  RECALL: { watched: [] },
  DISCLAIMER: {
    created: 'DISCLAIMER_CREATED',
    changed: 'DISCLAIMER_CHANGED',
    watched: ['status', 'clientId'],
  },
}
