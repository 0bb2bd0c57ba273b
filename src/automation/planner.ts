import type { Database } from '../database/database.ts'
import { isLockTimeout } from '../database/postgres-errors.ts'
import { hintManyChangedTriggers } from '../store/changes.ts'
import { listUnplannedDefinitions, type DefinitionKey } from '../store/event-definitions.ts'
import { pagesOf } from '../store/pages.ts'
import { pause, type Loop } from '../repeat.ts'
import { planDefinition, type Planned } from './plan.ts'
import { TIME_ZONE_VERSION } from './time-zones.ts'

export type PlannerParts = {
  database: Database
  now(): Temporal.Instant
  onError(error: unknown): void
  onPlanned?: ((definition: DefinitionKey, planned: Planned) => void) | undefined
  /** Tests pass the version of other time zone rules. */
  timeZoneVersion?: string | undefined
}

const PAGE = 20

/**
 * Plans every definition whose plan is not complete and that no other worker is planning. Returns how
 * many it planned. A definition that fails is tried again in the next run and does not delay others. After
 * a lock that lasts, neither do the other definitions of its business.
 */
export async function planUnplanned(parts: PlannerParts, signal?: AbortSignal): Promise<number> {
  const { database, now, onError, onPlanned, timeZoneVersion = TIME_ZONE_VERSION } = parts
  let count = 0
  const locked = new Set<number>()
  const pages = pagesOf(PAGE, (last: DefinitionKey | undefined) => {
    const page = { afterId: last?.eventDefnId ?? 0, limit: PAGE, timeZoneVersion }
    return listUnplannedDefinitions(database.engine, page)
  })
  for await (const definitions of pages) {
    for (const definition of definitions) {
      if (signal?.aborted) return count
      if (locked.has(definition.businessId)) continue
      try {
        const planned = await planDefinition(database, definition, now, signal)
        if (!planned) continue
        count += 1
        hintManyChangedTriggers(database.engine, definition.businessId)
        onPlanned?.(definition, planned)
      } catch (error) {
        onError(error)
        if (isLockTimeout(error)) locked.add(definition.businessId)
      }
    }
  }
  return count
}

/** Plans definitions that were saved or whose time zone rules changed; one node plans each of them. */
export const createPlanLoop = (parts: PlannerParts): Loop => ({
  name: 'plan',
  runOnce: (stopping) => planUnplanned(parts, stopping),
  rest: (stopping) => pause(PLAN_EVERY_MS, stopping),
})

const PLAN_EVERY_MS = 2_500
