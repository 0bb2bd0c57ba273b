import { forecastReplan } from '../automation/forecast.ts'
import type { RecipientValue } from '../contract/event-action.ts'
import { readObject } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { PlannedChange } from '../contract/save-plan.ts'
import type { Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { listActions } from '../store/event-actions.ts'
import { listActiveDefinitions, lockPlans, lockSettings } from '../store/event-definitions.ts'
import {
  countTriggersOfTemplate,
  listTriggersOfClient,
  listTriggersOfObject,
  type StoredTrigger,
} from '../store/event-triggers.ts'
import { idIn, lockObjectsForUpdate, ofKind, type StoredObject } from '../store/objects.ts'
import { nameTriggers } from '../store/trigger-names.ts'
import { saveObject } from './save.ts'
import type { Allow, Saving } from './saving.ts'

export type SavePlan = Record<PlannedChange, number> & { samples: Sample[]; partial?: true }

type Sample = {
  change: PlannedChange
  eventTriggerId: number | null
  eventDefnId: number
  description: string | null
  templateName: string | null
  from: Temporal.Instant | null
  to: Temporal.Instant | null
  recipients: RecipientValue[]
  clientName: string | null
  reason: string | null
}

const MAX_SAMPLES = 100

const NOTHING = { create: 0, move: 0, cancel: 0, atOnce: 0, expired: 0, samples: [] }

/** Kinds without events that reminders and mails depend on. */
const DEPENDED_ON = new Set(['client', 'location', 'invitationCampaign', 'emailTemplate'])

export const hasPlan = ({ kind, objectType }: ObjectKind) =>
  objectType !== undefined || DEPENDED_ON.has(kind)

type Planning = Saving & { allow?: Allow; hasTimeLeft: () => boolean }

/**
 * Computes how a save would change triggers: saves the body, compares them before and after, and rolls
 * back. Throws what the save would throw.
 */
export function planSave(
  db: Db,
  kind: ObjectKind,
  body: unknown,
  { allow, hasTimeLeft, ...saving }: Planning,
): Promise<SavePlan> {
  const save = (tx: Db) => saveObject(tx, kind, body, saving, allow)
  if (kind.objectType || kind.kind === 'client') return planObject(db, kind, body, saving, save)
  if (kind.kind === 'emailTemplate') return planTemplate(db, saving.businessId, save)
  return planSettings(db, { ...saving, hasTimeLeft }, save)
}

type Saved = Awaited<ReturnType<typeof saveObject>>

function planObject(
  db: Db,
  kind: ObjectKind,
  body: unknown,
  saving: Saving,
  save: (tx: Db) => Promise<Saved>,
) {
  return runAndRollBack(db, async (tx) => {
    const { businessId, now } = saving
    const current = await lockCurrent(tx, kind, body, saving)
    const before = current ? await listTriggers(tx, kind, current) : []
    const { object } = await save(tx)
    const after = await listTriggers(tx, kind, object, before)
    return describe(tx, compare(before, after, now), businessId)
  })
}

/** Locks in the order of a save; see docs/engine.md, lock order. */
async function lockCurrent(
  tx: Db,
  kind: ObjectKind,
  body: unknown,
  { businessId, visibility = null }: Saving,
) {
  const { id, externalId } = readObject(kind, body, businessId)
  if (id === undefined && !externalId) return undefined
  if (kind.objectType) lockPlans(tx, businessId)
  const named =
    id === undefined ? { ids: [], externalIds: [externalId!] } : { ids: [id], externalIds: [] }
  const [object] = await lockObjectsForUpdate(tx, businessId, kind, { ...named, visibility })
  return object
}

/** The triggers of an object; of a client those that are pending, and those of `known`. */
async function listTriggers(
  tx: Db,
  kind: ObjectKind,
  object: StoredObject,
  known: StoredTrigger[] = [],
) {
  const { businessId } = object
  const client = ofKind('client', kind, object)
  if (!client) {
    return listTriggersOfObject(tx, businessId, kind.objectType!, idIn(kind, object))
  }
  const ids = known.map(({ eventTriggerId }) => eventTriggerId)
  return listTriggersOfClient(tx, businessId, client.clientId, ids)
}

/** How a save of a template would change how many pending triggers send it. */
function planTemplate(db: Db, businessId: number, save: (tx: Db) => Promise<Saved>) {
  return runAndRollBack(db, async (tx): Promise<SavePlan> => {
    const { object, before } = await save(tx)
    if (!before?.active || object.active) return NOTHING
    const template = { businessId, emailTemplateId: Number(object.emailTemplateId) }
    return { ...NOTHING, cancel: await countTriggersOfTemplate(tx, template) }
  })
}

/**
 * The same for settings, after whose save the engine plans definitions again. The locks of the save are
 * held meanwhile, so `hasTimeLeft` should be short.
 */
export function planSettings(
  db: Db,
  { businessId, now, hasTimeLeft }: Pick<Planning, 'businessId' | 'now' | 'hasTimeLeft'>,
  save: (tx: Db) => Promise<unknown>,
): Promise<SavePlan> {
  return runAndRollBack(db, async (tx) => {
    lockSettings(tx, businessId)
    const before = await listActiveDefinitions(tx, businessId)
    const plannedBefore = new Map(before.map((one) => [one.eventDefnId, one.plannedVersion]))
    await save(tx)
    const changed = (await listActiveDefinitions(tx, businessId)).filter(
      ({ eventDefnId, plannedVersion }) => plannedVersion !== plannedBefore.get(eventDefnId),
    )
    const options = { businessId, now, hasTimeLeft, visibility: null, limit: 0, offset: 0 }
    const { create, move, cancel, partial } = await forecastReplan(tx, changed, options)
    return { ...NOTHING, create, move, cancel, ...(partial && { partial }) }
  })
}

type Difference = {
  change: PlannedChange
  before?: StoredTrigger | undefined
  after: StoredTrigger
}

function compare(before: StoredTrigger[], after: StoredTrigger[], now: Temporal.Instant) {
  const known = new Map(before.map((trigger) => [trigger.eventTriggerId, trigger]))
  return after.flatMap((trigger): Difference[] => {
    const earlier = known.get(trigger.eventTriggerId)
    const change = changeOf(earlier, trigger, now)
    return change ? [{ change, before: earlier, after: trigger }] : []
  })
}

function changeOf(
  before: StoredTrigger | undefined,
  after: StoredTrigger,
  now: Temporal.Instant,
): PlannedChange | undefined {
  const isSame = before?.status === after.status && before.scheduledTime.equals(after.scheduledTime)
  if (isSame) return undefined
  if (after.status === 'EXPIRED') return 'expired'
  if (after.status === 'CANCELLED') return 'cancel'
  // The engine fires triggers meanwhile.
  if (after.status !== 'SCHEDULED') return undefined
  if (Temporal.Instant.compare(after.scheduledTime, now) <= 0) return 'atOnce'
  return before ? 'move' : 'create'
}

async function describe(tx: Db, differences: Difference[], businessId: number): Promise<SavePlan> {
  const counts = { create: 0, move: 0, cancel: 0, atOnce: 0, expired: 0 }
  for (const { change } of differences) counts[change] += 1
  const shown = differences.slice(0, MAX_SAMPLES)
  const named = await nameTriggers(
    tx,
    businessId,
    shown.map(({ after }) => after),
  )
  const eventDefnIds = [...new Set(named.map(({ eventDefnId }) => eventDefnId))]
  const actions = await listActions(tx, businessId, { eventDefnIds })
  const samples = shown.map(({ change, before }, place): Sample => {
    const { eventDefnId, description, templateName, clientName, scheduledTime, statusReason } =
      named[place]!
    const isEnded = change === 'cancel' || change === 'expired'
    return {
      change,
      eventTriggerId: before?.eventTriggerId ?? null,
      eventDefnId,
      description,
      templateName,
      from: before?.scheduledTime ?? null,
      to: change === 'cancel' ? null : scheduledTime,
      recipients: recipientsOf(actions, eventDefnId),
      clientName,
      reason: isEnded ? statusReason : null,
    }
  })
  return { ...counts, samples }
}

function recipientsOf(actions: Awaited<ReturnType<typeof listActions>>, eventDefnId: number) {
  const own = actions.filter((action) => action.eventDefnId === eventDefnId)
  return [...new Set(own.map((action) => action.writesTo))]
}
