import type { EventTypeName, ObjectType } from '../contract/event-type.ts'

type Causes = { created?: EventTypeName; changed?: EventTypeName }

/** The event that each kind of object causes when it is first saved, and when it changes. */
export const CAUSES: Record<ObjectType, Causes> = {
  CALENDAR: { created: 'APPT_CREATED', changed: 'APPT_CHANGED' },
  CLASS_SCHEDULE: { created: 'CLASS_SCHEDULE_CREATED', changed: 'CLASS_SCHEDULE_CHANGED' },
  INVITATION: { created: 'INVITE_CREATED', changed: 'INVITE_CHANGED' },
  RECALL: {},
  DISCLAIMER: { created: 'DISCLAIMER_CREATED', changed: 'DISCLAIMER_CHANGED' },
}
