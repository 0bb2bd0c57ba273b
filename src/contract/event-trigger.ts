import { Type, type Static } from 'typebox'
import { Check } from './check.ts'
import { RECIPIENTS } from './event-action.ts'
import { OBJECT_TYPES } from './event-type.ts'
import { Email, EMAIL_STATUSES } from './email.ts'
import { ObjectNames } from './object-names.ts'
import { Reasons } from './reasons.ts'
import { about, Moment, Named, OrNull } from './schema.ts'

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

/** A trigger in a final state never changes again. */
export const isFinal = (status: TriggerStatus) => status !== 'SCHEDULED' && status !== 'RUNNING'

/** One firing of a definition, pending or finished: see docs/triggers.md. */
export const EventTrigger = Named('EventTrigger', {
  businessId: Type.Integer(),
  completedTime: OrNull(Moment),
  createdDate: Moment,
  createdUser: Type.String(),
  eventDefnId: Type.Integer(),
  eventTriggerId: Type.Integer(),
  modifiedDate: OrNull(Moment),
  modifiedUser: OrNull(Type.String()),
  objectId: OrNull(Type.Integer()),
  objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
  objectUUId: OrNull(Type.String()),
  scheduledTime: Moment,
  status: Type.Enum([...TRIGGER_STATUSES], { title: 'TriggerStatus' }),
  statusReason: OrNull(Type.String({ description: 'Why it has this status, as text.' })),
  statusReasons: Reasons,
  approvalId: OrNull(
    Type.Integer({ description: 'The approval that it waits for: see `GET /approval`.' }),
  ),
})
export type EventTrigger = Static<typeof EventTrigger>

/** With the names that `expand=names` adds. */
export const NamedTrigger = Named('NamedEventTrigger', {
  ...EventTrigger.properties,
  description: Type.Optional(
    OrNull(Type.String({ description: 'The description of the definition.' })),
  ),
  emailTemplateId: Type.Optional(
    OrNull(
      Type.Integer({
        description: 'The template of its first email, or of the first action of the definition.',
      }),
    ),
  ),
  templateName: Type.Optional(OrNull(Type.String())),
  recipient: Type.Optional(
    about(
      OrNull(Type.Enum([...RECIPIENTS], { title: 'Recipient' })),
      'The recipient of the first action of the definition; null: the client, or the address of the template.',
    ),
  ),
  ...ObjectNames,
  email: Type.Optional(
    OrNull(
      Type.Object(
        {
          emailId: Type.Integer(),
          to: Type.String(),
          subject: Type.String(),
          status: about(
            Type.Enum([...EMAIL_STATUSES], { title: 'EmailStatus' }),
            'The delivery status.',
          ),
          attempts: Type.Integer({ description: 'The number of delivery attempts.' }),
        },
        { title: 'TriggerEmail', description: 'The first email of the trigger.' },
      ),
    ),
  ),
})
export type NamedTrigger = Static<typeof NamedTrigger>

const HISTORY_CHANGES = [
  'CREATED',
  'MOVED',
  'CHANGED',
  'STATUS',
  'DELETED',
  'DEFINITION',
  'FIRED_BY_HAND',
  'FIRED',
  'CANCELLED',
  'SKIPPED',
  'EXPIRED',
  'FAILED',
] as const
export type HistoryChange = (typeof HISTORY_CHANGES)[number]

/** What a change of an object or a definition did, with its values. */
export const HISTORY_CODES = [
  'created',
  'earlierState',
  'deleted',
  'restored',
  'moved',
  'ends',
  'status',
  'service',
  'staff',
  'location',
  'client',
  'tags',
  'definitionCreated',
  'definitionDeleted',
  'switchedOn',
  'switchedOff',
  'otherTime',
  'otherSelection',
  'firedByHand',
  'fired',
] as const
export type HistoryCode = (typeof HISTORY_CODES)[number]

const HistoryDetail = Named('HistoryDetail', {
  code: Type.Enum([...HISTORY_CODES], {
    title: 'HistoryCode',
    description: 'What the change did.',
  }),
  params: Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.String()), Type.Null()]),
    {
      title: 'HistoryParameters',
      description:
        '`from` and `to`: statuses, names, or times in ms; `names`: those that are known.',
      examples: [{ objectType: 'CALENDAR', from: 'OPEN', to: 'CONFIRMED' }],
    },
  ),
})
export type HistoryDetail = Static<typeof HistoryDetail>

const HistoryEntry = Named('TriggerHistoryEntry', {
  time: Moment,
  user: OrNull(
    about(Type.String(), 'A username, `key:<name>` or `SYSTEM`; null if not recorded.', 'anna'),
  ),
  change: Type.Enum([...HISTORY_CHANGES], {
    title: 'HistoryChange',
    description:
      'CREATED, MOVED, CHANGED, STATUS, DELETED: of the object. DEFINITION: of the definition. ' +
      'The others: of the trigger.',
  }),
  detail: about(Type.String(), 'The change as text.', 'status changed from OPEN to CONFIRMED'),
  details: Type.Array(HistoryDetail, {
    description: 'The same as codes with values; empty if the trigger ended.',
  }),
  reasons: about(Reasons, 'Why the trigger ended.'),
  scheduledTime: OrNull({
    ...Moment,
    description: 'When the trigger was due after this change, in ms; null if it was not pending.',
  }),
  objectTime: OrNull({
    ...Moment,
    description: 'When the object starts, is due or expires after this change, in ms.',
  }),
})
export type HistoryEntry = Static<typeof HistoryEntry>

/** One trigger with its emails, history and checks. */
export const TriggerDetails = Named('EventTriggerDetails', {
  ...NamedTrigger.properties,
  emails: OrNull(Type.Array(Email, { description: 'Null if the caller may not read emails.' })),
  sentAgain: OrNull(
    Type.Array(Email, {
      description:
        'New emails that repeat one of these, oldest first. Null if the caller may not read emails.',
    }),
  ),
  history: Type.Array(HistoryEntry, { description: 'Oldest first.' }),
  checks: Type.Array(Check, { description: 'The checks as of `checkedTime`.' }),
  checkedTime: OrNull({
    ...Moment,
    description:
      'When it fired or was finished, in ms. null while it is pending: the checks are current.',
  }),
})
export type TriggerDetails = Static<typeof TriggerDetails>
