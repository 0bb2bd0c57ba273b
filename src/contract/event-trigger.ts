import { Type, type Static } from 'typebox'
import { OBJECT_TYPES } from './event-type.ts'
import { Email, EMAIL_STATUSES } from './email.ts'
import { Check } from './explanation.ts'
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
export const EventTrigger = Type.Object(
  {
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
    statusReason: OrNull(Type.String({ description: 'in words, for people' })),
  },
  { title: 'EventTrigger' },
)
export type EventTrigger = Static<typeof EventTrigger>

/** What `expand=names` adds: the words that people know a trigger by. */
export const NamedTrigger = Type.Object(
  {
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
            status: Type.Enum([...EMAIL_STATUSES], { title: 'EmailStatus' }),
            attempts: Type.Integer({ description: 'How often it was tried.' }),
          },
          { title: 'TriggerEmail', description: 'Its first mail.' },
        ),
      ),
    ),
  },
  { title: 'NamedEventTrigger' },
)
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

const HistoryEntry = Type.Object(
  {
    time: Moment,
    user: OrNull(
      Type.String({ description: 'A username, `key:<name>` or `SYSTEM`; null if not recorded.' }),
    ),
    change: Type.Enum([...HISTORY_CHANGES], {
      title: 'HistoryChange',
      description:
        'CREATED, MOVED, CHANGED, STATUS, DELETED: of the object. DEFINITION: of the definition. ' +
        'The others: of the trigger.',
    }),
    detail: Type.String({
      description: 'In words, for people.',
      examples: ['status changed from OPEN to CONFIRMED'],
    }),
    scheduledTime: OrNull({
      ...Moment,
      description: 'When the trigger was due after this change, in ms; null if it was not pending.',
    }),
    objectTime: OrNull({
      ...Moment,
      description: 'When the object starts, is due or expires after this change, in ms.',
    }),
  },
  { title: 'TriggerHistoryEntry' },
)
export type HistoryEntry = Static<typeof HistoryEntry>

/** One trigger with all that is known of it. */
export const TriggerDetails = Type.Object(
  {
    ...NamedTrigger.properties,
    emails: OrNull(Type.Array(Email, { description: 'null if the caller may not read emails.' })),
    history: Type.Array(HistoryEntry, { description: 'Oldest first.' }),
    checks: Type.Array(Check, { description: 'As they were at `checkedTime`.' }),
    checkedTime: OrNull({
      ...Moment,
      description:
        'When it fired or ended, in ms; null while it is pending: the checks are of now.',
    }),
  },
  { title: 'EventTriggerDetails' },
)
export type TriggerDetails = Static<typeof TriggerDetails>
