import { Type, type Static } from 'typebox'
import type { ReferenceKind } from './body.ts'
import { EventAction, NestedActionBody } from './event-action.ts'
import { line, oneOf, schemaOf, text } from './fields.ts'
import { interfaceNames } from './interface-names.ts'
import { isPlainObject } from './json.ts'
import {
  about,
  Id,
  IdOrZero,
  Ignored,
  Maybe,
  Moment,
  Named,
  OrNull,
  ServerOwned,
  serverOwned,
} from './schema.ts'
import { inWords, withRule } from './rules.ts'
import { holdsControl, textFault } from './text.ts'
import { CHANGES, EVENT_TYPES, eventTypeById, type WatchedChange } from './event-type.ts'
import { EventType } from './event-type-info.ts'

export const DEFINITION_OBJECT_TYPES = [
  'CALENDAR',
  'INVITATION_CAMPAIGN',
  'RECALL',
  'CLASS_SCHEDULE',
] as const
export type DefinitionObjectType = (typeof DEFINITION_OBJECT_TYPES)[number]

export const OFFSET_MODES = ['ELAPSED', 'CALENDAR'] as const
export const LATE_POLICIES = ['SKIP', 'SEND'] as const
export const TRIGGER_ANCHORS = ['START', 'END'] as const

const Ids = Type.Array(Type.Integer())
const GivenIds = Type.Array(Id, { maxItems: 5000 })
const ShortText = schemaOf(line(100))
const Labelled = Named(
  'LabelledValue',
  {
    label: Ignored,
    value: about(Maybe(ShortText), 'The chosen value.'),
    eventTypeCodes: Ignored,
  },
  { value: 'all' },
)
const Changes = Type.Array(schemaOf(oneOf(CHANGES, 'Change')), {
  maxItems: 100,
  description:
    'For the CHANGED types: the changes that fire it; empty: any. A list without STATUS does not match a save that also changed the status to one that is not live.',
  examples: [['TIME', 'LOCATION']],
})
const OnlyIfStatus = Type.Array(ShortText, {
  maxItems: 100,
  description: 'When it fires, the status of the object must be one of these; empty: any.',
  examples: [['OPEN']],
})

/** Added by `expand=activity`. */
const DefinitionActivity = Named('DefinitionActivity', {
  nextTime: about(OrNull(Moment), 'When it fires next, in ms.', 1_789_000_000_000),
  lastTime: about(OrNull(Moment), 'When it last fired, in ms.', 1_788_900_000_000),
  waiting: Type.Integer({ examples: [60], description: 'SCHEDULED triggers.' }),
  sent: Type.Integer({ examples: [412], description: 'COMPLETED triggers of the last 30 days.' }),
  failed: Type.Integer({ examples: [2], description: 'FAILED triggers of the last 30 days.' }),
  skipped: about(Type.Integer(), 'SKIPPED and EXPIRED triggers of the last 30 days.', 9),
  hasStoppedMatching: Type.Boolean({
    examples: [false],
    description:
      'It used to match new objects and no longer does, though objects keep being created. Checked about once a minute.',
  }),
  days: Type.Array(Type.Integer(), {
    examples: [[14, 12, 16, 15, 13, 0, 0, 14, 17, 12, 15, 16, 0, 0]],
    description:
      'COMPLETED triggers of each of the last 14 days, in the time zone of the business.',
  }),
})
export type DefinitionActivity = Static<typeof DefinitionActivity>

/** See docs/automations.md. */
export const EventDefinition = Named('EventDefinition', {
  active: Type.Boolean(),
  businessId: Type.Integer(),
  createdDate: Moment,
  createdUser: Type.String(),
  description: OrNull(Type.String()),
  disclaimerFormIdList: Ids,
  eventActions: OrNull(
    Type.Array(EventAction, {
      description:
        'Only with `expand=actions`; otherwise use GET /eventAction/eventDefinition/{id}.',
    }),
  ),
  eventDefnId: Type.Integer(),
  eventType: EventType,
  filterTagMapJson: OrNull(Type.String()),
  groupIdList: Type.Array(Type.Unknown()),
  locationIdList: Ids,
  modifiedDate: OrNull(Moment),
  modifiedUser: OrNull(Type.String()),
  newStatus: OrNull(Type.String()),
  objectId: OrNull(Type.Integer()),
  objectType: Type.Enum([...DEFINITION_OBJECT_TYPES], { title: 'DefinitionObjectType' }),
  objectUUId: OrNull(Type.String()),
  oldStatus: OrNull(Type.String()),
  professionalIdList: Ids,
  reasonIdList: Ids,
  triggerHours: Type.Integer(),
  triggerMinutes: Type.Integer(),
  triggerMonths: Type.Integer(),
  offsetMode: Type.Enum([...OFFSET_MODES], { title: 'OffsetMode' }),
  latePolicy: Type.Enum([...LATE_POLICIES], { title: 'LatePolicy' }),
  allowPast: Type.Boolean(),
  triggerAnchor: Type.Enum([...TRIGGER_ANCHORS], { title: 'TriggerAnchor' }),
  changes: Changes,
  onlyIfStatus: OnlyIfStatus,
  version: Type.Integer(),
  deletedDate: about(
    OrNull(Moment),
    'When it was deleted, in ms; null if it was not.',
    1_789_000_000_000,
  ),
  planning: Type.Optional(Type.Boolean({ description: 'Its triggers are still being planned.' })),
  activity: about(
    Type.Optional(DefinitionActivity),
    'The next and the last firing, and counts. Only with `expand=activity`.',
  ),
})
export type EventDefinition = Static<typeof EventDefinition>

const EventTypeId = inWords(
  Type.Integer({ minimum: 1, maximum: 13, description: 'Send this or eventType.' }),
  'must be an event type: an integer from 1 to 13',
)

/** Stored as sent and not used. */
const GroupId = withRule(Type.Union([Type.Integer(), Type.String({ maxLength: 100 })]), (value) =>
  Number.isSafeInteger(value) || textFault(value, 100) === undefined
    ? []
    : [{ detail: 'must be an id' }],
)

const FilterTags = withRule(
  Type.String({ maxLength: 100_000, description: 'The text of a JSON object of arrays.' }),
  (value) => {
    const fault = textFault(value, 100_000, 'many')
    if (fault !== undefined) return [{ detail: fault }]
    const tags = parseFilterTags(String(value))
    if (!tags) return [{ detail: 'must be the text of a JSON object of arrays of strings' }]
    // Escapes in the JSON text can hide control characters.
    const words = [Object.keys(tags), ...Object.values(tags)].flat()
    return words.some((word) => holdsControl(word) || !word.isWellFormed())
      ? [{ detail: 'must not contain control characters' }]
      : []
  },
)

/** The properties that a body may have at the top level and inside `eventType`. */
const writable = {
  ...interfaceNames,
  ...serverOwned,
  deletedDate: ServerOwned,
  planning: ServerOwned,
  activity: ServerOwned,
  active: Maybe(Type.Boolean()),
  allOrNoneSelect: Maybe(
    Named(
      'AllOrNoneSelect',
      {
        label: Ignored,
        value: Maybe(schemaOf(line(100), '`all` empties `locationIdList`.')),
        disclaimerForms: about(
          Maybe(Labelled),
          'The selection of forms: all, or those in `disclaimerFormIdList`.',
        ),
        locations: Ignored,
        staff: Maybe(Labelled),
        reasons: Maybe(Labelled),
      },
      { value: 'all' },
    ),
  ),
  reasons: Maybe(Labelled),
  staff: Maybe(Labelled),
  businessId: Maybe(Id),
  description: Maybe(schemaOf(text(4000))),
  disclaimerFormIdList: Maybe(GivenIds),
  eventDefnId: Maybe(IdOrZero('The definition to update; absent or 0: a new one.')),
  eventDefinitionId: Maybe(IdOrZero('Must be the same as eventDefnId.')),
  eventTypeId: Maybe(EventTypeId),
  objectType: Maybe(
    Type.Enum([...DEFINITION_OBJECT_TYPES, 'INVITATION', 'DISCLAIMER'], {
      title: 'AnyObjectType',
      description:
        'INVITATION is INVITATION_CAMPAIGN. DISCLAIMER suits any of the others, and is CALENDAR alone.',
    }),
  ),
  eventActions: Maybe(Type.Array(NestedActionBody, { maxItems: 100 })),
  filterTagMapJson: Maybe(FilterTags),
  groupIdList: Maybe(Type.Array(GroupId, { maxItems: 5000 })),
  locationIdList: Maybe(GivenIds),
  newStatus: Maybe(ShortText),
  newStatusObject: Maybe(Labelled),
  objectId: Maybe(Id),
  objectUUId: Maybe(ShortText),
  oldStatus: Maybe(ShortText),
  oldStatusObject: Maybe(Labelled),
  professionalIdList: Maybe(GivenIds),
  reasonIdList: Maybe(GivenIds),
  templateActions: Maybe(Type.Array(NestedActionBody, { maxItems: 100 })),
  triggerDays: Maybe(Type.Integer()),
  triggerHours: Maybe(Type.Integer()),
  triggerHoursValue: Maybe(Type.Integer()),
  triggerMinutes: Maybe(Type.Integer()),
  triggerMinutesValue: Maybe(Type.Integer()),
  triggerMonths: Maybe(Type.Integer()),
  triggerWeeks: Maybe(Type.Integer()),
  triggerWhen: Maybe(
    Named(
      'TriggerWhen',
      {
        label: Ignored,
        value: about(
          Maybe(Type.Enum(['before', 'after'], { title: 'BeforeOrAfter' })),
          'Before or after.',
        ),
        eventTypeCodes: Ignored,
      },
      { value: 'before' },
    ),
  ),
  triggeredBy: Ignored,
  offsetMode: Maybe(Type.Enum([...OFFSET_MODES], { title: 'OffsetMode' })),
  latePolicy: Maybe(Type.Enum([...LATE_POLICIES], { title: 'LatePolicy' })),
  allowPast: Maybe(Type.Boolean()),
  triggerAnchor: Maybe(Type.Enum([...TRIGGER_ANCHORS], { title: 'TriggerAnchor' })),
  changes: Maybe(Changes),
  onlyIfStatus: Maybe(OnlyIfStatus),
}

/** The properties that a body may have. read-definition.ts reads the values. */
export const EventDefinitionBody = Type.Object(
  {
    ...writable,
    eventType: Maybe(
      Named(
        'EventTypeBody',
        {
          ...writable,
          eventType: Maybe(
            schemaOf(
              oneOf(
                EVENT_TYPES.map(({ eventType }) => eventType),
                'EventTypeName',
              ),
              'The name of the event type, such as APPT_CREATED: see GET /eventType.',
            ),
          ),
        },
        { eventType: 'APPT_REMINDER' },
      ),
    ),
  },
  {
    title: 'EventDefinitionBody',
    description:
      'To create one, active, businessId, objectType, triggerHours, triggerMinutes and eventType are required. With eventDefnId it is an update: absent properties stay unchanged.',
    examples: [
      {
        active: true,
        businessId: 1,
        description: 'Remind a day before',
        objectType: 'CALENDAR',
        eventType: { eventTypeId: 3 },
        triggerHours: -24,
        triggerMinutes: 0,
      },
    ],
  },
)

/** A definition as it is stored, matched and scheduled. */
export type Definition = {
  active: boolean
  businessId: number
  description: string | null
  disclaimerFormIdList: number[]
  eventTypeId: number
  filterTagMapJson: string | null
  /** Stored as sent and not used. */
  groupIdList: unknown[]
  locationIdList: number[]
  newStatus: string | null
  objectId: number | null
  objectType: DefinitionObjectType
  objectUUId: string | null
  oldStatus: string | null
  professionalIdList: number[]
  reasonIdList: number[]
  triggerMonths: number
  triggerHours: number
  triggerMinutes: number
  offsetMode: (typeof OFFSET_MODES)[number]
  latePolicy: (typeof LATE_POLICIES)[number]
  /** Whether it also writes about appointments and classes that were over when they were saved. */
  allowPast: boolean
  triggerAnchor: (typeof TRIGGER_ANCHORS)[number]
  /** Only for the CHANGED types. Empty: any change. */
  changes: WatchedChange[]
  /** When the trigger fires, the object must have one of these statuses. Empty: any status. */
  onlyIfStatus: string[]
}

/** Parses `filterTagMapJson`; `undefined` if it is not a JSON object of arrays of strings. */
export function parseFilterTags(text: string): Record<string, string[]> | undefined {
  let tags: unknown
  try {
    tags = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isPlainObject(tags)) return undefined
  return Object.values(tags).every(isArrayOfStrings)
    ? (tags as Record<string, string[]>)
    : undefined
}

const isArrayOfStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

export const isDefinitionObjectType = (value: unknown): value is DefinitionObjectType =>
  DEFINITION_OBJECT_TYPES.some((each) => each === value)

/** The kind of object that `objectId` names. For disclaimers: their appointment, or the disclaimer itself. */
export function kindNamed({
  eventTypeId,
  objectType,
}: Pick<Definition, 'eventTypeId' | 'objectType'>): NamedKind {
  const isDisclaimer = eventTypeById(eventTypeId)?.objectType === 'DISCLAIMER'
  return isDisclaimer && objectType !== 'CALENDAR' ? 'disclaimer' : OBJECT_KINDS[objectType]
}
type NamedKind = 'disclaimer' | (typeof OBJECT_KINDS)[DefinitionObjectType]

const OBJECT_KINDS = {
  CALENDAR: 'calendar',
  CLASS_SCHEDULE: 'classSchedule',
  INVITATION_CAMPAIGN: 'invitationCampaign',
  RECALL: 'recall',
} as const satisfies Record<DefinitionObjectType, ReferenceKind>
