import type { FeedRunResult } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { By } from './rows.ts'
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
  const row = await tx.getRow<{ feedRunId: number }>(sql`
    insert into feed_run (business_id, feed_id, kind, status, started_time, started_user)
    values (${businessId}, ${feedId}, ${kind}, 'RUNNING', ${now}, ${user})
    returning feed_run_id as "feedRunId"`)
  return row.feedRunId
}

/** A reconciliation that does not add up has both. */
type Ended = { result?: object | undefined; error?: string | null | undefined }

/** A run that nobody waits for is stored when it has ended. */
export const insertEndedRun = (
  db: Db,
  { businessId, feedId }: FeedKey,
  {
    kind,
    startedTime,
    result,
    error = null,
  }: { kind: RunKind; startedTime: Temporal.Instant } & Ended,
  { user, now }: By,
) =>
  db.query(sql`
    insert into feed_run (business_id, feed_id, kind, status, result, error, started_time, started_user,
      ended_time)
    values (${businessId}, ${feedId}, ${kind}, ${error === null ? 'DONE' : 'FAILED'},
      ${result ? JSON.stringify(result) : null}::jsonb, ${error}, ${startedTime}, ${user}, ${now})`)

export const endRun = (
  db: Db,
  { businessId, feedRunId }: RunKey,
  { result, error = null }: Ended,
  now: Temporal.Instant,
) =>
  db.query(sql`
    update feed_run
    set status = ${error === null ? 'DONE' : 'FAILED'}, ended_time = ${now},
        result = ${result ? JSON.stringify(result) : null}::jsonb, error = ${error}
    where business_id = ${businessId} and feed_run_id = ${feedRunId} and status = 'RUNNING'`)

type RunKey = Pick<RunRow, 'businessId' | 'feedRunId'>

export const dryRunLease = ({ businessId, feedRunId }: RunKey) =>
  `dry run ${feedRunId} of business ${businessId}`

/** Ends the dry runs of processes that died: their leases have ended. */
export const failInterruptedDryRuns = (engine: Db, now: Temporal.Instant) =>
  engine.query(sql`
    with dead as (
      delete from work_lease where name like 'dry run % of business %' and lease_until < ${now}
      returning regexp_match(name, '(\\d+) of business (\\d+)')::bigint[] as ids)
    update feed_run
    set status = 'FAILED', error = 'The node stopped. Start the dry run again.', ended_time = ${now}
    from dead
    where business_id = ids[2] and feed_run_id = ids[1] and status = 'RUNNING'`)

/** Ends what was requested of a feed that is not read any more. */
export const failRequestedRuns = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  { error, now }: { error: string; now: Temporal.Instant },
) =>
  tx.query(sql`
    update feed_run set status = 'FAILED', error = ${error}, ended_time = ${now}
    where business_id = ${businessId} and feed_id = ${feedId} and status = 'RUNNING'
      and kind <> 'DRY_RUN'`)

/** A pull or reconciliation that was asked for. */
export const findRequestedRun = (db: Db, { businessId, feedId }: FeedKey) =>
  db.findRow<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and status = 'RUNNING'
      and kind <> 'DRY_RUN'`)

export const findRun = (db: Db, { businessId, feedId }: FeedKey, feedRunId: number) =>
  db.findRow<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and feed_run_id = ${feedRunId}`)

/** The last reconciliation that compared everything. */
export const findLastReconciliationOf = (db: Db, { businessId, feedId }: FeedKey) =>
  db.findRow<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and kind = 'RECONCILE' and result is not null
    order by feed_run_id desc limit 1`)

/** The first stored pull that succeeded after a time. */
export async function findPullSince(
  db: Db,
  { businessId, feedId }: FeedKey,
  since: Temporal.Instant | null,
) {
  const run = await db.findRow<{ feedRunId: number }>(sql`
    select feed_run_id as "feedRunId" from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and kind = 'PULL' and status = 'DONE'
      and started_time >= ${since} order by feed_run_id limit 1`)
  return run?.feedRunId ?? null
}

/** Deletes at most `limit` runs that ended before this time. Returns how many. */
export async function deleteOldRuns(engine: Db, before: Temporal.Instant, limit: number) {
  const rows = await engine.query(sql`
    delete from feed_run r
    using (select business_id, feed_run_id from feed_run where started_time < ${before} limit ${limit}) old
    where r.business_id = old.business_id and r.feed_run_id = old.feed_run_id
    returning r.feed_run_id`)
  return rows.length
}

export const listRuns = (
  db: Db,
  { businessId, feedId }: FeedKey,
  { before, limit }: { before: number; limit: number },
) =>
  db.query<RunRow>(sql`
    select ${columns} from feed_run
    where business_id = ${businessId} and feed_id = ${feedId} and feed_run_id < ${before}
    order by feed_run_id desc limit ${limit}`)
