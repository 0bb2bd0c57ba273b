import type { Db } from '../database/database.ts'
import {
  countMailsSince,
  postponeEmailsOfBusiness,
  type ClaimedEmail,
} from '../store/email-queue.ts'

/**
 * Postpones mails of businesses that have sent as many as they may on this day of their time zone, until
 * the next day. Returns those of the claim.
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
  // In the order of their ids: two claims wait for each other's businesses in the same order.
  for (const [businessId, mails] of byBusiness.toSorted(([a], [b]) => a - b)) {
    const { dailyMailLimit, timeZone, worker } = mails[0]!
    const today = now.toZonedDateTimeISO(timeZone).startOfDay()
    const used = await countMailsSince(tx, businessId, { since: today.toInstant(), worker })
    const above = mails.slice(Math.max(0, dailyMailLimit! - used))
    if (above.length === 0) continue
    const until = today.add({ days: 1 }).startOfDay().toInstant()
    await postponeEmailsOfBusiness(tx, businessId, above, { now, until })
    postponed.push(...above)
  }
  return postponed
}
