import type { FeedRunResult } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { By } from './businesses.ts'
import type { FeedKey } from './feeds.ts'

export type RunKind = 'DRY_RUN' | 'PULL' | 'RECONCILE'

export type RunRow = FeedKey & {
  feedRunId: number
  kind: RunKind
  status: 'RUNNING' | 'DONE' | 'FAILED'
  result: FeedRunResult | null
  error: string | null
  startedTime: Temporal.Instant
  startedUser: string
  endedTime: Temporal.Instant | null
}

const columns = sql`
  business_id as "businessId", feed_id as "feedId", feed_run_id as "feedRunId", kind, status, result, error,
  started_time as "startedTime", started_user as "startedUser", ended_time as "endedTime"`

/** Undefined if another run of the feed, begun after `since`, has not ended. */
export async function insertRun(
  tx: Db,
  { businessId, feedId }: FeedKey,
  { kind, since }: { kind: RunKind; since: Temporal.Instant },
  { user, now }: By,
) {
  await tx.query(sql`
    update feed_run set status = 'FAILED', error = 'the run was interrupted', ended_time = ${now}
    where business_id = ${businessId} and feed_id = ${feedId} and status = 'RUNNING'
      and started_time <= ${since}`)
  const running = await tx.query(sql`
    select from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and status = 'RUNNING'`)
  if (running.length > 0) return undefined
  const [row] = await tx.query<{ feedRunId: number }>(sql`
    insert into feed_run (business_id, feed_id, kind, status, started_time, started_user)
    values (${businessId}, ${feedId}, ${kind}, 'RUNNING', ${now}, ${user})
    returning feed_run_id as "feedRunId"`)
  return row!.feedRunId
}

type Ended = { result: object } | { error: string }

/** A run that nobody waits for is stored when it has ended. */
export const insertEndedRun = (
  db: Db,
  { businessId, feedId }: FeedKey,
  { kind, startedTime, ...ended }: { kind: RunKind; startedTime: Temporal.Instant } & Ended,
  { user, now }: By,
) =>
  db.query(sql`
    insert into feed_run (business_id, feed_id, kind, status, result, error, started_time, started_user,
      ended_time)
    values (${businessId}, ${feedId}, ${kind}, ${'error' in ended ? 'FAILED' : 'DONE'},
      ${'result' in ended ? JSON.stringify(ended.result) : null}::jsonb,
      ${'error' in ended ? ended.error : null}, ${startedTime}, ${user}, ${now})`)

export const endRun = (
  db: Db,
  { businessId, feedRunId }: { businessId: number; feedRunId: number },
  ended: Ended,
  now: Temporal.Instant,
) =>
  db.query(sql`
    update feed_run
    set status = ${'error' in ended ? 'FAILED' : 'DONE'}, ended_time = ${now},
        result = ${'result' in ended ? JSON.stringify(ended.result) : null}::jsonb,
        error = ${'error' in ended ? ended.error : null}
    where business_id = ${businessId} and feed_run_id = ${feedRunId} and status = 'RUNNING'`)

/** A pull that was asked for. */
export async function findRequestedRun(db: Db, { businessId, feedId }: FeedKey) {
  const [run] = await db.query<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and status = 'RUNNING' and kind = 'PULL'`)
  return run
}

export async function findRun(db: Db, { businessId, feedId }: FeedKey, feedRunId: number) {
  const [run] = await db.query<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and feed_run_id = ${feedRunId}`)
  return run
}

/** The last reconciliation that succeeded. */
export async function findLastReconciliationOf(db: Db, { businessId, feedId }: FeedKey) {
  const [run] = await db.query<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and kind = 'RECONCILE' and status = 'DONE'
    order by feed_run_id desc limit 1`)
  return run
}

/** The latest first. */
export const listRuns = (
  db: Db,
  { businessId, feedId }: FeedKey,
  { before, limit }: { before: number; limit: number },
) =>
  db.query<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and feed_run_id < ${before}
    order by feed_run_id desc limit ${limit}`)
