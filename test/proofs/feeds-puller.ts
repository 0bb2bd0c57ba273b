import { createFeedLoops } from '../../src/feeds/loop.ts'
import { openDatabase } from '../../src/database/postgres.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { partsOf } from '../feeds/loop-parts.ts'

/*
 * A process that pulls the feeds that are due at the time that its parent sends. The parent may kill it
 * at any moment.
 */

const database = openDatabase({ url: process.argv[2]!, connections: 4 })
let now = Temporal.Instant.fromEpochMilliseconds(0)
const [loop] = createFeedLoops(
  partsOf({ database, settings: new SettingsCache(), clock: { now: () => now } }),
)
process.once('disconnect', () => process.exit(1)) // the parent has ended
process.on('message', async (at: string) => {
  now = Temporal.Instant.from(at)
  process.send!(await loop!.runOnce())
})
process.send!(0) // it is ready
