import { monthsBefore } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Database, Db } from '../database/database.ts'
import { deleteOldAnswers } from '../http/server/idempotency.ts'
import { forgetBodies } from '../store/emails.ts'
import { forgetContents } from '../store/files.ts'
import { deleteEndedMails, deleteEndedTriggers } from '../store/retention.ts'
import { deleteOldSoftBounces } from '../store/soft-bounces.ts'

/**
 * Deletes data whose retention time has passed, in batches, so that no lock is held for long. Returns
 * how many triggers and mails RETENTION_MONTHS deleted.
 */
export async function cleanUp(
  { engine }: Pick<Database, 'engine'>,
  { bodyRetentionDays, retentionMonths }: Pick<Config, 'bodyRetentionDays' | 'retentionMonths'>,
  now: Temporal.Instant,
) {
  await deleteOldAnswers(engine, now)
  await deleteOldSoftBounces(engine, now)
  const bodiesBefore = now.subtract({ hours: 24 * bodyRetentionDays })
  while ((await forgetBodies(engine, bodiesBefore, BATCH)) === BATCH);
  while ((await forgetContents(engine, bodiesBefore, BATCH)) === BATCH);
  if (retentionMonths === undefined) return { triggers: 0, mails: 0 }
  return deleteEnded(engine, monthsBefore(now, retentionMonths))
}

const BATCH = 500

async function deleteEnded(engine: Db, before: Temporal.Instant) {
  const deleted = { triggers: 0, mails: 0 }
  for (let isDone = false; !isDone;) {
    const { triggers, mails } = await deleteEndedTriggers(engine, before, BATCH)
    deleted.triggers += triggers
    deleted.mails += mails
    isDone = triggers + mails === 0
  }
  for (let count = BATCH; count === BATCH;) {
    count = await deleteEndedMails(engine, before, BATCH)
    deleted.mails += count
  }
  return deleted
}
