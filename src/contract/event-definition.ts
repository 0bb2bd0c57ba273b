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
import { EventAction, EventActionBody, readActionAt, type ActionInput } from './event-action.ts'
import { interfaceNames } from './interface-names.ts'
import { isPlainObject } from './json.ts'
import { Ignored, Maybe, Moment, Named, OrNull, ServerOwned, serverOwned } from './schema.ts'
import { holdsControl } from './text.ts'
import {
  CHANGES,
  changesOf,
  EVENT_TYPES,
  eventTypeById,
  EventType,
  type Change,
} from './event-type.ts'
import { isTooLong, readOffset, TOO_LONG } from './offset.ts'
import { unknownProperties } from './unknown-properties.ts'

export const DEFINITION_OBJECT_TYPES = [
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
const Labelled = Named('LabelledValue', {
  label: Ignored,
  value: Maybe(Type.String()),
  eventTypeCodes: Ignored,
})
const Changes = Type.Array(Type.Enum([...CHANGES], { title: 'Change' }), {
  description:
    'For the CHANGED types: which changes it waits for; empty: any. A list without STATUS does not match a save that also moved the status to one that is not live.',
  examples: [['TIME', 'LOCATION']],
})
const OnlyIfStatus = Type.Array(Type.String(), {
  description: 'When it fires, the status of the object must be one of these; empty: any.',
  examples: [['OPEN']],
})

/** What a definition did and will do: `expand=activity`. */
const DefinitionActivity = Type.Object(
  {
    nextTime: OrNull(Moment),
    lastTime: OrNull(Moment),
    waiting: Type.Integer({ description: 'triggers that are scheduled' }),
    sent: Type.Integer({ description: 'triggers of the last 30 days that were COMPLETED' }),
    failed: Type.Integer(),
    skipped: Type.Integer({ description: 'of these, those that were SKIPPED or EXPIRED' }),
    days: Type.Array(Type.Integer(), {
      description: 'COMPLETED triggers of each of the last 14 days, in the business’s time zone',
    }),
  },
  { title: 'DefinitionActivity' },
)

/** Spec 2.1, and our additions after it. */
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
        description: 'only with `expand=actions`; else read GET /eventAction/eventDefinition/{id}',
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
    planning: Type.Optional(Type.Boolean({ description: 'its triggers are still being planned' })),
    activity: Type.Optional(DefinitionActivity),
  },
  { title: 'EventDefinition' },
)
export type EventDefinition = Static<typeof EventDefinition>

/** What the write form may carry at the top level and inside `eventType` alike. */
const writable = {
  ...interfaceNames,
  ...serverOwned,
  deletedDate: ServerOwned,
  planning: ServerOwned,
  activity: ServerOwned,
  active: Maybe(Type.Boolean()),
  allOrNoneSelect: Maybe(
    Named('AllOrNoneSelect', {
      label: Ignored,
      value: Maybe(Type.String({ description: '`all` empties locationIdList' })),
      disclaimerForms: Maybe(Labelled),
      locations: Ignored,
      staff: Maybe(Labelled),
      reasons: Maybe(Labelled),
    }),
  ),
  reasons: Maybe(Labelled),
  staff: Maybe(Labelled),
  businessId: Maybe(Type.Integer()),
  description: Maybe(Type.String()),
  disclaimerFormIdList: Maybe(Ids),
  eventDefnId: Maybe(Type.Integer({ description: 'the definition to update; absent: a new one' })),
  eventActions: Maybe(Type.Array(EventActionBody)),
  filterTagMapJson: Maybe(Type.String({ description: 'the text of a JSON object of arrays' })),
  groupIdList: Maybe(Type.Array(Type.Unknown())),
  locationIdList: Maybe(Ids),
  newStatus: Maybe(Type.String()),
  newStatusObject: Maybe(Labelled),
  objectId: Maybe(Type.Integer()),
  objectUUId: Maybe(Type.String()),
  oldStatus: Maybe(Type.String()),
  oldStatusObject: Maybe(Labelled),
  professionalIdList: Maybe(Ids),
  reasonIdList: Maybe(Ids),
  templateActions: Maybe(Type.Array(EventActionBody)),
  triggerDays: Maybe(Type.Integer()),
  triggerHours: Maybe(Type.Integer()),
  triggerHoursValue: Maybe(Type.Integer()),
  triggerMinutes: Maybe(Type.Integer()),
  triggerMinutesValue: Maybe(Type.Integer()),
  triggerMonths: Maybe(Type.Integer()),
  triggerWeeks: Maybe(Type.Integer()),
  triggerWhen: Maybe(
    Named('TriggerWhen', {
      label: Ignored,
      value: Maybe(Type.Enum(['before', 'after'], { title: 'BeforeOrAfter' })),
      eventTypeCodes: Ignored,
    }),
  ),
  triggeredBy: Ignored,
  offsetMode: Maybe(Type.Enum([...OFFSET_MODES], { title: 'OffsetMode' })),
  latePolicy: Maybe(Type.Enum([...LATE_POLICIES], { title: 'LatePolicy' })),
  triggerAnchor: Maybe(Type.Enum([...TRIGGER_ANCHORS], { title: 'TriggerAnchor' })),
  changes: Maybe(Changes),
  onlyIfStatus: Maybe(OnlyIfStatus),
}

/**
 * Spec 2.1 and 2.5 in one: it says which properties a body may have. `readDefinition` reads their
 * values.
 */
export const EventDefinitionBody = Type.Object(
  {
    ...writable,
    objectType: Maybe(Type.Enum([...DEFINITION_OBJECT_TYPES], { title: 'DefinitionObjectType' })),
    eventType: Maybe(
      Named('EventTypeBody', {
        ...writable,
        eventTypeId: Maybe(
          Type.Integer({ minimum: 1, maximum: 13, description: 'This or eventType.' }),
        ),
        eventType: Maybe(
          Type.String({ description: 'Its name, such as APPT_CREATED: see GET /eventType.' }),
        ),
        objectType: Maybe(
          Type.Enum([...DEFINITION_OBJECT_TYPES, 'INVITATION', 'DISCLAIMER'], {
            title: 'AnyObjectType',
          }),
        ),
      }),
    ),
  },
  {
    title: 'EventDefinitionBody',
    description:
      'To create one: active, businessId, objectType, triggerHours, triggerMinutes and eventType are required. With eventDefnId it is an update: what is absent stays as it is.',
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

/** All that a definition asks for: what is stored, matched and timed. */
export type Definition = {
  active: boolean
  businessId: number
  description: string | null
  disclaimerFormIdList: number[]
  eventTypeId: number
  filterTagMapJson: string | null
  /** Kept as sent; it never matters. */
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
  /** For the CHANGED types; empty: any change. */
  changes: Change[]
  /** When it fires, the status must be one of these; empty: any. */
  onlyIfStatus: string[]
}

/**
 * What a body says of a definition. `undefined`: nothing, so that it stays as it is; what was
 * cleared with `null` has its empty value here.
 */
export type DefinitionInput = {
  [Field in keyof Definition]?: Definition[Field] | undefined
} & {
  eventDefnId?: number | undefined
  actions?: ActionInput[] | undefined
  /** Where the body names these, for faults that only show once it is merged. */
  pointers: Pointers
  /** Lists that the body calls a selection without giving them: the stored one may not be empty. */
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

export type DefinitionReading = {
  definition: DefinitionInput
  faults: Fault[]
  references: Reference[]
}

/** The body of `POST /eventDefinition`, with all that is wrong in it; of use where nothing is. */
export function readDefinition(body: unknown): DefinitionReading {
  const reading = new Reading()
  const top: Place = { object: body, pointer: '' }
  if (!isPlainObject(body)) reading.fault('', 'must be a JSON object')
  const definition = isPlainObject(body) ? readAt(reading, top) : NOTHING
  reading.faults.push(...unknownProperties(EventDefinitionBody, body))
  return { definition, faults: reading.faults, references: reading.references }
}

/**
 * The definition that saving the input makes: the stored one with what the body says, or a new one.
 * Some faults only show on the whole, and what the body says of one property may turn the stored
 * others into references that must be checked again.
 */
export function mergeDefinition(
  { eventDefnId: _id, actions: _actions, selects, pointers, ...said }: DefinitionInput,
  stored?: Definition,
): { definition: Definition; faults: Fault[]; references: Reference[] } {
  const reading = new Reading()
  const definition: Definition = { ...UNSET, ...stored, ...withoutUndefined(said) }

  for (const list of selects) {
    if (definition[list].length === 0) reading.fault(`/${list}`, NOTHING_SELECTED)
  }
  const saidOffset = {
    triggerMonths: said.triggerMonths ?? 0,
    triggerHours: said.triggerHours ?? 0,
    triggerMinutes: said.triggerMinutes ?? 0,
  }
  if (isTooLong(definition) && !isTooLong(saidOffset)) {
    reading.fault(definition.triggerMonths === 0 ? '/triggerHours' : '/triggerMonths', TOO_LONG)
  }
  if (definition.eventTypeId === 0 || (!stored && said.objectType === undefined)) {
    return { definition, faults: reading.faults, references: reading.references }
  }
  checkChanges(reading, definition, pointers.changes)
  const isNewKind = !stored || isAboutAnotherKind(definition, stored)
  if (isNewKind) checkObjectType(reading, definition, pointers.objectType)
  if (isNewKind || said.objectId !== undefined) {
    referToObject(reading, definition, pointers.objectId)
  }
  if (isNewKind || said.onlyIfStatus !== undefined) {
    referToStatuses(reading, definition, pointers.onlyIfStatus)
  }
  for (const side of ['newStatus', 'oldStatus'] as const) {
    if (isNewKind || said[side] !== undefined) {
      referToStatus(reading, definition, side, pointers[side])
    }
  }
  return { definition, faults: reading.faults, references: reading.references }
}

/** What `filterTagMapJson` says; `undefined` where it is no JSON object of arrays of strings. */
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

/**
 * What a new definition has if the body says nothing, and any if it says `null`. Of the required
 * ones the body has said something, or there is a fault.
 */
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

const NOTHING: DefinitionInput = {
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

const NOTHING_SELECTED = 'must not be empty: the body says that a selection is made'

function readAt(reading: Reading, top: Place): DefinitionInput {
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
  if (isNew) {
    reading.require(active, 'true switches it on, false creates it paused')
    reading.require(businessId, 'the id of your business')
    reading.require(objectType, `one of ${DEFINITION_OBJECT_TYPES.join(', ')}`)
    if ((nested || isMissing(eventType.value)) && isMissing(eventTypeId.value)) {
      reading.require(
        { value: undefined, pointer: '/eventType/eventTypeId' },
        'send eventType: { "eventTypeId": 1 }; GET /eventType lists the event types',
      )
    }
  }

  const objectId = find('objectId')
  const changes = find('changes')
  const onlyIfStatus = find('onlyIfStatus')
  const newStatus = findStatus(reading, find, 'newStatus')
  const oldStatus = findStatus(reading, find, 'oldStatus')
  const definition: DefinitionInput = {
    active: reading.boolean(active) ?? undefined,
    businessId: reading.id(businessId) ?? undefined,
    description: reading.text(find('description'), { max: 4000, lines: 'many' }),
    eventDefnId,
    eventTypeId: eventTypeId.id,
    filterTagMapJson: readFilterTags(reading, find('filterTagMapJson')),
    groupIdList: readGroupIds(reading, find('groupIdList')),
    newStatus: reading.text(newStatus, { max: 100 }),
    objectId: reading.id(objectId),
    objectType: reading.oneOf(objectType, DEFINITION_OBJECT_TYPES) ?? undefined,
    objectUUId: reading.text(find('objectUUId'), { max: 100 }),
    oldStatus: reading.text(oldStatus, { max: 100 }),
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

export const isDefinitionObjectType = (value: unknown): value is DefinitionObjectType =>
  DEFINITION_OBJECT_TYPES.some((each) => each === value)

/** `null` is the value that stands for none; `undefined` stays. */
const unsetAs = <T>(none: T, value: T | null | undefined) => (value === null ? none : value)

function withoutUndefined<T extends object>(object: T) {
  type Said = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
    [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
  }
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as Said
}

/** Inside `eventType` it is the event type's own kind, which is not always one of a definition. */
function findObjectType(top: Place, nested: Place | null | undefined): Found {
  const outer = look([top], 'objectType')
  if (!nested || !isMissing(outer.value)) return outer
  const inner = look([nested], 'objectType')
  if (inner.value === 'INVITATION') return { ...inner, value: 'INVITATION_CAMPAIGN' }
  return isMissing(inner.value) || inner.value === 'DISCLAIMER' ? outer : inner
}

/** By its id or its name; if both are given they must agree. */
function readEventTypeId(reading: Reading, nested: Place | null | undefined) {
  const places = nested ? [nested] : []
  const found = look(places, 'eventTypeId')
  const name = look(places, 'eventType')
  const byId = EVENT_TYPES.find(({ eventTypeId }) => eventTypeId === found.value)
  const byName = EVENT_TYPES.find(({ eventType }) => eventType === name.value)
  if (!isMissing(found.value) && !byId) {
    reading.fault(found.pointer, 'must be an event type: an integer from 1 to 13')
  }
  if (!isMissing(name.value) && !byName) {
    reading.fault(name.pointer, `must be one of ${EVENT_TYPES.map((t) => t.eventType).join(', ')}`)
  } else if (byId && byName && byId !== byName) {
    const { eventTypeId, eventType } = byId
    reading.fault(name.pointer, `must be ${eventType}, which eventTypeId ${eventTypeId} is`)
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

/** The plain field, else the value of its `{ label, value }`. */
function findStatus(reading: Reading, find: Find, side: 'newStatus' | 'oldStatus'): Found {
  const plain = find(side)
  if (!isMissing(plain.value)) return plain
  const chosen = reading.inside(find(`${side}Object`), 'value')
  return chosen.value === undefined ? plain : chosen
}

function readFilterTags(reading: Reading, found: Found) {
  const text = reading.text(found, { max: 100_000, lines: 'many' })
  if (isMissing(text)) return text
  const tags = parseFilterTags(text)
  // Escapes in the text may hide what no string of ours may hold.
  const words = tags ? [Object.keys(tags), ...Object.values(tags)].flat() : []
  if (!tags) reading.fault(found.pointer, 'must be the text of a JSON object of arrays of strings')
  else if (words.some((word) => holdsControl(word) || !word.isWellFormed())) {
    reading.fault(found.pointer, 'must not contain control characters')
  } else return text
  return undefined
}

function readStatuses(reading: Reading, found: Found): string[] | null | undefined {
  const entries = reading.array(found, 100)
  if (!entries) return entries
  const names = entries.map((entry) => {
    if (isMissing(entry.value)) reading.fault(entry.pointer, 'must be a status')
    return reading.text(entry, { max: 100 })
  })
  return names.every((name) => typeof name === 'string') ? [...new Set(names)] : undefined
}

function readGroupIds(reading: Reading, found: Found): unknown[] | undefined {
  const entries = reading.array(found, 5000)
  if (!entries) return entries === null ? [] : undefined
  for (const entry of entries) {
    if (typeof entry.value === 'string') reading.text(entry, { max: 100 })
    else if (!Number.isSafeInteger(entry.value)) reading.fault(entry.pointer, 'must be an id')
  }
  return entries.map((entry) => entry.value)
}

/** The four lists, and the choices of the write form that empty them or say that they are not. */
function readSelections(reading: Reading, places: Place[]) {
  const choices = places.flatMap((place) => reading.object(look([place], 'allOrNoneSelect')) ?? [])
  const chosen = (found: Found) => reading.text(reading.inside(found, 'value'), { max: 100 })
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
    locationIdList: list(
      'locationIdList',
      'location',
      reading.text(look(choices, 'value'), { max: 100 }),
    ),
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
  const lists = [find('eventActions'), find('templateActions')].map((found) =>
    reading.array(found, 100),
  )
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

/** What `objectId` names: of disclaimers, the appointment they belong to or the disclaimer itself. */
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

/** Only a change of status asks for a status: elsewhere it is kept, whatever it is. */
function referToStatus(
  reading: Reading,
  definition: Pick<Definition, 'eventTypeId' | 'newStatus' | 'oldStatus'>,
  side: 'newStatus' | 'oldStatus',
  pointer: string,
) {
  const type = eventTypeById(definition.eventTypeId)
  const status = definition[side]
  if (!type?.eventType.endsWith('_CHANGED') || isMissing(status) || status === '*') return
  reading.references.push({ kind: 'status', objectType: type.objectType, id: status, pointer })
}

function referToStatuses(
  reading: Reading,
  { eventTypeId, onlyIfStatus }: Definition,
  pointer: string,
) {
  const { objectType } = eventTypeById(eventTypeId)!
  for (const [i, id] of onlyIfStatus.entries()) {
    reading.references.push({ kind: 'status', objectType, id, pointer: `${pointer}/${i}` })
  }
}

const isAboutAnotherKind = (definition: Definition, stored: Definition) =>
  definition.eventTypeId !== stored.eventTypeId || definition.objectType !== stored.objectType
