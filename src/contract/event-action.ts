import { Type, type Static } from 'typebox'
import type { Fault } from '../errors.ts'
import { isMissing, look, Reading, type Found, type Reference } from './body.ts'
import { findFaults } from './find-faults.ts'
import { interfaceNames } from './interface-names.ts'
import {
  about,
  Id,
  IdOrZero,
  Ignored,
  Maybe,
  Moment,
  Named,
  OrNull,
  serverOwned,
} from './schema.ts'

const RECIPIENT_LABELS = {
  client: 'Client',
  staff: 'Staff',
  business: 'Business',
  template: 'Address of the template',
}
export type RecipientValue = keyof typeof RECIPIENT_LABELS
export const RECIPIENTS = Object.keys(RECIPIENT_LABELS) as RecipientValue[]

/** Only the value is stored; answers add the label. */
export const labelled = (value: RecipientValue) => ({ label: RECIPIENT_LABELS[value], value })

/** Email is the only channel, so every answer has this value. */
export const EMAIL_MSG_TYPE = {
  eventTypeCodes: ['APPT', 'CLASS', 'INVITE', 'RECALL', 'DISCLAIMER'],
  label: 'Email',
  value: 'email',
} as const

/** An action of a definition: the template that is sent, and to whom. */
export const EventAction = Named('EventAction', {
  actionType: Type.Enum(['SEND_EMAIL'], { title: 'ActionType' }),
  active: Type.Boolean(),
  businessId: Type.Integer(),
  createdDate: Moment,
  createdUser: Type.String(),
  emailCategoryId: OrNull(Type.Integer()),
  emailTemplateId: Type.Integer(),
  eventActionId: Type.Integer(),
  eventDefnId: Type.Integer(),
  modifiedDate: OrNull(Moment),
  modifiedUser: OrNull(Type.String()),
  recipient: Named('RecipientChoice', {
    label: Type.String(),
    value: Type.Enum([...RECIPIENTS], { title: 'Recipient' }),
  }),
  msgType: Named('MessageType', {
    eventTypeCodes: about(
      Type.Array(Type.String()),
      'The groups of event types that it applies to.',
      ['APPT'],
    ),
    label: about(Type.String(), 'The name to show.', 'Email'),
    value: about(Type.Enum(['email'], { title: 'Channel' }), 'The channel.'),
  }),
})
export type EventAction = Static<typeof EventAction>

/** The properties that a body may have. `readAction` reads the values. */
export const EventActionBody = Named('EventActionBody', {
  ...interfaceNames,
  ...serverOwned,
  eventActionId: Maybe(IdOrZero('The action to update; absent or 0: a new one.')),
  eventDefnId: Maybe(IdOrZero('The definition that it belongs to.')),
  eventDefinitionId: Maybe(IdOrZero('The same as eventDefnId.')),
  actionType: Maybe(Type.Enum(['SEND_EMAIL'], { title: 'ActionType' })),
  active: Maybe(Type.Boolean()),
  businessId: Maybe(Id),
  emailTemplateId: Maybe(Id),
  emailCategoryId: Maybe(Id),
  recipient: Maybe(
    Named(
      'RecipientBody',
      {
        label: Ignored,
        eventTypeCodes: Ignored,
        value: Maybe(Type.Enum([...RECIPIENTS], { title: 'Recipient' })),
      },
      { value: 'client' },
    ),
  ),
  msgType: Maybe(
    Named(
      'MessageTypeBody',
      {
        eventTypeCodes: Ignored,
        label: Ignored,
        value: about(Maybe(Type.Enum(['email'], { title: 'Channel' })), 'The channel.'),
      },
      { value: 'email' },
    ),
  ),
  template: Maybe(
    Type.Object(
      { emailTemplateId: Maybe(Id) },
      {
        title: 'TemplateReference',
        additionalProperties: true,
        description: 'Its id is used if emailTemplateId is absent; the rest is ignored.',
      },
    ),
  ),
  categoryForLookup: Ignored,
  noTemplatesInCategory: Ignored,
  templateOptions: Ignored,
})

/** An action inside a definition belongs to that definition. Its own link is ignored. */
export const NestedActionBody = Named('NestedEventActionBody', {
  ...EventActionBody.properties,
  eventDefnId: Ignored,
  eventDefinitionId: Ignored,
})

/** The values of a body. `undefined`: unchanged; `null`: cleared. */
export type ActionInput = {
  eventActionId?: number | undefined
  /** Not set for an action inside a definition: it belongs to that definition. */
  eventDefnId?: number | undefined
  active?: boolean | undefined
  /** Absent only in updates, like the template. */
  businessId?: number | undefined
  emailTemplateId?: number | undefined
  emailCategoryId?: number | null | undefined
  /** `null`: the address of the template, else the client. */
  recipient?: RecipientValue | null | undefined
}

/** Reads the body of `POST /eventAction`. The action is valid only if there are no faults. */
export function readAction(body: unknown): ActionReading {
  const reading = new Reading(findFaults(EventActionBody, body))
  const action = readActionAt(reading, { value: body, pointer: '' }, { linked: true })
  return { action, faults: reading.faults, references: reading.references }
}
type ActionReading = { action: ActionInput; faults: Fault[]; references: Reference[] }

/** Reads one action. If `linked`, it must name its definition. */
export function readActionAt(
  reading: Reading,
  found: Found,
  { linked }: { linked: boolean },
): ActionInput {
  const place = reading.object(found)
  if (!place) return {}
  const find = (name: string) => look(place, name)

  const actionType = find('actionType')
  const active = find('active')
  const businessId = find('businessId')
  const eventActionId = withoutZero(find('eventActionId'))
  const emailCategoryId = find('emailCategoryId')
  const ownTemplateId = find('emailTemplateId')
  const idOfTemplate = reading.inside(find('template'), 'emailTemplateId')
  const emailTemplateId =
    isMissing(ownTemplateId.value) && !isMissing(idOfTemplate.value) ? idOfTemplate : ownTemplateId
  const eventDefnId = linked ? findLink(reading, find) : find('eventDefnId')

  if (isMissing(eventActionId.value)) {
    reading.require(active, 'send true to activate it')
    reading.require(actionType, 'SEND_EMAIL')
    reading.require(businessId, 'the id of your business')
    reading.require(emailTemplateId, 'the template of the email')
    if (linked) reading.require(eventDefnId, 'the definition that the action belongs to')
  }

  const action: ActionInput = {
    eventActionId: reading.id(eventActionId) ?? undefined,
    eventDefnId: linked ? (reading.id(eventDefnId) ?? undefined) : undefined,
    active: reading.boolean(active) ?? undefined,
    businessId: reading.id(businessId) ?? undefined,
    emailTemplateId: reading.id(emailTemplateId) ?? undefined,
    emailCategoryId: reading.id(emailCategoryId),
    recipient: reading.oneOf(reading.inside(find('recipient'), 'value'), RECIPIENTS),
  }
  reading.refer('business', action.businessId, businessId.pointer)
  reading.refer('emailTemplate', action.emailTemplateId, emailTemplateId.pointer)
  reading.refer('emailCategory', action.emailCategoryId, emailCategoryId.pointer)
  if (linked) reading.refer('eventDefinition', action.eventDefnId, eventDefnId.pointer)
  else reading.refer('eventAction', action.eventActionId, eventActionId.pointer)
  return action
}

/** The id of the definition has two names. 0 counts as absent. */
const findLink = (reading: Reading, find: (name: string) => Found) =>
  reading.firstGiven(withoutZero(find('eventDefnId')), withoutZero(find('eventDefinitionId')))

const withoutZero = (found: Found): Found =>
  found.value === 0 ? { ...found, value: undefined } : found
