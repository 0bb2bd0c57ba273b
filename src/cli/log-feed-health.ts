import type { Log } from '../log.ts'
import type { HealthChange } from '../store/feed-health.ts'

/** Without its name and the cause, which can name people. */
export function logFeedHealth(log: Log, change: HealthChange) {
  if (change.health === 'OK') log.info(change, 'a feed works again')
  else log.warn(change, 'a feed does not work as it should')
}
