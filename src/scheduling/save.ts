import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { scheduleTriggers, type SavedObject } from '../automation/schedule.ts'
import { objectIdOf, type Subject } from '../store/subject.ts'
import {
  bodyOf,
  externalName,
  lineOf,
  readObject,
  type ObjectInput,
} from '../contract/object-body.ts'
import { objectKind, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound, RequestError, type Fault } from '../errors.ts'
import {
  insertObjects,
  lockObjects,
  sendObjects,
  updateObjects,
  updateSubjects,
  type ChangedObject,
  type StoredObject,
} from '../store/objects.ts'
import { replaceClientWords } from '../store/client-words.ts'
import { findHidingProperty, type Visibility } from '../store/visibility.ts'
import { readBasis, type Basis, type ServicePrice } from '../store/basis.ts'
import { lockPlans, lockSettings, type StoredDefinition } from '../store/event-definitions.ts'
import type { Status } from '../store/statuses.ts'
import { fillBookingTerms } from './booking-terms.ts'
import {
  faultsOfTemplate,
  readTemplateBody,
  storedTemplate,
  type HtmlChecks,
} from './email-templates.ts'
import { eventsOf, isSame } from './events.ts'
import { readExternalReferences } from './external-references.ts'
import { followChanges } from './follow.ts'
import { subjectOf, type Nearby } from './subject-of.ts'

export type Saving = {
  businessId: number
  user: string
  now: Temporal.Instant
  /** The part of the business that the caller sees; what is outside is missing. */
  visibility?: Visibility
  /** Of templates: what `checkHtmlOf` found. */
  html?: HtmlChecks
  /** History is imported without events: nothing was created or changed just now. */
  history?: boolean
  /** The bodies are lines of an import, which may name objects by the refs of other lines. */
  areLines?: boolean
  /** When a new object was really created, where that is known and believed. */
  recordedAt?: (body: Record<string, unknown>) => Temporal.Instant | undefined
}

export type Outcome =
  | { refused: RequestError }
  | { refused?: never; object: StoredObject; before: StoredObject | undefined }

/** Sees an object as it is, under its lock, and throws where it may not be changed. */
export type Allow = (current: StoredObject | undefined) => void

/**
 * Saves objects of one kind, with everything that follows from their changes, in the caller's
 * transaction. One body and a thousand take the same road; a bad one is refused by itself.
 * `allows`, where there are any, belong to the bodies one by one.
 */
export async function saveObjects(
  tx: Db,
  kind: ObjectKind,
  bodies: unknown[],
  saving: Saving,
  allows: (Allow | undefined)[] = [],
  round = 1,
): Promise<Outcome[]> {
  const outcomes: (Outcome | undefined)[] = []
  const of = <T>(all: T[], places: number[]) => places.map((place) => all[place]!)
  await inTurn(pagesOf(kind, bodies), async (places) => {
    const [some, guards] = [of(bodies, places), of(allows, places)]
    const saved = await saveEachOnce(tx, kind, some, saving, guards, round)
    places.forEach((place, i) => (outcomes[place] = saved[i]))
  })
  const again = bodies.flatMap((_, place) => (outcomes[place] ? [] : place))
  if (again.length > 0) {
    const later = await saveObjects(
      tx,
      kind,
      of(bodies, again),
      saving,
      of(allows, again),
      round + 1,
    )
    again.forEach((place, i) => (outcomes[place] = later[i]))
  }
  return outcomes as Outcome[]
}

/**
 * Many objects are saved page by page, in the order of their ids: while the server writes one page,
 * the next is worked out. Where two bodies may be about the same object all stay together.
 */
function pagesOf(kind: ObjectKind, bodies: unknown[]): number[][] {
  const places = [...bodies.keys()]
  if (bodies.length <= PAGE || !kind.objectType) return [places]
  const ids = bodies.map((body) => (body as Record<string, unknown> | null)?.[kind.id])
  const isByItself = ids.every((id, place) => typeof id === 'number' && !hasName(bodies[place]))
  if (!isByItself || new Set(ids).size < ids.length) return [places]
  const inOrder = places.toSorted((a, b) => (ids[a] as number) - (ids[b] as number))
  const pages: number[][] = []
  for (let at = 0, size = FIRST_PAGE; at < places.length; at += size, size = next(size)) {
    pages.push(inOrder.slice(at, at + size))
  }
  return pages
}

/** The server waits for the first page; each of the others is worked out while it is busy. */
const FIRST_PAGE = 60
const next = (size: number) => Math.min(2 * size, PAGE)

const PAGE = 160

const hasName = (body: unknown) => (body as Record<string, unknown>).externalId !== undefined

/**
 * Each begins when what the one before asks for has left. Ends when all have ended, or what is still
 * under way would go on in a transaction that is over.
 */
async function inTurn<T>(pages: T[], work: (page: T) => Promise<void>) {
  // The first to fail is why the others do.
  let failure: { error: unknown } | undefined
  const underWay: Promise<unknown>[] = []
  for (const page of pages) {
    if (underWay.length > 0) await setImmediate()
    underWay.push(work(page).catch((error: unknown) => (failure ??= { error })))
  }
  await Promise.all(underWay)
  if (failure) throw failure.error
}

/** The same, but what names an object that another of these bodies has just written is left out. */
export async function saveEachOnce(
  tx: Db,
  kind: ObjectKind,
  bodies: unknown[],
  saving: Saving,
  allows: (Allow | undefined)[] = [],
  round = 1,
): Promise<(Outcome | undefined)[]> {
  const schema = saving.areLines ? lineOf(kind) : bodyOf(kind)
  const inputs = bodies.map((body) =>
    readObject(kind, prepare(kind, body), saving.businessId, schema),
  )
  // Shared with every other save; a definition that is being saved waits for it, and it for that.
  if (kind.objectType) lockPlans(tx, saving.businessId)
  if (SETTINGS.has(kind.kind)) lockSettings(tx, saving.businessId)
  const found = await readExternalReferences(tx, saving.businessId, kind, inputs)
  const asked = {
    wanted: referredTo(kind, inputs, found),
    count: inputs.filter((input) => input.id === undefined).length,
  }
  const [basis, existing] = await Promise.all([
    readBasis(tx, saving.businessId, kind, asked),
    lockExisting(tx, kind, inputs, saving),
  ])
  const isKnown = (named: string) => basis.known.has(named) || found.has(named)
  const priceOf = (reasonId: number) =>
    basis.known.get(`reason:${reasonId}`) as ServicePrice | undefined
  const ids = basis.ids.values()
  const surroundings = surroundingsOf(kind, basis)
  const { statuses } = surroundings

  const taken = new Set<StoredObject>()
  const outcomes = inputs.map((input, place): Outcome | undefined => {
    const before = existing(input)
    // The same object once more: its turn comes when the first change of it is written.
    if (before && taken.has(before)) return undefined
    const refused = refusalOf(allows[place], before)
    if (refused) return { refused }
    if (input.id !== undefined && !before) return { refused: notFound(kind.title, input.id) }
    const base = before ?? blank(kind, freshId(kind, ids), bodies[place], saving)
    if (kind.kind === 'calendar') fillBookingTerms(input, base, priceOf)
    const faults = [
      ...input.faults,
      ...missing(kind, input, before),
      ...foreign(kind, bodies[place], input, isKnown),
      ...unknownStatus(input, statuses),
    ]
    const object = merge(input, base, saving)
    const html = saving.html ?? new Map()
    faults.push(...contradictions(kind, object, faults, input, html))
    faults.push(...invisibleFaults(kind, object, faults, saving.visibility ?? null))
    if (faults.length > 0) return { refused: invalid(faults) }
    if (before) taken.add(before)
    if (kind.kind === 'emailTemplate') {
      const { emailBody } = input.values
      return { object: storedTemplate(object, before, emailBody, html), before }
    }
    return { object, before }
  })

  // Another body or transaction took the same `externalId` first: now it is there, and these are
  // updates.
  const lost = await write(tx, kind, outcomes, surroundings, saving)
  // What is there and still not seen is outside the caller's visibility.
  const ending = round > 1 ? { refused: invalid(TAKEN) } : undefined
  for (const place of lost) outcomes[place] = ending
  return outcomes
}

/** A change of these may change how definitions are planned; see docs/engine.md, lock order. */
const SETTINGS = new Set(['location', 'professional', 'reason', 'invitationCampaign'])

function refusalOf(allow: Allow | undefined, current: StoredObject | undefined) {
  try {
    allow?.(current)
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
}

const TAKEN = [{ pointer: '/externalId', detail: 'is taken by another object' }]

/** Nobody books for those whose appointments they do not see. */
function invisibleFaults(
  kind: ObjectKind,
  object: StoredObject,
  faults: Fault[],
  visibility: Visibility,
): Fault[] {
  const property = findHidingProperty(kind, object, visibility)
  const pointer = `/${property}`
  if (!property || faults.some((fault) => fault.pointer === pointer)) return []
  const whose = property === 'locationId' ? 'one of your locations' : 'yourself'
  return [{ pointer, detail: `must be ${whose}` }]
}

/** Saves one object or throws what is wrong with it; `allow` sees it as it is, under its lock. */
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

/** An object may be written in more than one way; this is the one that is kept. */
function prepare(kind: ObjectKind, body: unknown): unknown {
  return kind.kind === 'emailTemplate' ? readTemplateBody(body) : body
}

async function lockExisting(tx: Db, kind: ObjectKind, inputs: ObjectInput[], saving: Saving) {
  const ids = inputs.flatMap((input) => input.id ?? [])
  const externalIds = inputs.flatMap((input) => input.externalId ?? [])
  const rows =
    ids.length + externalIds.length === 0
      ? []
      : await lockObjects(tx, saving.businessId, kind, {
          ids,
          externalIds,
          visibility: saving.visibility ?? null,
        })
  const byId = new Map(rows.map((row) => [row[kind.id], row]))
  const byExternalId = new Map(rows.map((row) => [row.externalId, row]))
  return (input: ObjectInput) =>
    input.id === undefined
      ? input.externalId
        ? byExternalId.get(input.externalId)
        : undefined
      : byId.get(input.id)
}

/** Every id that is referred to and not yet found. */
function referredTo(kind: ObjectKind, inputs: ObjectInput[], found: Set<string>) {
  const wanted = new Map<ObjectKind, Set<number>>()
  for (const { property, refersTo } of kind.references) {
    const target = objectKind(refersTo)!
    const ids = wanted.get(target) ?? new Set()
    // What triggers depend on is read even where its id is found already.
    const isFound = (id: number) => found.has(`${refersTo}:${id}`)
    const isNeeded = kind.objectType !== undefined && NEEDED_OF.has(refersTo)
    const ask = (id: number) => void ((isFound(id) && !isNeeded) || ids.add(id))
    for (const { values } of inputs) {
      const value = values[property] as number | number[] | null | undefined
      if (typeof value === 'number') ask(value)
      else for (const id of value ?? []) ask(id)
    }
    if (ids.size > 0) wanted.set(target, ids)
  }
  return wanted
}

const NEEDED_OF = new Set(['client', 'reason', 'location', 'invitationCampaign'])

function missing(kind: ObjectKind, input: ObjectInput, before: StoredObject | undefined): Fault[] {
  if (before || kind.required.every((property) => property in input.values)) return []
  const told = new Set(input.faults.map((fault) => fault.pointer.split('/')[1]))
  return kind.required
    .filter((property) => !(property in input.values))
    .filter((property) => !told.has(property) && !told.has(externalName(property)))
    .map((property) => ({ pointer: `/${property}`, detail: 'is required' }))
}

/** The same answer for an id that is missing and for one of another business. */
function foreign(
  kind: ObjectKind,
  body: unknown,
  input: ObjectInput,
  isKnown: (named: string) => boolean,
): Fault[] {
  const faults: Fault[] = []
  for (const { property, refersTo } of kind.references) {
    const value = input.values[property] as number | number[] | null | undefined
    const refuse = (id: number, pointer: string) =>
      faults.push({ pointer, detail: `there is no ${objectKind(refersTo)!.title} ${id}` })
    if (typeof value === 'number') {
      if (!isKnown(`${refersTo}:${value}`)) refuse(value, `/${property}`)
    } else {
      const unknown = value?.filter((id) => !isKnown(`${refersTo}:${id}`)) ?? []
      if (unknown.length === 0) continue
      // Its place is that in the body, where an id may stand twice.
      const given = (body as Record<string, number[]>)[property] ?? []
      const places = new Map(given.map((id, i) => [id, i] as const).toReversed())
      for (const id of unknown) refuse(id, `/${property}/${places.get(id)}`)
    }
  }
  return faults
}

function unknownStatus(input: ObjectInput, statuses: Status[]): Fault[] {
  const { status } = input.values
  if (status === undefined) return []
  if (statuses.some((known) => known.active && known.status === status)) return []
  const usable = statuses.filter((known) => known.active).map((known) => known.status)
  return [{ pointer: '/status', detail: `must be one of ${usable.join(', ')}` }]
}

/** An object of which nothing is said yet. */
function blank(
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

/** The object as it becomes; itself where that is nothing new. */
function merge(input: ObjectInput, base: StoredObject, { user, now }: Saving): StoredObject {
  const merged: StoredObject = {
    ...base,
    ...input.values,
    externalId: input.externalId === undefined ? base.externalId : input.externalId,
    active: input.active ?? base.active,
  }
  if (base.version > 0 && isSame(base, merged)) return base
  merged.version = base.version + 1
  merged.modifiedDate = now
  merged.modifiedUser = user
  return merged
}

/** What several properties together get wrong; told only where each by itself is right. */
function contradictions(
  kind: ObjectKind,
  object: StoredObject,
  faults: Fault[],
  input: ObjectInput,
  html: HtmlChecks,
): Fault[] {
  if (kind.kind === 'emailTemplate') {
    return newFaults(faultsOfTemplate(object, input.values.emailBody, html), faults)
  }
  const { startTime, endTime } = object
  if (!(startTime instanceof Temporal.Instant) || !(endTime instanceof Temporal.Instant)) return []
  if (faults.some((fault) => /^\/(start|end)Time/.test(fault.pointer))) return []
  if (Temporal.Instant.compare(endTime, startTime) > 0) return []
  return [{ pointer: '/endTime', detail: 'must be after startTime' }]
}

/** A property that is wrong by itself is not complained of twice. */
const newFaults = (found: Fault[], known: Fault[]) =>
  found.filter((fault) => !known.some(({ pointer }) => pointer === fault.pointer))

type Good = Extract<Outcome, { object: StoredObject }>

/** Writes what changed, and what follows from it. Gives back the places that must be tried again. */
async function write(
  tx: Db,
  kind: ObjectKind,
  outcomes: (Outcome | undefined)[],
  surroundings: Surroundings,
  saving: Saving,
) {
  const good = outcomes.filter((outcome): outcome is Good => !!outcome && !outcome.refused)
  const created = good.filter((outcome) => !outcome.before)
  const changed = good.filter(
    (outcome): outcome is Good & ChangedObject =>
      outcome.before !== undefined && outcome.before !== outcome.object,
  )
  const rowsOf = (some: Good[]) => some.map((outcome) => outcome.object)
  const isAskedFor = surroundings.definitions.length > 0
  if (kind.objectType && isAskedFor) {
    const [inserted, updated] = await Promise.all([
      insertAll(tx, kind, rowsOf(created)),
      changed.length > 0 ? updateSubjects(tx, kind, changed) : [],
    ])
    const fresh = created.filter(({ object }) => inserted.has(object[kind.id] as number))
    const subjects = new Map(updated.map((each) => [objectIdOf(each) as number, each]))
    for (const { object } of fresh) {
      subjects.set(object[kind.id] as number, subjectOf(kind, object, surroundings))
    }
    const kept = [...fresh, ...changed]
    if (kept.length > 0) await plan(tx, kind, kept, subjects, surroundings, saving)
    return created
      .filter((outcome) => !fresh.includes(outcome))
      .map((lost) => outcomes.indexOf(lost))
  }
  const [inserted] = await Promise.all([
    created.length > 0 ? insertObjects(tx, kind, rowsOf(created)) : new Set(),
    changed.length > 0 && updateObjects(tx, kind, changed),
  ])
  const isKept = ({ object }: Good) => inserted.has(object[kind.id] as number)
  const kept = [...created.filter(isKept), ...changed]
  if (kept.length > 0) await follow(tx, kind, kept, saving)
  return created.filter((outcome) => !isKept(outcome)).map((lost) => outcomes.indexOf(lost))
}

/** The ids that were written. Without an `externalId` all are, so nobody need wait to know. */
async function insertAll(tx: Db, kind: ObjectKind, rows: StoredObject[]) {
  if (rows.some((row) => row.externalId !== null)) return insertObjects(tx, kind, rows)
  if (rows.length > 0) sendObjects(tx, kind, rows)
  return new Set(rows.map((row) => row[kind.id] as number | string))
}

async function follow(tx: Db, kind: ObjectKind, saved: Good[], saving: Saving) {
  if (kind.kind === 'client') {
    const clients = saved.map((outcome) => outcome.object)
    await replaceClientWords(tx, saving.businessId, clients)
  }
  const changes = saved.filter(
    (outcome): outcome is Good & ChangedObject => outcome.before !== undefined,
  )
  if (changes.length > 0) await followChanges(tx, kind, changes, saving)
}

function plan(
  tx: Db,
  { id, objectType }: ObjectKind,
  saved: Good[],
  subjects: Map<number, Subject>,
  { definitions, statuses }: Surroundings,
  saving: Saving,
) {
  const objects = saved.map(({ before, object }): SavedObject => {
    const subject = subjects.get(object[id] as number)!
    return {
      subject,
      version: object.version,
      before: before && { ...subject, ...asSubject(before, subject, statuses) },
      ...(saving.history ? { events: [], changes: [] } : eventsOf(objectType!, before, object)),
    }
  })
  return scheduleTriggers(tx, objectType!, objects, definitions, saving)
}

/** What matching looked at before the save; what it cannot know of then it takes as it is now. */
function asSubject(before: StoredObject, now: Subject, statuses: Status[]): Partial<Subject> {
  const status = statuses.find((known) => known.status === before.status)
  const expiresTime = before.expiresTime as Temporal.Instant | null | undefined
  return {
    ...before,
    expiresTime: expiresTime ?? now.campaignExpiresTime ?? null,
    live: status?.live ?? false,
    liveAfter: status?.liveAfter ?? false,
  }
}

/** What matching goes by. */
type Surroundings = Nearby & { definitions: StoredDefinition[] }

const surroundingsOf = ({ objectType }: ObjectKind, { setup, known }: Basis): Surroundings => ({
  known,
  timeZone: setup?.timeZone ?? '',
  statuses: (objectType && setup?.statuses.get(objectType)) ?? [],
  definitions: (objectType && setup?.definitions.get(objectType)) ?? [],
})

const freshId = ({ id }: ObjectKind, drawn: Iterator<number | string>): number | string =>
  id === 'invitationUUID' ? randomBytes(16).toString('hex') : drawn.next().value
