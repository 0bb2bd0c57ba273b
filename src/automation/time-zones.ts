import type { Clock } from '../clock.ts'
import type { Database } from '../database/database.ts'
import { planCalendarDefinitionsAgain } from '../store/event-definitions.ts'
import { findTimeZoneVersion, saveTimeZoneVersion } from '../store/time-zone-data.ts'

type Log = { info(fields: object, message: string): void }
type Parts = { database: Database; clock: Clock; log: Log }

/** The version of the time zone rules in this Node runtime. */
export const TIME_ZONE_VERSION = process.versions.tz ?? 'unknown'

/**
 * Marks all definitions that use calendar offsets to be planned again if this runtime has other time
 * zone rules than the last one; the first node that starts does so. Returns how many were marked.
 */
export async function followTimeZones(
  { database: { engine }, clock, log }: Parts,
  version: string = TIME_ZONE_VERSION,
): Promise<number> {
  const before = await findTimeZoneVersion(engine)
  if (before === version) return 0
  const definitions = await engine.transaction(async (tx) => {
    const isFirst = await saveTimeZoneVersion(tx, version, clock.now())
    // In a new installation no trigger was planned by other rules.
    return isFirst && before !== undefined ? planCalendarDefinitionsAgain(tx) : 0
  })
  if (definitions > 0) {
    log.info({ before, version, definitions }, 'time zone rules changed: planning again')
  }
  return definitions
}
