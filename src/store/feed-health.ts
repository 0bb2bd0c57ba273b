import type { EntryState, FeedHealth, FeedMode, FeedSource } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import type { FeedKey } from './feeds.ts'
import { NOT_HELD } from './installation.ts'

const LATE_CAUSE = 'No pull has succeeded for three intervals.'

/** Feeds without a success in time. Other problems stay as they are. */
export const markLateFeeds = (engine: Db, now: Temporal.Instant) =>
  engine.query(sql`
    update feed_state s set health = 'LATE', health_since = ${now}, health_cause = ${LATE_CAUSE}
    where ${NOT_HELD} and (s.business_id, s.feed_id) in (
      select l.business_id, l.feed_id
      from feed_state l join business b on b.business_id = l.business_id and b.active
      where l.health = 'OK' and l.next_pull_time is not null and l.late_time <= ${now}
      for update of l skip locked)`)

export type HealthChange = FeedKey & { source: FeedSource; health: FeedHealth; before: FeedHealth }

/** The changes of health since the last call, on any node. */
export const takeHealthChanges = (engine: Db) =>
  engine.query<HealthChange>(sql`
    update feed_state s set logged_health = s.health
    from (select l.business_id, l.feed_id, l.logged_health, f.source
          from feed_state l join feed f on f.business_id = l.business_id and f.feed_id = l.feed_id and f.active
          where l.logged_health <> l.health
          for update of l skip locked) c
    where s.business_id = c.business_id and s.feed_id = c.feed_id
    returning s.business_id as "businessId", s.feed_id as "feedId", c.source, s.health,
              c.logged_health as before`)

/** A decision is asked for at once: reminders of the appointments go on meanwhile. */
const NOTICE_MINUTES = 60
const NOTICE_EVERY_HOURS = 24

/** `f`, `s`: active feeds that people have to be told about: each problem once, a feed at most once a day. */
const toTell = (now: Temporal.Instant) => sql`
  f.business_id = s.business_id and f.feed_id = s.feed_id and f.active
  and f.mode in ('SHADOW', 'LIVE') and s.health <> 'OK'
  and (s.health = 'NEEDS_DECISION' or s.health_since <= ${now.subtract({ minutes: NOTICE_MINUTES })})
  and (s.told_time is null
       or s.told_time < s.health_since and s.told_time <= ${now.subtract({ hours: NOTICE_EVERY_HOURS })})`

export const listBusinessesToTell = (engine: Db, now: Temporal.Instant) =>
  engine.query<{ businessId: number }>(sql`
    select distinct s.business_id as "businessId"
    from feed_state s, feed f, business b
    where ${toTell(now)} and b.business_id = s.business_id and b.active`)

export type UnwellFeed = FeedKey & {
  name: string
  mode: FeedMode
  health: FeedHealth
  since: Temporal.Instant
  cause: string | null
}

/** The feeds that people are told about now. Another call does not get them again. */
export const takeFeedsToTell = (tx: Db, businessId: number, now: Temporal.Instant) =>
  tx.query<Omit<UnwellFeed, 'mode'>>(sql`
    update feed_state s set told_time = ${now} from feed f
    where s.business_id = ${businessId} and ${toTell(now)}
    returning s.business_id as "businessId", s.feed_id as "feedId", f.name, s.health,
              s.health_since as since, s.health_cause as cause`)

/** The active feeds of all businesses, or of one. */
export const listFeedHealth = (engine: Db, businessId?: number) =>
  engine.query<UnwellFeed & { source: FeedSource; successTime: Temporal.Instant | null }>(sql`
    select s.business_id as "businessId", s.feed_id as "feedId", f.name, f.source, f.mode, s.health,
           s.health_since as since, s.health_cause as cause, s.success_time as "successTime"
    from feed_state s
    join feed f on f.business_id = s.business_id and f.feed_id = s.feed_id and f.active
    join business b on b.business_id = s.business_id and b.active
    ${businessId === undefined ? empty : sql`where s.business_id = ${businessId}`}
    order by s.business_id, s.feed_id`)

export type FeedFigures = {
  feeds: { mode: FeedMode; health: FeedHealth; count: number }[]
  entries: { state: EntryState; count: number }[]
  differences: number
  /** The last success of the pulled feed that waits longest for one; null: no feed is pulled. */
  oldestSuccess: Temporal.Instant | null
}

/** For metrics: all active feeds. */
export const readFeedFigures = (engine: Db) =>
  engine.getRow<FeedFigures>(sql`
    with live as (
      select f.business_id, f.feed_id, f.mode, s.health, s.next_pull_time, s.success_time, f.modified_date
      from feed f
      join feed_state s on s.business_id = f.business_id and s.feed_id = f.feed_id
      join business b on b.business_id = f.business_id and b.active
      where f.active)
    select
      (select coalesce(jsonb_agg(c), '[]')
       from (select mode, health, count(*) from live group by mode, health) c) as feeds,
      (select coalesce(jsonb_agg(c), '[]')
       from (select e.state, count(*) from live l join feed_entry e using (business_id, feed_id)
             group by e.state) c) as entries,
      (select coalesce(sum(jsonb_array_length(r.result->'differences')), 0)
       from live l cross join lateral (
         select result from feed_run r
         where r.business_id = l.business_id and r.feed_id = l.feed_id and r.kind = 'RECONCILE'
           and r.result is not null
         order by r.feed_run_id desc limit 1) r) as differences,
      (select min(coalesce(success_time, modified_date)) from live where next_pull_time is not null)
        as "oldestSuccess"`)
