import { Type } from 'typebox'
import { changesOf, EVENT_TYPES, type ObjectType } from '../../contract/event-type.ts'
import { EventTypeInfo, type EventType } from '../../contract/event-type-info.ts'
import { listTokens, type TokenKind } from '../../email/tokens.ts'
import { listStatuses } from '../../store/statuses.ts'
import { operation, type Routes } from '../server/services.ts'

/** The event types, with the details that a person needs to choose one. */
export const eventTypes: Routes = async (app) => {
  app.get(
    '/eventType',
    operation(
      'listEventTypes',
      'List the 13 event types with meaning, anchor, changes, statuses and tokens',
      {
        config: { scope: 'definitions:read' },
        tags: ['event definition'],
        response: { 200: Type.Array(EventTypeInfo) },
      },
    ),
    async ({ caller }) => {
      const statuses = await listStatuses(caller.db, caller.businessId)
      return EVENT_TYPES.map((type) => ({
        ...type,
        description: MEANINGS[type.eventType],
        anchor: anchorOf(type),
        changes: type.eventType.endsWith('_CHANGED') ? changesOf(type.objectType) : [],
        statuses: statuses
          .filter((status) => status.objectType === type.objectType && status.active)
          .map(({ status }) => status),
        tokens: tokensOf(type.objectType),
      }))
    },
  )
}

const MEANINGS: Record<(typeof EVENT_TYPES)[number]['eventType'], string> = {
  APPT_CREATED: 'An appointment is saved for the first time.',
  APPT_CHANGED: 'The status, time, staff, service, location or client of an appointment changes.',
  APPT_REMINDER: 'A time before or after an appointment.',
  CLASS_SCHEDULE_CREATED: 'A class is saved for the first time.',
  CLASS_SCHEDULE_CHANGED:
    'The status, time, staff, service, location or students of a class change.',
  CLASS_SCHEDULE_REMINDER: 'A time before or after a class.',
  INVITE_CREATED: 'An invitation is saved for the first time.',
  INVITE_REMINDER: 'A time after an invitation is made, or before it expires.',
  INVITE_COMPLETED: 'The status of an invitation becomes COMPLETED.',
  RECALL: 'A time before or after a recall is due.',
  INVITE_CHANGED: 'The status, expiry or client of an invitation changes.',
  DISCLAIMER_CREATED: 'A disclaimer is saved for the first time.',
  DISCLAIMER_CHANGED: 'The status or client of a disclaimer changes.',
}

function anchorOf({ eventCategory, objectType }: EventType) {
  if (eventCategory === 'EVENT') return 'The time of the change.'
  if (objectType === 'RECALL') return 'dueTime of the recall.'
  if (objectType === 'INVITATION') {
    return 'createdDate of the invitation if the offset is 0 or positive; else its expiresTime, or that of its campaign.'
  }
  return 'startTime, or endTime if triggerAnchor is END.'
}

/** The tokens of this object type and those that every email can use. */
function tokensOf(objectType: ObjectType) {
  const others = Object.values(TOKEN_KIND_OF).filter((kind) => kind !== TOKEN_KIND_OF[objectType])
  return listTokens()
    .filter((group) => !others.includes(group.objectType))
    .flatMap((group) => group.tokens.map(({ token }) => token))
}

const TOKEN_KIND_OF: Record<ObjectType, TokenKind> = {
  CALENDAR: 'appointment',
  CLASS_SCHEDULE: 'class',
  INVITATION: 'invitation',
  RECALL: 'recall',
  DISCLAIMER: 'disclaimer',
}
