import type { Database } from '../database/database.ts'
import { hintManyChangedTriggers } from '../store/changes.ts'
import { listUnplannedDefinitions, type DefinitionKey } from '../store/event-definitions.ts'
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
 * Plans every definition whose plan is not complete and that no other worker is planning. A
 * definition that fails is tried again in the next run; those after it are planned all the same.
 * Returns how many definitions it planned.
 */
export async function planUnplanned(parts: PlannerParts, signal?: AbortSignal): Promise<number> {
  const { database, now, onError, onPlanned, timeZoneVersion = TIME_ZONE_VERSION } = parts
  let count = 0
  for (let afterId = 0; ;) {
    const page = { afterId, limit: PAGE, timeZoneVersion }
    const definitions = await listUnplannedDefinitions(database.engine, page)
    for (const definition of definitions) {
      if (signal?.aborted) return count
      try {
        const planned = await planDefinition(database, definition, now, signal)
        if (!planned) continue
        count += 1
        hintManyChangedTriggers(database.engine, definition.businessId)
        onPlanned?.(definition, planned)
      } catch (error) {
        onError(error)
      }
    }
    if (definitions.length < PAGE) return count
    afterId = definitions.at(-1)!.eventDefnId
  }
}
