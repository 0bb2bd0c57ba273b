import type { Fault } from '../errors.ts'
import {
  isMissing,
  look,
  Reading,
  shorten,
  type Find,
  type Found,
  type Place,
  type Reference,
  type ReferenceKind,
} from './body.ts'
import { readActionAt, type ActionInput } from './event-action.ts'
import {
  DEFINITION_OBJECT_TYPES,
  EventDefinitionBody,
  kindNamed,
  LATE_POLICIES,
  OFFSET_MODES,
  TRIGGER_ANCHORS,
  type Definition,
} from './event-definition.ts'
import { CHANGES, changesOf, EVENT_TYPES, eventTypeById } from './event-type.ts'
import { findFaults } from './find-faults.ts'
import { isPlainObject } from './json.ts'
import { contradicts, isTooLong, readOffset, TOO_LONG, type Direction } from './offset.ts'

/** The values of a body. `undefined`: unchanged. A property that was cleared with `null` has its empty value. */
export type DefinitionInput = {
  [Field in keyof Definition]?: Definition[Field] | undefined
} & {
  eventDefnId?: number | undefined
  actions?: ActionInput[] | undefined
  /** Given without an offset: the stored offset must have this direction. */
  direction?: Direction | undefined
  /** The JSON pointers of properties that are checked after the merge. */
  pointers: Pointers
  /** Lists that must have an entry, and that the body does not contain: the stored list must have one. */
  selects: SelectedList[]
}

type Pointers = { [Field in (typeof MERGED)[number]]: string }
const MERGED = [
  'objectType',
  'objectId',
  'objectUUId',
  'newStatus',
  'oldStatus',
  'changes',
  'onlyIfStatus',
  'offset',
] as const
type SelectedList = 'professionalIdList' | 'reasonIdList'

type DefinitionReading = {
  definition: DefinitionInput
  faults: Fault[]
  references: Reference[]
}

/** Reads the body of `POST /eventDefinition`. The definition is valid only if there are no faults. */
export function readDefinition(body: unknown): DefinitionReading {
  const reading = new Reading(findFaults(EventDefinitionBody, body))
  const definition = isPlainObject(body) ? readInput(reading, body) : EMPTY_INPUT
  return { definition, faults: reading.faults, references: reading.references }
}

/**
 * Merges the input into the stored definition, or into a new one. Checks what depends on several
 * properties: if one changes, references of the others may have to be checked again.
 */
export function mergeDefinition(
  { eventDefnId: _id, actions: _actions, selects, pointers, direction, ...given }: DefinitionInput,
  stored?: Definition,
): { definition: Definition; faults: Fault[]; references: Reference[] } {
  const reading = new Reading()
  const definition: Definition = { ...UNSET, ...stored, ...withoutUndefined(given) }

  for (const list of selects) {
    if (definition[list].length === 0) reading.fault(`/${list}`, NOTHING_SELECTED)
  }
  if (isTooLong(definition)) reading.fault(pointers.offset, TOO_LONG)
  if (direction && contradicts(direction, definition)) {
    reading.fault(pointers.offset, 'contradicts the stored offset: send the whole offset with it')
  }
  if (definition.eventTypeId === 0 || (!stored && given.objectType === undefined)) {
    return { definition, faults: reading.faults, references: reading.references }
  }
  checkChanges(reading, definition, pointers.changes)
  const isNewKind = !stored || isAboutAnotherKind(definition, stored)
  if (isNewKind) checkObjectType(reading, definition, pointers.objectType)
  if (isNewKind || given.objectId !== undefined) {
    reading.refer(kindNamed(definition), definition.objectId, pointers.objectId)
  }
  if (definition.objectUUId !== null && definition.objectUUId !== stored?.objectUUId) {
    const { objectUUId: id } = definition
    reading.references.push({ kind: 'invitation', id, pointer: pointers.objectUUId })
  }
  // Statuses that only an inactive definition names can be removed.
  const isActivated = definition.active && !stored?.active
  if (isNewKind || isActivated || given.onlyIfStatus !== undefined) {
    referToStatuses(reading, definition, pointers.onlyIfStatus)
  }
  for (const side of ['newStatus', 'oldStatus'] as const) {
    if (isNewKind || isActivated || definition[side] !== stored[side]) {
      referToStatus(reading, definition, side, pointers[side])
    }
  }
  return { definition, faults: reading.faults, references: reading.references }
}

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
  allowPast: false,
  triggerAnchor: 'START',
  changes: [],
  onlyIfStatus: [],
}

const EMPTY_INPUT: DefinitionInput = {
  selects: [],
  pointers: Object.fromEntries(MERGED.map((name) => [name, `/${name}`])) as Pointers,
}

const NOTHING_SELECTED = 'must not be empty, because the body has the value select or none for it'

function readInput(reading: Reading, body: object): DefinitionInput {
  const top: Place = { object: body, pointer: '' }
  const nested = reading.object(look(top, 'eventType'))
  const places = nested ? [top, nested] : [top]
  const find = finderIn(reading, places)

  const active = find('active')
  const businessId = find('businessId')
  const id = find('eventDefnId')
  const isNew = isMissing(id.value)
  checkSecondId(reading, id, find('eventDefinitionId'))
  const objectType = findObjectType(reading, places, { isNew })
  const eventTypeId = readEventTypeId(reading, find, nested)
  if (isNew) {
    reading.require(active, 'send true to activate it, false to create it inactive')
    reading.require(businessId, 'the id of your business')
    reading.require(objectType, `one of ${DEFINITION_OBJECT_TYPES.join(', ')}`)
    if (nested !== undefined || isMissing(look(top, 'eventType').value)) {
      reading.require(eventTypeId, NAME_A_TYPE)
    }
  }

  const objectId = find('objectId')
  const objectUUId = find('objectUUId')
  const changes = find('changes')
  const onlyIfStatus = find('onlyIfStatus')
  const newStatus = findStatus(find, 'newStatus')
  const oldStatus = findStatus(find, 'oldStatus')
  const { offset, direction, pointer: offsetAt } = readOffset(reading, find, { isNew })
  const definition: DefinitionInput = {
    active: reading.boolean(active) ?? undefined,
    businessId: reading.id(businessId) ?? undefined,
    description: reading.text(find('description')),
    eventDefnId: reading.id(id) ?? undefined,
    eventTypeId: eventTypeId.id,
    filterTagMapJson: reading.text(find('filterTagMapJson')),
    groupIdList: unsetAs([], reading.array(find('groupIdList')))?.map((entry) => entry.value),
    newStatus: reading.text(newStatus),
    objectId: reading.id(objectId),
    objectType: reading.oneOf(objectType, DEFINITION_OBJECT_TYPES) ?? undefined,
    objectUUId: reading.text(objectUUId),
    oldStatus: reading.text(oldStatus),
    ...readSelections(reading, find, { isNew }),
    ...offset,
    direction,
    offsetMode: unsetAs('ELAPSED', reading.oneOf(find('offsetMode'), OFFSET_MODES)),
    latePolicy: unsetAs('SKIP', reading.oneOf(find('latePolicy'), LATE_POLICIES)),
    allowPast: unsetAs(false, reading.boolean(find('allowPast'))),
    triggerAnchor: unsetAs('START', reading.oneOf(find('triggerAnchor'), TRIGGER_ANCHORS)),
    changes: unsetAs([], reading.someOf(changes, CHANGES)),
    onlyIfStatus: unsetAs([], readStatuses(reading, onlyIfStatus)),
    actions: readActions(reading, find),
    pointers: {
      objectType: objectType.pointer,
      objectId: objectId.pointer,
      objectUUId: objectUUId.pointer,
      newStatus: newStatus.pointer,
      oldStatus: oldStatus.pointer,
      changes: changes.pointer,
      onlyIfStatus: onlyIfStatus.pointer,
      offset: offsetAt,
    },
  }
  reading.refer('business', definition.businessId, businessId.pointer)
  return definition
}

/** Values that count as absent, by property. */
const EMPTY_VALUES: Record<string, unknown> = {
  eventDefnId: 0,
  eventDefinitionId: 0,
  newStatus: '',
  newStatusObject: '',
  oldStatus: '',
  oldStatusObject: '',
}

/** Finds a property at the top level or inside `eventType`. */
const finderIn =
  (reading: Reading, places: Place[]): Find =>
  (...path) =>
    reading.firstGiven(...places.map((place) => readAlong(reading, place, path)))

function readAlong(reading: Reading, { object, pointer }: Place, path: string[]): Found {
  const start: Found = { value: object, pointer }
  const found = path.reduce((at, name) => reading.inside(at, name), start)
  if (found.value === EMPTY_VALUES[path[0]!]) return { ...found, value: undefined }
  const isInvitation = path[0] === 'objectType' && found.value === 'INVITATION'
  return isInvitation ? { ...found, value: 'INVITATION_CAMPAIGN' } : found
}

/** Some clients send the id of a definition under both of its names. */
function checkSecondId(reading: Reading, id: Found, second: Found) {
  const given = reading.id(second)
  if (isMissing(given) || given === id.value) return
  reading.fault(
    second.pointer,
    isMissing(id.value)
      ? 'is not read: to update a definition, send eventDefnId'
      : `must be ${shorten(id.value)}, as eventDefnId`,
  )
}

/** DISCLAIMER is the object type of event types 12 and 13. It suits any object type of a definition. */
function findObjectType(reading: Reading, places: Place[], { isNew }: { isNew: boolean }): Found {
  const isDisclaimer = (place: Place) => look(place, 'objectType').value === 'DISCLAIMER'
  const others = places.filter((place) => !isDisclaimer(place))
  const found = finderIn(reading, others.length > 0 ? others : places)('objectType')
  const isGiven = others.length > 0 && !isMissing(found.value)
  if (isGiven || others.length === places.length) return found
  return { ...found, value: isNew ? 'CALENDAR' : undefined }
}

const NAME_A_TYPE = 'send eventType: { "eventTypeId": 1 }; GET /eventType lists the event types'

/** Reads the event type by id or name. If both are given, they must agree. */
function readEventTypeId(reading: Reading, find: Find, nested: Place | null | undefined) {
  const id = find('eventTypeId')
  const name: Found = nested ? look(nested, 'eventType') : { value: undefined, pointer: '' }
  const byId = EVENT_TYPES.find(({ eventTypeId }) => eventTypeId === id.value)
  const byName = EVENT_TYPES.find(({ eventType }) => eventType === name.value)
  if (byId && byName && byId !== byName) {
    const { eventTypeId, eventType } = byId
    reading.fault(name.pointer, `must be ${eventType}, the name of eventTypeId ${eventTypeId}`)
  }
  return {
    value: id.value ?? name.value,
    pointer: '/eventType/eventTypeId',
    id: (byId ?? byName)?.eventTypeId,
  }
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
function findStatus(find: Find, side: 'newStatus' | 'oldStatus'): Found {
  const plain = find(side)
  const chosen = find(`${side}Object`, 'value')
  return isMissing(plain.value) && chosen.value !== undefined ? chosen : plain
}

function readStatuses(reading: Reading, found: Found): string[] | null | undefined {
  const entries = reading.array(found)
  return entries && [...new Set(entries.flatMap((entry) => reading.text(entry) ?? []))]
}

/**
 * Reads the four lists. The value `all` empties a list. With `select` or `none`, staff and services must
 * have entries: an empty list would select everything.
 */
function readSelections(reading: Reading, find: Find, { isNew }: { isNew: boolean }) {
  const selects: SelectedList[] = []
  const read = (name: ListName, kind: ReferenceKind, choice: unknown) => {
    const found = find(name)
    const ids = unsetAs([], reading.ids(found))
    if (choice === 'all') return []
    if (isSelectable(name) && (choice === 'select' || choice === 'none')) {
      if (ids?.length === 0 || (isNew && found.value === undefined)) {
        reading.fault(found.pointer, NOTHING_SELECTED)
      } else if (found.value === undefined) selects.push(name)
    }
    if (ids) reading.referAll(kind, ids, found.pointer)
    return ids
  }
  const choiceOf = (name: 'staff' | 'reasons') =>
    reading.firstGiven(find(name, 'value'), find('allOrNoneSelect', name, 'value')).value
  const forms = find('allOrNoneSelect', 'disclaimerForms', 'value').value
  return {
    disclaimerFormIdList: read('disclaimerFormIdList', 'disclaimerForm', forms),
    locationIdList: read('locationIdList', 'location', find('allOrNoneSelect', 'value').value),
    professionalIdList: read('professionalIdList', 'professional', choiceOf('staff')),
    reasonIdList: read('reasonIdList', 'reason', choiceOf('reasons')),
    selects,
  }
}

type ListName = 'disclaimerFormIdList' | 'locationIdList' | SelectedList

const isSelectable = (name: ListName): name is SelectedList =>
  name === 'professionalIdList' || name === 'reasonIdList'

function readActions(reading: Reading, find: Find) {
  const lists = [find('eventActions'), find('templateActions')].map((found) => reading.array(found))
  if (lists.every(isMissing)) return undefined
  return lists
    .flatMap((list) => list ?? [])
    .map((entry) => readActionAt(reading, entry, { linked: false }))
}

/** Only the CHANGED types use them. The others store them, so that the type can be changed later. */
function referToStatus(
  reading: Reading,
  definition: Definition,
  side: 'newStatus' | 'oldStatus',
  pointer: string,
) {
  const { objectType } = eventTypeById(definition.eventTypeId)!
  const id = definition[side]
  if (id === null || id === '*') return
  reading.references.push({ kind: 'status', objectType, id, pointer, canBeAny: true })
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
