import type { RecipientValue } from '../contract/event-action.ts'
import { readObject } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import type { PlannedChange } from '../contract/save-plan.ts'
import type { Db } from '../database/database.ts'
import { runAndRollBack } from '../database/roll-back.ts'
import { listActions } from '../store/event-actions.ts'
import { lockPlans } from '../store/event-definitions.ts'
import { listTriggersOfObject, type StoredTrigger } from '../store/event-triggers.ts'
import { idIn, lockObjectsForUpdate } from '../store/objects.ts'
import { nameTriggers } from '../store/trigger-names.ts'
import { saveObject } from './save.ts'
import type { Allow, Saving } from './saving.ts'

export type SavePlan = Record<PlannedChange, number> & { samples: Sample[] }

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

/**
 * Computes how a save would change the triggers of its object: saves the body, compares them before and
 * after, and rolls back. Throws what the save would throw.
 */
export async function planSave(
  db: Db,
  kind: ObjectKind,
  body: unknown,
  saving: Saving,
  allow?: Allow,
): Promise<SavePlan> {
  return runAndRollBack(db, async (tx) => {
    const before = await lockTriggers(tx, kind, body, saving)
    const { object } = await saveObject(tx, kind, body, saving, allow)
    const id = idIn(kind, object)
    const after = await listTriggersOfObject(tx, saving.businessId, kind.objectType!, id)
    return describe(tx, compare(before, after, saving.now), saving.businessId)
  })
}

/** The triggers before the save. Locks in the order of a save; see docs/engine.md, lock order. */
async function lockTriggers(
  tx: Db,
  kind: ObjectKind,
  body: unknown,
  { businessId, visibility = null }: Saving,
) {
  const { id, externalId } = readObject(kind, body, businessId)
  if (id === undefined && !externalId) return []
  lockPlans(tx, businessId)
  const named =
    id === undefined ? { ids: [], externalIds: [externalId!] } : { ids: [id], externalIds: [] }
  const [object] = await lockObjectsForUpdate(tx, businessId, kind, { ...named, visibility })
  if (!object) return []
  return listTriggersOfObject(tx, businessId, kind.objectType!, idIn(kind, object))
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
