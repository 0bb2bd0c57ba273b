import { monthsBefore } from '../clock.ts'
import { convertBodies, forgetBodies } from '../automation/mail-bodies.ts'
import type { Config } from '../config.ts'
import type { Database, Db } from '../database/database.ts'
import { UNDO_HOURS } from '../file-import/undo.ts'
import { deleteOldAnswers } from '../http/server/idempotency.ts'
import { deleteOldRuns } from '../store/feed-runs.ts'
import { deleteOldFileImports } from '../store/file-imports.ts'
import { forgetContents } from '../store/files.ts'
import { deleteUnusedDictionaries } from '../store/message-bodies.ts'
import { deleteEndedMails, deleteEndedTriggers, deleteOldAudit } from '../store/retention.ts'
import { deleteOldSoftBounces } from '../store/soft-bounces.ts'

/**
 * Deletes data whose retention time has passed, in batches, so that no lock is held for long. Returns
 * how many triggers, mails and entries of the audit RETENTION_MONTHS deleted.
 */
export async function cleanUp(
  { engine, operator }: Pick<Database, 'engine' | 'operator'>,
  { bodyRetentionDays, retentionMonths }: Pick<Config, 'bodyRetentionDays' | 'retentionMonths'>,
  now: Temporal.Instant,
) {
  await deleteOldAnswers(engine, now)
  await deleteOldSoftBounces(engine, now)
  while ((await deleteOldRuns(engine, now.subtract({ hours: 24 * RUN_DAYS }), BATCH)) === BATCH);
  const undoableSince = now.subtract({ hours: UNDO_HOURS })
  while ((await deleteOldFileImports(engine, undoableSince, BATCH)) === BATCH);
  const bodiesBefore = now.subtract({ hours: 24 * bodyRetentionDays })
  while ((await convertBodies(engine, BODY_BATCH)) > 0);
  while ((await forgetBodies(engine, bodiesBefore, BODY_BATCH)) > 0);
  while ((await forgetContents(engine, bodiesBefore, BATCH)) === BATCH);
  const deleted =
    retentionMonths === undefined
      ? { triggers: 0, mails: 0, audit: 0 }
      : await deleteEnded({ engine, operator }, monthsBefore(now, retentionMonths))
  while ((await deleteUnusedDictionaries(engine, BATCH)) === BATCH);
  return deleted
}

const BATCH = 500
/** Runs of feeds are kept for so long. */
const RUN_DAYS = 90
/** Small, because reading contents blocks the event loop. */
const BODY_BATCH = 50

async function deleteEnded(
  { engine, operator }: { engine: Db; operator: Db },
  before: Temporal.Instant,
) {
  const deleted = { triggers: 0, mails: 0, audit: 0 }
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
  for (let count = BATCH; count > 0;) {
    count = await deleteOldAudit(operator, before, BATCH)
    deleted.audit += count
  }
  return deleted
}
