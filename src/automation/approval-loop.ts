import type { Database } from '../database/database.ts'
import { listUnfinishedApprovals } from '../store/approvals.ts'
import { followDecision, settle } from './approvals.ts'
import { pause, type Loop } from '../repeat.ts'

type ApprovalParts = {
  database: Database
  now(): Temporal.Instant
  onError(error: unknown): void
}

/** A call without a heartbeat for this long was interrupted, or its node was killed. */
const BROKEN_OFF_SECONDS = 60

const APPROVALS_EVERY_MS = 5_000

/** Ends the counts of interrupted bulk calls, and continues decisions that a killed node left. */
export const createApprovalLoop = (parts: ApprovalParts): Loop => ({
  name: 'approve',
  runOnce: () => finishApprovals(parts),
  rest: (stopping) => pause(APPROVALS_EVERY_MS, stopping),
})

async function finishApprovals({ database, now, onError }: ApprovalParts) {
  const brokenOffSince = now().subtract({ seconds: BROKEN_OFF_SECONDS })
  for (const { status, ...key } of await listUnfinishedApprovals(database.engine, brokenOffSince)) {
    const db = database.forBusiness(key.businessId, 'SYSTEM')
    try {
      if (status === 'COUNTING') await settle(db, key, now())
      else await followDecision(db, key, now())
    } catch (error) {
      onError(error)
    }
  }
  // 0, so that the loop rests: the next run finds what remains.
  return 0
}
