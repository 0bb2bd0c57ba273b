import type { Reference } from '../contract/body.ts'
import { readAction, type ActionInput } from '../contract/event-action.ts'
import { mergeDefinition, readDefinition } from '../contract/read-definition.ts'
import { objectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { invalid, notFound, type Fault } from '../errors.ts'
import {
  findAction,
  insertAction,
  listActions,
  lockAction,
  updateAction,
  type ShownAction,
} from '../store/event-actions.ts'
import {
  findDefinition,
  insertDefinition,
  lockDefinition,
  lockSettings,
  updateDefinition,
  type StoredDefinition,
} from '../store/event-definitions.ts'
import { findObject, listReferredObjects, type WantedReferences } from '../store/objects.ts'
import { listStatusesOf } from '../store/statuses.ts'

type Defining = { businessId: number; user: string; now: Temporal.Instant }

/** Checks the stored object under its lock, and throws if it may not be changed. */
type Allow<Stored> = (current: Stored | undefined) => void | Promise<void>

/**
 * Saves a definition, and the actions in its body, in the caller's transaction. Its triggers are
 * planned after the commit: see plan.ts.
 */
export async function saveDefinition(
  tx: Db,
  body: unknown,
  defining: Defining,
  allow?: Allow<StoredDefinition>,
): Promise<{ definition: StoredDefinition; before: StoredDefinition | undefined }> {
  lockSettings(tx, defining.businessId)
  const read = await readAgainst(tx, body, defining, allow, lockDefinition)
  const { before, wanted, actions } = read
  const definition = !before
    ? await insertDefinition(tx, wanted, defining)
    : isUnchanged(before, wanted)
      ? before
      : await updateDefinition(tx, before.eventDefnId, wanted, {
          ...defining,
          askedSince: hasSameTriggers(before, wanted) ? before.askedSince : defining.now,
          // Saving a deleted definition with `active: true` revives it.
          deletedDate: wanted.active ? null : before.deletedDate,
        })
  for (const action of actions) await saveActionOf(tx, definition.eventDefnId, action, defining)
  return { definition, before }
}

/** Definitions are never removed: triggers that fired still refer to them. */
export async function deleteDefinition(
  tx: Db,
  eventDefnId: number,
  defining: Defining,
  allow: Allow<StoredDefinition>,
) {
  lockSettings(tx, defining.businessId)
  const before = await lockDefinition(tx, defining.businessId, eventDefnId)
  if (!before || before.deletedDate) return before
  await allow(before)
  return updateDefinition(
    tx,
    eventDefnId,
    { ...before, active: false },
    { ...defining, deletedDate: defining.now },
  )
}

/** The definition that a body would save, without saving it. Throws all its faults. */
export async function readAgainst(
  db: Db,
  body: unknown,
  { businessId }: Pick<Defining, 'businessId'>,
  allow?: Allow<StoredDefinition>,
  find = findDefinition,
) {
  const reading = readDefinition(body)
  const { eventDefnId, actions = [] } = reading.definition
  const before = eventDefnId ? await find(db, businessId, eventDefnId) : undefined
  await allow?.(before)
  if (eventDefnId && !before) throw notFound('event definition', eventDefnId)
  const merged = mergeDefinition(reading.definition, before)
  const references = [...reading.references, ...merged.references]
  const faults = [
    ...reading.faults,
    ...merged.faults,
    ...(await faultsOfReferences(db, businessId, references, eventDefnId)),
  ]
  if (faults.length > 0) throw invalid(withoutRepeatedFaults(faults))
  return { before, wanted: merged.definition, actions }
}

export async function saveAction(
  tx: Db,
  body: unknown,
  defining: Defining,
  allow?: Allow<ShownAction>,
): Promise<{ action: ShownAction; before: ShownAction | undefined }> {
  const { action: input, faults, references } = readAction(body)
  const { businessId } = defining
  // The version of a definition covers its actions, so both change under one lock.
  lockSettings(tx, businessId)
  const before = input.eventActionId
    ? await lockAction(tx, businessId, input.eventActionId)
    : undefined
  await allow?.(before)
  if (input.eventActionId && !before) throw notFound('event action', input.eventActionId)
  faults.push(...(await faultsOfReferences(tx, businessId, references)))
  if (faults.length > 0) throw invalid(withoutRepeatedFaults(faults))

  const eventDefnId = input.eventDefnId ?? before!.eventDefnId
  return { action: await writeAction(tx, eventDefnId, input, before, defining), before }
}

/**
 * Saves an action in the body of its definition: found by its id, or as the active one with the same
 * template and recipient; else it is new.
 */
async function saveActionOf(tx: Db, eventDefnId: number, input: ActionInput, defining: Defining) {
  const { businessId } = defining
  const existing = await listActions(tx, businessId, { eventDefnIds: [eventDefnId] })
  const before = input.eventActionId
    ? await lockAction(tx, businessId, input.eventActionId)
    : existing.find((known) => isSameAction(known, input))
  await writeAction(tx, eventDefnId, input, before, defining)
}

export const isSameAction = (known: ShownAction, input: ActionInput) =>
  known.emailTemplateId === input.emailTemplateId &&
  known.writesTo === (input.recipient ?? known.byTemplate)

/** Writes the action; an unchanged one is left as it is. */
function writeAction(
  tx: Db,
  eventDefnId: number,
  input: ActionInput,
  before: ShownAction | undefined,
  defining: Defining,
): Promise<ShownAction> | ShownAction {
  const wanted = {
    businessId: defining.businessId,
    eventDefnId,
    active: input.active ?? before!.active,
    emailTemplateId: input.emailTemplateId ?? before!.emailTemplateId,
    emailCategoryId: keepUnlessGiven(input.emailCategoryId, before?.emailCategoryId),
    recipient: recipientOf(input, before),
  }
  if (!before) return insertAction(tx, wanted, defining)
  const isSame = Object.entries(wanted).every(([key, value]) => before[key as 'active'] === value)
  if (isSame) return before
  return updateAction(tx, { ...wanted, eventActionId: before.eventActionId }, defining)
}

/**
 * The recipient to store. An answer shows the recipient of every action: if the action names none, the
 * one that its template gives. A caller who sends such an answer back does not choose that recipient,
 * unless the template changes in the same request.
 */
function recipientOf({ recipient, emailTemplateId }: ActionInput, before: ShownAction | undefined) {
  const isSentBack =
    before?.recipient === null &&
    recipient === before.writesTo &&
    (emailTemplateId ?? before.emailTemplateId) === before.emailTemplateId
  return isSentBack ? null : keepUnlessGiven(recipient, before?.recipient)
}

/** An absent value stays as it was; null clears it. */
const keepUnlessGiven = <T>(value: T | null | undefined, before: T | null | undefined): T | null =>
  value === undefined ? (before ?? null) : value

const isUnchanged = (before: StoredDefinition, wanted: object) =>
  changedProperties(before, wanted).length === 0

/** Changes of these properties do not affect triggers. */
const hasSameTriggers = (before: StoredDefinition, wanted: object) =>
  changedProperties(before, wanted).every((key) => key === 'description' || key === 'groupIdList')

export const changedProperties = (before: StoredDefinition, wanted: object) =>
  Object.entries(wanted)
    .filter(([key, value]) => JSON.stringify(before[key as 'active']) !== JSON.stringify(value))
    .map(([key]) => key)

/** A missing id and an id of another business cause the same fault. */
async function faultsOfReferences(
  db: Db,
  businessId: number,
  references: Reference[],
  eventDefnId?: number,
): Promise<Fault[]> {
  const wanted: WantedReferences = new Map()
  for (const reference of references) {
    const kind = typeof reference.id === 'string' ? undefined : objectKind(reference.kind)
    if (!kind) continue
    const { ids } = wanted.get(kind) ?? { ids: new Set() }
    wanted.set(kind, { ids: ids.add(reference.id), externalIds: new Set() })
  }
  const referred = await listReferredObjects(db, businessId, wanted)
  const known = new Set(referred.map(({ kind, id }) => `${kind} ${id}`))

  const faults: Fault[] = []
  for (const reference of references) {
    const detail = await findFault(db, businessId, reference, known, eventDefnId)
    if (detail) faults.push({ pointer: reference.pointer, detail })
  }
  return faults
}

async function findFault(
  db: Db,
  businessId: number,
  reference: Reference,
  known: Set<string>,
  eventDefnId: number | undefined,
): Promise<string | undefined> {
  const { kind, id } = reference
  if (kind === 'business') return id === businessId ? undefined : 'must be your own business'
  if (kind === 'status') {
    const statuses = await listStatusesOf(db, businessId, reference.objectType)
    const usable = statuses.filter((status) => status.active).map((status) => status.status)
    if (usable.includes(id)) return undefined
    return `must be ${reference.canBeAny ? '* or ' : ''}one of ${usable.join(', ')}`
  }
  if (kind === 'invitation') {
    const invitation = await findObject(db, businessId, objectKind(kind)!, id)
    return invitation ? undefined : `there is no invitation ${id}`
  }
  if (kind === 'eventDefinition') {
    const definition = await findDefinition(db, businessId, id)
    return definition ? undefined : `there is no event definition ${id}`
  }
  if (kind === 'eventAction') {
    const action = await findAction(db, businessId, id)
    const isOfDefinition = action && action.eventDefnId === eventDefnId
    return isOfDefinition ? undefined : `there is no event action ${id} of this definition`
  }
  if (known.has(`${kind} ${id}`)) return undefined
  return `there is no ${objectKind(kind)?.title ?? kind} ${id}`
}

const withoutRepeatedFaults = (faults: Fault[]) => [
  ...new Map(faults.map((fault) => [`${fault.pointer} ${fault.detail}`, fault])).values(),
]
