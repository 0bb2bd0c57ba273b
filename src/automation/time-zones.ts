import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { planCalendarDefinitionsAgain } from '../store/event-definitions.ts'
import { findTimeZoneVersion, saveTimeZoneVersion } from '../store/time-zone-data.ts'

type Log = { info(fields: object, message: string): void }
type Parts = { database: Database; clock: Clock; log: Log }

/** The version of the time zone rules that this runtime brings. */
export const TIME_ZONE_VERSION = process.versions.tz ?? 'unknown'

/**
 * A new runtime brings new time zone rules. All definitions that count on the calendar must then be
 * planned again: the first node that starts with the new rules marks them, and the planner plans
 * them. Returns how many definitions were marked. Tests pass another `version`.
 */
export async function followTimeZones(
  { database: { engine }, clock, log }: Parts,
  version: string = TIME_ZONE_VERSION,
): Promise<number> {
  const before = await findTimeZoneVersion(engine)
  if (before === version) return 0
  const definitions = await engine.transaction(async (tx) => {
    const isFirst = await saveTimeZoneVersion(tx, version, clock.now())
    // In a new installation nothing was planned by other rules.
    return isFirst && before !== undefined ? planCalendarDefinitionsAgain(tx) : 0
  })
  if (definitions > 0) {
    log.info({ before, version, definitions }, 'time zone rules changed: planning again')
  }
  return definitions
}
