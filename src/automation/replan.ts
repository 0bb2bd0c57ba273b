import type { Db } from '../database/database.ts'
import { endMovedTrigger, listTriggersToReplan, type MovedTrigger } from '../store/email-queue.ts'
import type { SettingsCache } from '../store/settings.ts'
import { lockFreeDefinitionsOf, lockFreeSubjects } from './share-locks.ts'
import { pause, type Loop } from '../repeat.ts'
import { planAgainFor } from './schedule.ts'

type ReplanParts = {
  db: Db
  settings: SettingsCache
  now(): Temporal.Instant
  onError(error: unknown): void
}

const PAGE = 500

/**
 * Plans reminders again whose object moved while their mails were being sent, if the worker that sent
 * them did not: the plan failed, or the node died.
 */
export function createReplanLoop(parts: ReplanParts, everyMs: number): Loop {
  let after = 0
  const runOnce = async () => {
    const page = { after, limit: PAGE }
    const moved = await listTriggersToReplan(parts.db, page)
    // Those that cannot be planned do not delay the others.
    after = moved.length < page.limit ? 0 : moved.at(-1)!.eventTriggerId
    return replanMoved(parts, moved)
  }
  return { name: 'replan', runOnce, rest: (stopping) => pause(everyMs, stopping) }
}

/**
 * Plans each one in its own transaction: the mails are recorded even if planning fails, and objects are
 * locked before triggers. Returns how many were planned.
 */
export async function replanMoved(parts: ReplanParts, moved: MovedTrigger[]) {
  const { db, settings, now, onError } = parts
  let planned = 0
  for (const trigger of moved) {
    try {
      if (await db.transaction((tx) => planMoved(tx, settings, trigger, now()))) planned += 1
    } catch (error) {
      onError(error)
    }
  }
  return planned
}

/** Returns false if another transaction has locked the object or the definition: the loop tries again. */
async function planMoved(
  tx: Db,
  settings: SettingsCache,
  trigger: MovedTrigger,
  now: Temporal.Instant,
) {
  const [subject] = (await lockFreeSubjects(tx, settings, [trigger])).values()
  const definition = (await lockFreeDefinitionsOf(tx, [trigger])).get(trigger.eventDefnId)
  if (!subject || !definition) return false
  const ended = await endMovedTrigger(tx, trigger, now)
  if (!ended) return true
  const since = ended.replanSince
  await planAgainFor(tx, [{ subject, definition, isOldVersion: false, since }], now)
  return true
}
