import type { FeedHealth } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { FeedKey, FeedState } from './feeds.ts'
import { NOT_HELD } from './installation.ts'

const ofFeed = ({ businessId, feedId }: FeedKey) =>
  sql`business_id = ${businessId} and feed_id = ${feedId}`

export const pullLease = ({ businessId, feedId }: FeedKey) =>
  `feed ${feedId} of business ${businessId}`

/**
 * Due feeds that no worker pulls, one of each business: the one that waits longest first. None of a
 * business of which nodes pull `perBusiness` feeds: as long as all choose the same feed, one can claim it.
 */
export const listDueFeeds = (
  engine: Db,
  { now, limit, perBusiness }: { now: Temporal.Instant; limit: number; perBusiness: number },
) =>
  engine.query<FeedKey>(sql`
    select "businessId", "feedId" from (
      select distinct on (s.business_id) s.business_id as "businessId", s.feed_id as "feedId",
             s.next_pull_time
      from feed_state s join business b on b.business_id = s.business_id and b.active
      where s.next_pull_time <= ${now} and ${NOT_HELD}
        and (select count(*) from work_lease w
             where w.name like 'feed % of business ' || s.business_id and w.lease_until >= ${now}) < ${perBusiness}
        and not exists (select from work_lease w
                        where w.name = 'feed ' || s.feed_id || ' of business ' || s.business_id
                          and w.lease_until >= ${now})
      order by s.business_id, s.next_pull_time, s.feed_id) due
    order by next_pull_time limit ${limit}`)

/**
 * Begins a pull: what an earlier one still writes is refused from now on. `until`: when the feed is due
 * again if this worker dies. Undefined if the feed is deleted or not pulled any more.
 */
export async function beginPull(
  engine: Db,
  feed: FeedKey,
  { now, until }: { now: Temporal.Instant; until: Temporal.Instant },
) {
  type Begun = Pick<FeedState, 'pullNumber' | 'cursor' | 'failures' | 'health' | 'reconcileTime'>
  const row = await engine.findRow<Begun>(sql`
    update feed_state
    set pull_number = pull_number + 1,
        next_pull_time = ${until},
        pull_again_time = case when pull_again_time > ${now} then pull_again_time end
    where ${ofFeed(feed)} and next_pull_time is not null
    returning pull_number as "pullNumber", cursor, failures, health, reconcile_time as "reconcileTime"`)
  return row
}

/**
 * The pull goes on; a hint that came meanwhile stays. False if the row was not changed: a batch that is
 * being written locks it.
 */
export async function renewPull(
  engine: Db,
  feed: FeedKey,
  {
    pullNumber,
    before,
    until,
  }: { pullNumber: number; before: Temporal.Instant; until: Temporal.Instant },
) {
  const rows = await engine.query(sql`
    update feed_state s set next_pull_time = ${until}
    from (select business_id, feed_id from feed_state
          where ${ofFeed(feed)} and pull_number = ${pullNumber} and next_pull_time = ${before}
          for no key update skip locked) free
    where s.business_id = free.business_id and s.feed_id = free.feed_id
    returning s.feed_id`)
  return rows.length > 0
}

type Planned = {
  /** What the pull set `next_pull_time` to. Another value is a hint that came meanwhile. */
  before: Temporal.Instant
  next: Temporal.Instant
}

/** A feed that was paused or deleted meanwhile is not planned again: least() ignores null. */
const nextTime = ({ before, next }: Planned) => sql`
  case when next_pull_time is null then null
       when next_pull_time = ${before} then ${next}::timestamptz
       else least(next_pull_time, ${next}::timestamptz) end`

/** Stores how far the pull came, in the transaction of its last batch. */
export const storePullEnd = (
  tx: Db,
  feed: FeedKey,
  {
    cursor,
    now,
    reconcileTime,
    lateTime,
    ...planned
  }: Planned & {
    cursor: unknown
    now: Temporal.Instant
    reconcileTime: Temporal.Instant
    /** A feed without a success by then is LATE. */
    lateTime: Temporal.Instant
  },
) =>
  tx.query(sql`
    update feed_state
    set cursor = ${JSON.stringify(cursor ?? null)}::jsonb, success_time = ${now}, complete_time = ${now},
        failures = 0, last_error = null, reconcile_time = coalesce(reconcile_time, ${reconcileTime}),
        late_time = case when next_pull_time is not null then ${lateTime}::timestamptz end,
        next_pull_time = case when next_pull_time is not null then least(${nextTime(planned)}, pull_again_time) end
    where ${ofFeed(feed)}`)

/** A feed that waits for a decision goes on to wait for it. */
export async function storePullFailure(
  engine: Db,
  feed: FeedKey,
  failure: Planned & {
    pullNumber: number
    health: FeedHealth
    error: string
    now: Temporal.Instant
  },
) {
  const { health, error, now, pullNumber } = failure
  await engine.query(sql`
    update feed_state
    set failures = failures + 1, last_error = ${error}, next_pull_time = ${nextTime(failure)},
        health_since = case when health in (${health}, 'NEEDS_DECISION') then health_since else ${now} end,
        health_cause = case when health = 'NEEDS_DECISION' then health_cause else ${error} end,
        health = case when health = 'NEEDS_DECISION' then health else ${health} end
    where ${ofFeed(feed)} and pull_number = ${pullNumber}`)
}

/** The node stops: another one pulls the feed. */
export const abandonPull = (
  engine: Db,
  feed: FeedKey,
  { pullNumber, now }: { pullNumber: number; now: Temporal.Instant },
) =>
  engine.query(sql`
    update feed_state set next_pull_time = least(next_pull_time, ${now}::timestamptz)
    where ${ofFeed(feed)} and pull_number = ${pullNumber} and next_pull_time is not null`)

/** Stores how a reconciliation ended. An error stays until one succeeds. */
export async function storeReconciliation(
  tx: Db,
  feed: FeedKey,
  { error, next }: { error: string | null; next: Temporal.Instant },
) {
  await tx.query(sql`
    update feed_state
    set reconcile_error = ${error}, reconcile_time = ${next},
        next_pull_time = case when next_pull_time is not null
                              then least(next_pull_time, ${next}::timestamptz) end
    where ${ofFeed(feed)}`)
}
