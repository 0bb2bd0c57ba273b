import { readRemindersToPlan, scheduleTriggers } from '../automation/schedule.ts'
import {
  bodyOf,
  externalName,
  lineOf,
  readObject,
  type ObjectInput,
} from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound, RequestError, type Fault } from '../errors.ts'
import { replaceClientWords } from '../store/client-words.ts'
import { lockPlans, lockSettings } from '../store/event-definitions.ts'
import type { ReminderRow } from '../store/planned-triggers.ts'
import {
  drawObjectIds,
  idIn,
  insertObjects,
  lockObjectsForUpdate,
  ofKind,
  updateObjects,
  type StoredObject,
} from '../store/objects.ts'
import type { Status } from '../store/statuses.ts'
import { buildSubject } from '../store/subject.ts'
import { findHidingProperty } from '../store/visibility.ts'
import { withBookingTerms } from './booking-terms.ts'
import { strayLocations, strayStudents, withAttendance } from './inner-references.ts'
import {
  faultsInBody,
  faultsOfTemplate,
  readTemplateBody,
  storedTemplate,
} from './email-templates.ts'
import { countDecimals } from '../contract/currency-digits.ts'
import { hasAtMostDecimals } from '../contract/fields.ts'
import { isSame } from '../contract/json.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { eventsOf } from './events.ts'
import { attachmentFaults } from './files.ts'
import { followChanges } from './follow.ts'
import { resolveReferences, unknownReferences, type References } from './references.ts'
import type { Allow, SaveOutcome, Saving } from './saving.ts'

/** Saves one object; throws if it is refused. */
export async function saveObject(
  tx: Db,
  kind: ObjectKind,
  body: unknown,
  saving: Saving,
  allow?: Allow,
) {
  const [outcome] = await saveObjects(tx, kind, [body], saving, allow ? [allow] : [])
  if (outcome!.refused) throw outcome!.refused
  return outcome!
}

/**
 * Saves objects of one kind and schedules the triggers of their changes, in the caller's transaction. A
 * faulty body does not affect the others. `allows` belong to the bodies of the same index.
 */
export async function saveObjects(
  tx: Db,
  kind: ObjectKind,
  bodies: unknown[],
  saving: Saving,
  allows: (Allow | undefined)[] = [],
): Promise<SaveOutcome[]> {
  const requests = await readBodies(kind, bodies, saving, allows)
  const outcomes: SaveOutcome[] = []
  const conflicted = new Set<number>()
  for (let open = [...requests.keys()]; open.length > 0;) {
    const round = open.map((index) => requests[index]!)
    const results = await writeFirsts(tx, kind, round, saving)
    open = open.filter((index, i) => {
      const result = results[i]!
      if (result === 'repeated') return true
      if (result === 'conflict' && !conflicted.has(index)) return conflicted.add(index)
      // An object that the caller cannot see has the externalId.
      outcomes[index] = result === 'conflict' ? { refused: invalid(TAKEN) } : result
      return false
    })
  }
  return outcomes
}

const TAKEN = [{ pointer: '/externalId', detail: 'is taken by another object' }]

type SaveRequest = { body: unknown; input: ObjectInput; allow: Allow | undefined }

/**
 * The outcome of a body, or why it must be saved again: another body of the round is about the same
 * object, or another transaction has just created an object with its externalId.
 */
type RoundResult = SaveOutcome | 'repeated' | 'conflict'

/** Writes the first body about each object. */
async function writeFirsts(
  tx: Db,
  kind: ObjectKind,
  requests: SaveRequest[],
  saving: Saving,
): Promise<RoundResult[]> {
  lockPlansAndSettings(tx, kind, saving)
  const findCurrent = await lockCurrent(tx, kind, requests, saving)
  const firsts = withoutRepeats(requests, findCurrent)
  const inputs = firsts.map(({ input }) => input)
  const current = inputs.flatMap((input) => findCurrent(input) ?? [])
  const [references, newIds] = await Promise.all([
    resolveReferences(tx, kind, inputs, current, saving),
    drawObjectIds(tx, kind, inputs.length - current.length),
  ])
  const decide = decider(kind, references, newIds.values(), saving)
  const outcomes = new Map(
    firsts.map((request) => [request, decide(request, findCurrent(request.input))]),
  )
  const changes = onlyChanges(outcomes.values())
  const isNew = ({ before }: ObjectChange) => !before
  const [created, changed] = [changes.filter(isNew), changes.filter((one) => !isNew(one))]
  // The reminders are read first: they are planned again while the server writes the changes.
  const reading = readRemindersOf(tx, kind, changed, references, saving)
  updateObjects(tx, kind, changed.map(objectOf))
  const [reminders, conflicts] = await Promise.all([
    reading,
    insertObjects(tx, kind, created.map(objectOf)),
  ])
  for (const [request, outcome] of outcomes) {
    if (!outcome.refused && conflicts.includes(outcome.object)) outcomes.delete(request)
  }
  const written = onlyChanges(outcomes.values())
  await scheduleFollowUps(tx, kind, written, { ...references, reminders }, saving)
  const wasTried = new Set(firsts)
  return requests.map(
    (request) => outcomes.get(request) ?? (wasTried.has(request) ? 'conflict' : 'repeated'),
  )
}

async function readBodies(
  kind: ObjectKind,
  bodies: unknown[],
  { areLines, businessId }: Saving,
  allows: (Allow | undefined)[],
): Promise<SaveRequest[]> {
  const schema = areLines ? lineOf(kind) : bodyOf(kind)
  const requests: SaveRequest[] = []
  for (const [i, body] of bodies.entries()) {
    if (isSliceOver()) await nextSlice()
    const given = kind.kind === 'emailTemplate' ? readTemplateBody(body) : body
    const input = readObject(kind, given, businessId, schema)
    requests.push({ body, input, allow: allows[i] })
  }
  return requests
}

/** Takes these locks before any row; see docs/engine.md, lock order. */
function lockPlansAndSettings(tx: Db, kind: ObjectKind, { businessId }: Saving) {
  if (kind.objectType) lockPlans(tx, businessId)
  if (SETTINGS.has(kind.kind)) lockSettings(tx, businessId)
}

/** A change of these may change how definitions are planned. */
const SETTINGS = new Set(['location', 'professional', 'reason', 'invitationCampaign'])

type FindCurrent = (input: ObjectInput) => StoredObject | undefined

/** Locks the objects that the bodies name, by id or else by externalId. */
async function lockCurrent(
  tx: Db,
  kind: ObjectKind,
  requests: SaveRequest[],
  { businessId, visibility = null }: Saving,
): Promise<FindCurrent> {
  const objects = await lockObjectsForUpdate(tx, businessId, kind, {
    ids: requests.flatMap(({ input }) => input.id ?? []),
    externalIds: requests.flatMap(({ input }) => input.externalId ?? []),
    visibility,
  })
  const byId = new Map(objects.map((object) => [object[kind.id], object]))
  const byExternalId = new Map(objects.map((object) => [object.externalId, object]))
  return ({ id, externalId }) =>
    id === undefined ? (externalId && byExternalId.get(externalId)) || undefined : byId.get(id)
}

/** Removes bodies that are about the same object as an earlier body of the batch. */
function withoutRepeats(requests: SaveRequest[], findCurrent: FindCurrent) {
  const seen = new Set<unknown>()
  return requests.filter(({ input }) => {
    const names = [findCurrent(input), input.externalId].filter((name) => name != null)
    const isRepeated = names.some((name) => seen.has(name))
    for (const name of names) seen.add(name)
    return !isRepeated
  })
}

/** Returns the function that merges a body into its object, or refuses it. */
const decider =
  (kind: ObjectKind, references: References, newIds: Iterator<number | string>, saving: Saving) =>
  ({ body, input, allow }: SaveRequest, before: StoredObject | undefined): SaveOutcome => {
    const refused = refusalOf(allow, before)
    if (refused) return { refused }
    if (input.id !== undefined && !before) return { refused: notFound(kind.title, input.id) }
    const base = before ?? newObject(kind, newIds.next().value!, body, saving)
    const { settings } = references
    const completed = complete(kind, input, base, settings, saving)
    const object = mergeInput(completed, base, saving)
    const mirrored = before && mirroredRefusal(kind, object, before, references, saving)
    if (mirrored) return { refused: mirrored }
    const faults = [
      ...completed.faults,
      ...missingProperties(kind, completed, before),
      ...unknownReferences(kind, body, completed, before, references),
      ...unknownFiles(kind, object, before, completed, references),
      ...unknownStatus(
        completed,
        (kind.objectType && settings.statuses.get(kind.objectType)) ?? [],
      ),
    ]
    faults.push(...faultsOfPrice(object, faults))
    faults.push(...contradictions(kind, object, faults, input, saving))
    faults.push(...invisibleFaults(kind, object, faults, saving))
    const isTemplate = kind.kind === 'emailTemplate'
    if (faults.length > 0) {
      return { refused: invalid(isTemplate ? faultsInBody(body, faults) : faults) }
    }
    if (!isTemplate) return { object, before }
    const stored = storedTemplate(object, before, input.values.emailBody, saving.html ?? new Map())
    return { object: stored, before }
  }

function complete(
  kind: ObjectKind,
  input: ObjectInput,
  base: StoredObject,
  { services }: References['settings'],
  saving: Saving,
): ObjectInput {
  const appointment = ofKind('calendar', kind, base)
  if (appointment) {
    const completed = withBookingTerms(input, appointment, services, saving)
    return withPreviousStart(completed, appointment)
  }
  const lesson = ofKind('classSchedule', kind, base)
  return lesson ? withPreviousStart(withAttendance(input, lesson), lesson) : input
}

/** Remembers the start of a visit that moves, for the mail that says so. */
function withPreviousStart(input: ObjectInput, base: StoredObject): ObjectInput {
  const { startTime } = input.values
  const before = base.startTime
  if (!(startTime instanceof Temporal.Instant) || !(before instanceof Temporal.Instant))
    return input
  if (startTime.equals(before)) return input
  return { ...input, values: { ...input.values, previousStartTime: before } }
}

/** What a mirrored object takes from its source. */
const MIRRORED = [
  ['startTime', 'time'],
  ['endTime', 'time'],
  ['clientId', 'client'],
  ['clientIdList', 'students'],
  ['professionalId', 'member of staff'],
  ['reasonId', 'service'],
  ['locationId', 'location'],
] as const

/** A change here would be undone, or contradict the source; see docs/feeds.md. */
function mirroredRefusal(
  { title }: ObjectKind,
  object: StoredObject,
  before: StoredObject,
  { feedNames }: References,
  { feedId, answers }: Saving,
) {
  if (typeof before.feedId !== 'number' || feedId !== undefined || object === before) return
  const changed = MIRRORED.filter(([property]) => !isSame(object[property], before[property]))
    .filter(([property]) => !(answers && property === 'clientIdList'))
    .map(([, name]) => name)
  const isDeleted = before.active && !object.active
  if (changed.length === 0 && !isDeleted) return
  const action = isDeleted ? 'Delete it' : `Change its ${[...new Set(changed)].join(', ')}`
  const detail = `This ${title} comes from the feed “${feedNames.get(before.feedId)}”. ${action} in the source of the feed.`
  return new RequestError(409, detail, undefined, {}, 'mirrored')
}

function refusalOf(allow: Allow | undefined, current: StoredObject | undefined) {
  try {
    allow?.(current)
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
}

function newObject(
  kind: ObjectKind,
  id: number | string,
  body: unknown,
  { businessId, user, now, recordedAt }: Saving,
): StoredObject {
  return {
    ...kind.initially,
    [kind.id]: id,
    businessId,
    externalId: null,
    active: true,
    version: 0,
    createdDate: recordedAt?.(body as Record<string, unknown>) ?? now,
    createdUser: user,
    modifiedDate: now,
    modifiedUser: user,
  }
}

/** The object after the save; the stored one itself if nothing changes. */
function mergeInput(
  input: ObjectInput,
  base: StoredObject,
  { user, now, feedId, answers }: Saving,
): StoredObject {
  const merged: StoredObject = {
    ...base,
    ...input.values,
    ...(feedId !== undefined && { feedId }),
    ...(answers && { answers }),
    externalId: input.externalId === undefined ? base.externalId : input.externalId,
    // An object that is named by its externalId alone exists in the other system: it is restored.
    active: input.active ?? (input.id === undefined || base.active),
  }
  if (base.version > 0 && isSame(base, merged)) return base
  merged.version = base.version + 1
  merged.modifiedDate = now
  merged.modifiedUser = user
  return merged
}

function missingProperties(
  kind: ObjectKind,
  { values, faults }: ObjectInput,
  before: StoredObject | undefined,
): Fault[] {
  if (before) return []
  const faulty = new Set(faults.map((fault) => fault.pointer.split('/')[1]))
  return kind.required
    .filter((property) => !(property in values))
    .filter((property) => !faulty.has(property) && !faulty.has(externalName(property)))
    .map((property) => ({ pointer: `/${property}`, detail: 'is required' }))
}

/** Faults of an active template's files. A template stored earlier may name files that never existed. */
function unknownFiles(
  kind: ObjectKind,
  object: StoredObject,
  before: StoredObject | undefined,
  { values, faults }: ObjectInput,
  { files }: References,
): Fault[] {
  const template = ofKind('emailTemplate', kind, object)
  if (!template) return []
  const isGiven = values.attachFileLibraryUUids !== undefined
  const isRevived = before?.active === false
  const isFaulty = faults.some(({ pointer }) => pointer.startsWith('/attachFileLibraryUUids'))
  if (isFaulty || !object.active || !(isGiven || isRevived)) return []
  return attachmentFaults(template.attachFileLibraryUUids, files)
}

function unknownStatus({ values: { status } }: ObjectInput, statuses: Status[]): Fault[] {
  if (status === undefined) return []
  const usable = statuses.filter((known) => known.active).map((known) => known.status)
  if (usable.some((known) => known === status)) return []
  return [{ pointer: '/status', detail: `must be one of ${usable.join(', ')}` }]
}

/** Faults of several properties together; only reported if each is valid alone. */
function contradictions(
  kind: ObjectKind,
  object: StoredObject,
  faults: Fault[],
  input: ObjectInput,
  { html = new Map() }: Saving,
): Fault[] {
  if (kind.kind === 'emailTemplate') {
    return faultsOfTemplate(object, input.values.emailBody, html).filter(
      (fault) => !faults.some(({ pointer }) => pointer === fault.pointer),
    )
  }
  const staff = ofKind('professional', kind, object)
  if (staff) return faults.length > 0 ? [] : strayLocations(staff)
  const lesson = ofKind('classSchedule', kind, object)
  const stray = lesson && faults.length === 0 ? strayStudents(lesson) : []
  if (stray.length > 0) return stray
  const { startTime, endTime } = object
  if (!(startTime instanceof Temporal.Instant) || !(endTime instanceof Temporal.Instant)) return []
  if (faults.some((fault) => /^\/(start|end)Time/.test(fault.pointer))) return []
  if (Temporal.Instant.compare(endTime, startTime) > 0) return []
  return [{ pointer: '/endTime', detail: 'must be after startTime' }]
}

/** Two decimals are always accepted: prices in yen with decimals were, before the currency decided. */
function faultsOfPrice({ price, currency }: StoredObject, faults: Fault[]): Fault[] {
  if (typeof price !== 'number') return []
  if (faults.some(({ pointer }) => pointer === '/price' || pointer === '/currency')) return []
  const decimals = Math.max(2, countDecimals(typeof currency === 'string' ? currency : null))
  if (hasAtMostDecimals(price, decimals)) return []
  const detail =
    decimals === 2 ? 'must have at most two decimals' : `must have at most ${decimals} decimals`
  return [{ pointer: '/price', detail }]
}

/** Callers cannot create objects that they would not see. */
function invisibleFaults(
  kind: ObjectKind,
  object: StoredObject,
  faults: Fault[],
  { visibility = null }: Saving,
): Fault[] {
  const property = findHidingProperty(kind, object, visibility)
  const pointer = `/${property}`
  if (!property || faults.some((fault) => fault.pointer === pointer)) return []
  const whose = property === 'locationId' ? 'one of your locations' : 'yourself'
  return [{ pointer, detail: `must be ${whose}` }]
}

type ObjectChange = { object: StoredObject; before: StoredObject | undefined }

const onlyChanges = (outcomes: Iterable<SaveOutcome>): ObjectChange[] =>
  [...outcomes].flatMap((outcome) =>
    outcome.refused || outcome.object === outcome.before ? [] : outcome,
  )

const objectOf = ({ object }: ObjectChange) => object

async function readRemindersOf(
  tx: Db,
  kind: ObjectKind,
  changes: ObjectChange[],
  { settings }: References,
  { businessId }: Saving,
) {
  const { objectType } = kind
  const ids = changes.map(({ object }) => idIn(kind, object))
  if (!objectType || ids.length === 0) return []
  const definitions = settings.definitions.get(objectType) ?? []
  return readRemindersToPlan(tx, businessId, objectType, ids, definitions)
}

/** Schedules the triggers of saved objects. Changed settings or tags can move reminders of others. */
async function scheduleFollowUps(
  tx: Db,
  kind: ObjectKind,
  changes: ObjectChange[],
  { settings, tagsOf, campaignEndOf, reminders }: References & { reminders: ReminderRow[] },
  saving: Saving,
) {
  if (changes.length === 0) return
  const { objectType } = kind
  if (!objectType) {
    const clients = changes.flatMap(({ object }) => ofKind('client', kind, object) ?? [])
    if (clients.length > 0) await replaceClientWords(tx, saving.businessId, clients)
    await followChanges(tx, kind, changes, saving)
    return
  }
  const definitions = settings.definitions.get(objectType) ?? []
  if (definitions.length === 0) return
  const subjectOf = (object: StoredObject) =>
    buildSubject(objectType, object, {
      settings,
      clientTags: tagsOf(object.clientId),
      campaignExpiresTime: campaignEndOf(object.invitationCampaignId),
    })
  const saved = changes.map(({ object, before }) => ({
    subject: subjectOf(object),
    version: object.version,
    before: before && subjectOf(before),
    ...(saving.history ? { events: [], changes: [] } : eventsOf(objectType, before, object)),
  }))
  await scheduleTriggers(tx, { saved, definitions, reminders }, saving)
}
