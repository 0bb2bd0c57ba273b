import { Type, type Static } from 'typebox'
import type { Fault } from '../errors.ts'
import {
  isMissing,
  look,
  Reading,
  type Found,
  type Place,
  type Reference,
  type ReferenceKind,
} from './body.ts'
import { EventAction, NestedActionBody, readActionAt, type ActionInput } from './event-action.ts'
import { line, oneOf, schemaOf, text } from './fields.ts'
import { findFaults } from './find-faults.ts'
import { interfaceNames } from './interface-names.ts'
import { isPlainObject } from './json.ts'
import {
  Id,
  IdWith,
  Ignored,
  Maybe,
  Moment,
  Named,
  OrNull,
  ServerOwned,
  serverOwned,
} from './schema.ts'
import { withRule } from './rules.ts'
import { holdsControl, textFault } from './text.ts'
import {
  CHANGES,
  changesOf,
  EVENT_TYPES,
  eventTypeById,
  EventType,
  type Change,
} from './event-type.ts'
import { isTooLong, readOffset, TOO_LONG } from './offset.ts'

const DEFINITION_OBJECT_TYPES = [
  'CALENDAR',
  'INVITATION_CAMPAIGN',
  'RECALL',
  'CLASS_SCHEDULE',
] as const
export type DefinitionObjectType = (typeof DEFINITION_OBJECT_TYPES)[number]

const OFFSET_MODES = ['ELAPSED', 'CALENDAR'] as const
const LATE_POLICIES = ['SKIP', 'SEND'] as const
const TRIGGER_ANCHORS = ['START', 'END'] as const

const Ids = Type.Array(Type.Integer())
const GivenIds = Type.Array(Id, { maxItems: 5000 })
const ShortText = schemaOf(line(100))
const Labelled = Named(
  'LabelledValue',
  {
    label: Ignored,
    value: Maybe(ShortText),
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
const DefinitionActivity = Type.Object(
  {
    nextTime: OrNull(Moment),
    lastTime: OrNull(Moment),
    waiting: Type.Integer({ description: 'SCHEDULED triggers.' }),
    sent: Type.Integer({ description: 'COMPLETED triggers of the last 30 days.' }),
    failed: Type.Integer({ description: 'FAILED triggers of the last 30 days.' }),
    skipped: Type.Integer({ description: 'SKIPPED and EXPIRED triggers of the last 30 days.' }),
    hasStoppedMatching: Type.Boolean({
      description:
        'It used to match new objects and no longer does, though objects keep being created. Checked about once a minute.',
    }),
    days: Type.Array(Type.Integer(), {
      description:
        'COMPLETED triggers of each of the last 14 days, in the time zone of the business.',
    }),
  },
  { title: 'DefinitionActivity' },
)

/** See docs/automations.md. */
export const EventDefinition = Type.Object(
  {
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
    triggerAnchor: Type.Enum([...TRIGGER_ANCHORS], { title: 'TriggerAnchor' }),
    changes: Changes,
    onlyIfStatus: OnlyIfStatus,
    version: Type.Integer(),
    deletedDate: OrNull(Moment),
    planning: Type.Optional(Type.Boolean({ description: 'Its triggers are still being planned.' })),
    activity: Type.Optional(DefinitionActivity),
  },
  { title: 'EventDefinition' },
)
export type EventDefinition = Static<typeof EventDefinition>

const EventTypeId = withRule(
  Type.Integer({ minimum: 1, maximum: 13, description: 'Send this or eventType.' }),
  (value) =>
    EVENT_TYPES.some(({ eventTypeId }) => eventTypeId === value)
      ? []
      : [{ detail: 'must be an event type: an integer from 1 to 13' }],
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
        disclaimerForms: Maybe(Labelled),
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
  eventDefnId: Maybe(IdWith({ description: 'The definition to update; absent: a new one.' })),
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
        value: Maybe(Type.Enum(['before', 'after'], { title: 'BeforeOrAfter' })),
        eventTypeCodes: Ignored,
      },
      { value: 'before' },
    ),
  ),
  triggeredBy: Ignored,
  offsetMode: Maybe(Type.Enum([...OFFSET_MODES], { title: 'OffsetMode' })),
  latePolicy: Maybe(Type.Enum([...LATE_POLICIES], { title: 'LatePolicy' })),
  triggerAnchor: Maybe(Type.Enum([...TRIGGER_ANCHORS], { title: 'TriggerAnchor' })),
  changes: Maybe(Changes),
  onlyIfStatus: Maybe(OnlyIfStatus),
}

/** The properties that a body may have. `readDefinition` reads the values. */
export const EventDefinitionBody = Type.Object(
  {
    ...writable,
    objectType: Maybe(Type.Enum([...DEFINITION_OBJECT_TYPES], { title: 'DefinitionObjectType' })),
    eventType: Maybe(
      Named(
        'EventTypeBody',
        {
          ...writable,
          eventTypeId: Maybe(EventTypeId),
          eventType: Maybe(
            schemaOf(
              oneOf(
                EVENT_TYPES.map(({ eventType }) => eventType),
                'EventTypeName',
              ),
              'The name of the event type, such as APPT_CREATED: see GET /eventType.',
            ),
          ),
          objectType: Maybe(
            Type.Enum([...DEFINITION_OBJECT_TYPES, 'INVITATION', 'DISCLAIMER'], {
              title: 'AnyObjectType',
            }),
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
  triggerAnchor: (typeof TRIGGER_ANCHORS)[number]
  /** Only for the CHANGED types. Empty: any change. */
  changes: Change[]
  /** When the trigger fires, the object must have one of these statuses. Empty: any status. */
  onlyIfStatus: string[]
}

/** The values of a body. `undefined`: unchanged. A property that was cleared with `null` has its empty value. */
export type DefinitionInput = {
  [Field in keyof Definition]?: Definition[Field] | undefined
} & {
  eventDefnId?: number | undefined
  actions?: ActionInput[] | undefined
  /** The JSON pointers of properties that are checked after the merge. */
  pointers: Pointers
  /** Lists that the body marks as `select` but does not contain: the stored list must not be empty. */
  selects: ('professionalIdList' | 'reasonIdList')[]
}

type Pointers = { [Field in (typeof MERGED)[number]]: string }
const MERGED = [
  'objectType',
  'objectId',
  'newStatus',
  'oldStatus',
  'changes',
  'onlyIfStatus',
] as const

type DefinitionReading = {
  definition: DefinitionInput
  faults: Fault[]
  references: Reference[]
}

/** Reads the body of `POST /eventDefinition`. The definition is valid only if there are no faults. */
export function readDefinition(body: unknown): DefinitionReading {
  const reading = new Reading(findFaults(EventDefinitionBody, body))
  const top: Place = { object: body, pointer: '' }
  const definition = isPlainObject(body) ? readInput(reading, top) : EMPTY_INPUT
  return { definition, faults: reading.faults, references: reading.references }
}

/**
 * Merges the input into the stored definition, or into a new one. Checks what depends on several
 * properties: if one changes, references of the others may have to be checked again.
 */
export function mergeDefinition(
  { eventDefnId: _id, actions: _actions, selects, pointers, ...given }: DefinitionInput,
  stored?: Definition,
): { definition: Definition; faults: Fault[]; references: Reference[] } {
  const reading = new Reading()
  const definition: Definition = { ...UNSET, ...stored, ...withoutUndefined(given) }

  for (const list of selects) {
    if (definition[list].length === 0) reading.fault(`/${list}`, NOTHING_SELECTED)
  }
  const givenOffset = {
    triggerMonths: given.triggerMonths ?? 0,
    triggerHours: given.triggerHours ?? 0,
    triggerMinutes: given.triggerMinutes ?? 0,
  }
  if (isTooLong(definition) && !isTooLong(givenOffset)) {
    reading.fault(definition.triggerMonths === 0 ? '/triggerHours' : '/triggerMonths', TOO_LONG)
  }
  if (definition.eventTypeId === 0 || (!stored && given.objectType === undefined)) {
    return { definition, faults: reading.faults, references: reading.references }
  }
  checkChanges(reading, definition, pointers.changes)
  const isNewKind = !stored || isAboutAnotherKind(definition, stored)
  if (isNewKind) checkObjectType(reading, definition, pointers.objectType)
  if (isNewKind || given.objectId !== undefined) {
    referToObject(reading, definition, pointers.objectId)
  }
  // Statuses that only an inactive definition names can be removed.
  const isActivated = definition.active && !stored?.active
  if (isNewKind || isActivated || given.onlyIfStatus !== undefined) {
    referToStatuses(reading, definition, pointers.onlyIfStatus)
  }
  for (const side of ['newStatus', 'oldStatus'] as const) {
    if (isNewKind || isActivated || given[side] !== undefined) {
      referToStatus(reading, definition, side, pointers[side])
    }
  }
  return { definition, faults: reading.faults, references: reading.references }
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

/** The defaults of a new definition. The required properties are set by the body, or there is a fault. */
const UNSET: Definition = {
  active: false,
  businessId: 0,
  eventTypeId: 0,
  objectType: 'CALENDAR',
  triggerHours: 0,
  triggerMinutes: 0,
  description: null,
  disclaimerFormIdList: [],
  filterTagMapJson: null,
  groupIdList: [],
  locationIdList: [],
  newStatus: null,
  objectId: null,
  objectUUId: null,
  oldStatus: null,
  professionalIdList: [],
  reasonIdList: [],
  triggerMonths: 0,
  offsetMode: 'ELAPSED',
  latePolicy: 'SKIP',
  triggerAnchor: 'START',
  changes: [],
  onlyIfStatus: [],
}

const EMPTY_INPUT: DefinitionInput = {
  selects: [],
  pointers: {
    objectType: '/objectType',
    objectId: '/objectId',
    newStatus: '/newStatus',
    oldStatus: '/oldStatus',
    changes: '/changes',
    onlyIfStatus: '/onlyIfStatus',
  },
}

const NOTHING_SELECTED = 'must not be empty, because the body has the value select for it'

function readInput(reading: Reading, top: Place): DefinitionInput {
  const eventType = look([top], 'eventType')
  const nested = reading.object(eventType)
  const places = nested ? [top, nested] : [top]
  const find: Find = (name) => look(places, name)

  const active = find('active')
  const businessId = find('businessId')
  const objectType = findObjectType(top, nested)
  const eventTypeId = readEventTypeId(reading, nested)
  const eventDefnId = reading.id(find('eventDefnId')) ?? undefined
  const isNew = isMissing(find('eventDefnId').value)
  if (isNew) requireForCreation(reading, { active, businessId, objectType, eventType, eventTypeId })

  const objectId = find('objectId')
  const changes = find('changes')
  const onlyIfStatus = find('onlyIfStatus')
  const newStatus = findStatusOfSide(reading, find, 'newStatus')
  const oldStatus = findStatusOfSide(reading, find, 'oldStatus')
  const definition: DefinitionInput = {
    active: reading.boolean(active) ?? undefined,
    businessId: reading.id(businessId) ?? undefined,
    description: reading.text(find('description')),
    eventDefnId,
    eventTypeId: eventTypeId.id,
    filterTagMapJson: reading.text(find('filterTagMapJson')),
    groupIdList: unsetAs([], reading.array(find('groupIdList')))?.map((entry) => entry.value),
    newStatus: reading.text(newStatus),
    objectId: reading.id(objectId),
    objectType: reading.oneOf(objectType, DEFINITION_OBJECT_TYPES) ?? undefined,
    objectUUId: reading.text(find('objectUUId')),
    oldStatus: reading.text(oldStatus),
    ...readSelections(reading, places),
    ...readOffset(reading, find, { isNew }),
    offsetMode: unsetAs('ELAPSED', reading.oneOf(find('offsetMode'), OFFSET_MODES)),
    latePolicy: unsetAs('SKIP', reading.oneOf(find('latePolicy'), LATE_POLICIES)),
    triggerAnchor: unsetAs('START', reading.oneOf(find('triggerAnchor'), TRIGGER_ANCHORS)),
    changes: unsetAs([], reading.someOf(changes, CHANGES)),
    onlyIfStatus: unsetAs([], readStatuses(reading, onlyIfStatus)),
    actions: readActions(reading, find),
    pointers: {
      objectType: objectType.pointer,
      objectId: objectId.pointer,
      newStatus: newStatus.pointer,
      oldStatus: oldStatus.pointer,
      changes: changes.pointer,
      onlyIfStatus: onlyIfStatus.pointer,
    },
  }
  if (isNew) {
    for (const list of definition.selects.splice(0)) reading.fault(`/${list}`, NOTHING_SELECTED)
  }

  reading.refer('business', definition.businessId, businessId.pointer)
  return definition
}

type Find = (name: string) => Found

type RequiredProperties = Record<'active' | 'businessId' | 'objectType' | 'eventType', Found> & {
  eventTypeId: { value: unknown }
}

function requireForCreation(
  reading: Reading,
  { active, businessId, objectType, eventType, eventTypeId }: RequiredProperties,
) {
  reading.require(active, 'send true to activate it, false to create it inactive')
  reading.require(businessId, 'the id of your business')
  reading.require(objectType, `one of ${DEFINITION_OBJECT_TYPES.join(', ')}`)
  const canHoldId = isPlainObject(eventType.value) || isMissing(eventType.value)
  if (canHoldId && isMissing(eventTypeId.value)) {
    reading.require(
      { value: undefined, pointer: '/eventType/eventTypeId' },
      'send eventType: { "eventTypeId": 1 }; GET /eventType lists the event types',
    )
  }
}

export const isDefinitionObjectType = (value: unknown): value is DefinitionObjectType =>
  DEFINITION_OBJECT_TYPES.some((each) => each === value)

/** Replaces `null` by the empty value; `undefined` stays. */
const unsetAs = <T>(none: T, value: T | null | undefined) => (value === null ? none : value)

function withoutUndefined<T extends object>(object: T) {
  type Given = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
    [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
  }
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as Given
}

/** Inside `eventType` it is the object type of the event type, which may differ from the definition's. */
function findObjectType(top: Place, nested: Place | null | undefined): Found {
  const outer = look([top], 'objectType')
  if (!nested || !isMissing(outer.value)) return outer
  const inner = look([nested], 'objectType')
  if (inner.value === 'INVITATION') return { ...inner, value: 'INVITATION_CAMPAIGN' }
  return isMissing(inner.value) || inner.value === 'DISCLAIMER' ? outer : inner
}

/** Reads the event type by id or name. If both are given, they must agree. */
function readEventTypeId(reading: Reading, nested: Place | null | undefined) {
  const places = nested ? [nested] : []
  const found = look(places, 'eventTypeId')
  const name = look(places, 'eventType')
  const byId = EVENT_TYPES.find(({ eventTypeId }) => eventTypeId === found.value)
  const byName = EVENT_TYPES.find(({ eventType }) => eventType === name.value)
  if (byId && byName && byId !== byName) {
    const { eventTypeId, eventType } = byId
    reading.fault(name.pointer, `must be ${eventType}, the name of eventTypeId ${eventTypeId}`)
  }
  return { value: found.value ?? name.value, id: (byId ?? byName)?.eventTypeId }
}

function checkObjectType(
  reading: Reading,
  { eventTypeId, objectType }: Definition,
  pointer: string,
) {
  const type = eventTypeById(eventTypeId)
  if (!type || type.objectType === 'DISCLAIMER') return
  const suits = type.objectType === 'INVITATION' ? 'INVITATION_CAMPAIGN' : type.objectType
  if (objectType !== suits) {
    reading.fault(pointer, `must be ${suits} for event type ${eventTypeId}, ${type.eventType}`)
  }
}

function checkChanges(reading: Reading, { eventTypeId, changes }: Definition, pointer: string) {
  if (changes.length === 0) return
  const { eventType, objectType } = eventTypeById(eventTypeId)!
  if (!eventType.endsWith('_CHANGED')) {
    reading.fault(pointer, `must be empty: ${eventType} does not report a change`)
    return
  }
  const possible = changesOf(objectType)
  if (!changes.some((change) => possible.includes(change))) {
    reading.fault(pointer, `must hold one of ${possible.join(', ')}: ${eventType} reports no other`)
  }
}

/** The plain property, else the value of its `{ label, value }` object. */
function findStatusOfSide(reading: Reading, find: Find, side: 'newStatus' | 'oldStatus'): Found {
  const plain = find(side)
  if (!isMissing(plain.value)) return plain
  const chosen = reading.inside(find(`${side}Object`), 'value')
  return chosen.value === undefined ? plain : chosen
}

function readStatuses(reading: Reading, found: Found): string[] | null | undefined {
  const entries = reading.array(found)
  return entries && [...new Set(entries.flatMap((entry) => reading.text(entry) ?? []))]
}

/** Reads the four lists. The value `all` empties a list, `select` requires it to have entries. */
function readSelections(reading: Reading, places: Place[]) {
  const choices = places.flatMap((place) => reading.object(look([place], 'allOrNoneSelect')) ?? [])
  const chosen = (found: Found) => reading.text(reading.inside(found, 'value'))
  const selects: DefinitionInput['selects'] = []

  const list = (name: ListName, kind: ReferenceKind, choice: string | null | undefined) => {
    const found = look(places, name)
    const ids = unsetAs([], reading.ids(found))
    if (choice === 'all') return []
    if (choice === 'select' && (name === 'professionalIdList' || name === 'reasonIdList')) {
      if (ids?.length === 0) reading.fault(found.pointer, NOTHING_SELECTED)
      if (found.value === undefined) selects.push(name)
    }
    if (ids) reading.referAll(kind, ids, found.pointer)
    return ids
  }
  return {
    disclaimerFormIdList: list(
      'disclaimerFormIdList',
      'disclaimerForm',
      chosen(look(choices, 'disclaimerForms')),
    ),
    locationIdList: list('locationIdList', 'location', reading.text(look(choices, 'value'))),
    professionalIdList: list(
      'professionalIdList',
      'professional',
      chosen(look([...places, ...choices], 'staff')),
    ),
    reasonIdList: list('reasonIdList', 'reason', chosen(look([...places, ...choices], 'reasons'))),
    selects,
  }
}

type ListName = 'disclaimerFormIdList' | 'locationIdList' | 'professionalIdList' | 'reasonIdList'

function readActions(reading: Reading, find: Find) {
  const lists = [find('eventActions'), find('templateActions')].map((found) => reading.array(found))
  if (lists.every(isMissing)) return undefined
  return lists
    .flatMap((list) => list ?? [])
    .map((entry) => readActionAt(reading, entry, { linked: false }))
}

function referToObject(
  reading: Reading,
  definition: Pick<Definition, 'eventTypeId' | 'objectId' | 'objectType'>,
  pointer: string,
) {
  reading.refer(kindNamed(definition), definition.objectId, pointer)
}

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

/** Statuses matter only for the CHANGED types. For the others they are stored without a check. */
function referToStatus(
  reading: Reading,
  definition: Pick<Definition, 'eventTypeId' | 'newStatus' | 'oldStatus'>,
  side: 'newStatus' | 'oldStatus',
  pointer: string,
) {
  const type = eventTypeById(definition.eventTypeId)
  const status = definition[side]
  if (!type?.eventType.endsWith('_CHANGED') || isMissing(status) || status === '*') return
  const { objectType } = type
  reading.references.push({ kind: 'status', objectType, id: status, pointer, canBeAny: true })
}

function referToStatuses(
  reading: Reading,
  { eventTypeId, onlyIfStatus }: Definition,
  pointer: string,
) {
  const { objectType } = eventTypeById(eventTypeId)!
  for (const [i, id] of onlyIfStatus.entries()) {
    const at = `${pointer}/${i}`
    reading.references.push({ kind: 'status', objectType, id, pointer: at, canBeAny: false })
  }
}

const isAboutAnotherKind = (definition: Definition, stored: Definition) =>
  definition.eventTypeId !== stored.eventTypeId || definition.objectType !== stored.objectType
