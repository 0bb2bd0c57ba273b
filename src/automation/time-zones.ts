import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { listCalendarDefinitions } from '../store/event-definitions.ts'
import { findTimeZoneVersion, saveTimeZoneVersion } from '../store/time-zone-data.ts'
import { planDefinition } from './plan.ts'

type Log = { info(fields: object, message: string): void }
type Parts = { database: Database; clock: Clock; log: Log }

const PAGE = 100

/**
 * Governments change their clocks, and a new runtime brings the new rules: what was planned on the
 * calendar by the old ones is planned again, and what moved is told. Broken off, it begins again at
 * the next start. `version` is the runtime's own; tests name others.
 */
export async function followTimeZones(
  { database, clock, log }: Parts,
  version: string = process.versions.tz ?? 'unknown',
): Promise<number> {
  const { engine } = database
  const before = await findTimeZoneVersion(engine)
  if (before === version) return 0

  // In a new installation nothing was planned by other rules.
  const moved = before === undefined ? 0 : await planAllAgain({ database, clock, log })
  await saveTimeZoneVersion(engine, version, clock.now())
  if (before !== undefined) {
    log.info({ before, version, moved }, 'time zone rules changed: triggers planned again')
  }
  return moved
}

async function planAllAgain({ database, clock, log }: Parts) {
  let moved = 0
  for (let afterId = 0; ;) {
    const page = { afterId, limit: PAGE }
    const definitions = await listCalendarDefinitions(database.engine, page)
    if (definitions.length === 0) return moved
    for (const definition of definitions) {
      const { businessId, eventDefnId } = definition
      const { created, updated } = await planDefinition(database, definition, () => clock.now())
      moved += created + updated
      if (created + updated > 0) {
        log.info({ businessId, eventDefnId, created, updated }, 'planned again: clocks changed')
      }
    }
    afterId = definitions.at(-1)!.eventDefnId
  }
}
