import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { deleteOldAnswers } from '../http/server/idempotency.ts'
import { forgetBodies } from '../store/emails.ts'
import { forgetContents } from '../store/files.ts'
import { deleteEndedMails, deleteEndedTriggers } from '../store/retention.ts'
import { deleteOldSoftBounces } from '../store/soft-bounces.ts'

/** What one clean-up deleted because of RETENTION_MONTHS. */
export type Deleted = { triggers: number; mails: number }

/** Deletes what is kept for a time only, in batches, so that no lock is held for long. */
export async function cleanUp(
  { engine }: Pick<Database, 'engine'>,
  kept: Pick<Config, 'bodyRetentionDays' | 'retentionMonths'>,
  now: Temporal.Instant,
): Promise<Deleted> {
  await deleteOldAnswers(engine, now)
  await deleteOldSoftBounces(engine, now)
  const before = now.subtract({ hours: 24 * kept.bodyRetentionDays })
  while ((await forgetBodies(engine, before, BATCH)) === BATCH);
  while ((await forgetContents(engine, before, BATCH)) === BATCH);

  const deleted = { triggers: 0, mails: 0 }
  if (kept.retentionMonths === undefined) return deleted
  const ended = monthsBefore(now, kept.retentionMonths)
  for (let batch = BATCH; batch === BATCH;) {
    const { triggers, mails } = await deleteEndedTriggers(engine, ended, BATCH)
    deleted.triggers += triggers
    deleted.mails += mails
    batch = triggers
  }
  for (let batch = BATCH; batch === BATCH;) {
    batch = await deleteEndedMails(engine, ended, BATCH)
    deleted.mails += batch
  }
  return deleted
}

const BATCH = 500

const monthsBefore = (now: Temporal.Instant, months: number) =>
  now.toZonedDateTimeISO('UTC').subtract({ months }).toInstant()
