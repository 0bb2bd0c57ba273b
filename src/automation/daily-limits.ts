import type { Db } from '../database/database.ts'
import {
  postponeEmails,
  postponeEmailsOfBusiness,
  readDailyLimit,
  type ClaimedEmail,
} from '../store/email-queue.ts'
import { findQuietSpan, type LocalClock } from './quiet-hours.ts'
import { lockedUntil } from './share-locks.ts'

/**
 * Postpones mails of businesses that have reached their daily limit until the next morning in their
 * time zone, and for a moment those whose limit another transaction has locked. Returns the postponed
 * mails of the claim.
 */
export async function postponeAboveDailyLimit(
  tx: Db,
  claimed: ClaimedEmail[],
  now: Temporal.Instant,
): Promise<ClaimedEmail[]> {
  const limited = claimed.filter(({ dailyMailLimit }) => dailyMailLimit !== null)
  if (limited.length === 0) return []
  const byBusiness = [...Map.groupBy(limited, ({ businessId }) => businessId)]
  const postponed: ClaimedEmail[] = []
  // Sorted by id, so that two claims lock businesses in the same order.
  for (const [businessId, mails] of byBusiness.toSorted(([a], [b]) => a - b)) {
    const { timeZone, worker } = mails[0]!
    const today = now.toZonedDateTimeISO(timeZone).startOfDay()
    const since = today.toInstant()
    const daily = await readDailyLimit(tx, businessId, { since, worker })
    if (!daily) {
      await postponeEmails(tx, lockedUntil(mails, now))
      postponed.push(...mails)
      continue
    }
    const { limit, used } = daily
    const above = limit === null ? [] : mails.slice(Math.max(0, limit - used))
    if (above.length === 0) continue
    const tomorrow = today.add({ days: 1 }).startOfDay()
    const nextDay = { now, start: tomorrow.toInstant(), morning: morningOf(tomorrow, mails[0]!) }
    await postponeEmailsOfBusiness(tx, businessId, above, nextDay)
    postponed.push(...above)
  }
  return postponed
}

const MORNING = Temporal.PlainTime.from('08:00')

/** When quiet hours of the night end; at 8:00 if the night has none. */
function morningOf(day: Temporal.ZonedDateTime, clock: LocalClock): Temporal.Instant {
  const night = findQuietSpan(day.toInstant(), clock)
  const morning = night?.to ?? day.withPlainTime(MORNING).toInstant()
  return findQuietSpan(morning, clock)?.to ?? morning
}
