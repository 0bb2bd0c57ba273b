import type { EntryState, FeedFields, FeedHealth, FeedRunResult } from '../contract/feed.ts'
import { toColumn, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import { NOT_HELD } from './installation.ts'
import { columnsFor, insertSaved, SAVED_COLUMNS, selectList, updateSaved, type By } from './rows.ts'
import type { PageAfter } from './pages.ts'

export type FeedKey = { businessId: number; feedId: number }

export type FeedRow = FeedKey &
  FeedFields & {
    active: boolean
    version: number
    createdDate: Temporal.Instant
    createdUser: string
    modifiedDate: Temporal.Instant
    modifiedUser: string
  }

export type FeedState = {
  cursor: unknown
  pullNumber: number
  nextPullTime: Temporal.Instant | null
  failures: number
  lastError: string | null
  hasSecret: boolean
  mappingChangedTime: Temporal.Instant
  completeTime: Temporal.Instant | null
  successTime: Temporal.Instant | null
  health: FeedHealth
  healthSince: Temporal.Instant
  healthCause: string | null
  /** The next reconciliation; null: it is not planned yet. */
  reconcileTime: Temporal.Instant | null
  /** Entries after this id have to be mapped again; null: none. */
  remapAfter: number | null
}

const FIELDS = columnsFor<FeedFields>({
  name: 'text',
  source: 'text',
  mode: 'text',
  connection: 'jsonb',
  defaults: 'jsonb',
  rules: 'jsonb',
  statusMap: 'jsonb',
  pullMinutes: 'int',
  horizonDays: 'int',
  historyDays: 'int',
  closeAfterHours: 'int',
  severalClients: 'text',
  clientsWithoutAddress: 'text',
  vanishLimit: 'int',
} satisfies Record<keyof FeedFields, string>)

const columns = sql`
  t.business_id as "businessId", t.feed_id as "feedId", ${selectList(FIELDS)}, t.active, ${SAVED_COLUMNS}`

const stateColumns = sql`
  s.cursor, s.pull_number as "pullNumber", s.next_pull_time as "nextPullTime", s.failures,
  s.last_error as "lastError", s.has_secret as "hasSecret", s.mapping_changed_time as "mappingChangedTime",
  s.complete_time as "completeTime", s.success_time as "successTime", s.health,
  s.health_since as "healthSince", s.health_cause as "healthCause",
  s.reconcile_time as "reconcileTime", s.remap_after as "remapAfter"`

export const findFeed = (db: Db, { businessId, feedId }: FeedKey) =>
  db.findRow<FeedRow>(sql`
    select ${columns} from feed t where t.business_id = ${businessId} and t.feed_id = ${feedId}`)

export const lockFeed = (tx: Db, { businessId, feedId }: FeedKey) =>
  tx.findRow<FeedRow>(sql`
    select ${columns} from feed t where t.business_id = ${businessId} and t.feed_id = ${feedId}
    for no key update`)

/** The active feed with this id, of any business. */
export const findFeedById = (engine: Db, feedId: number) =>
  engine.findRow<FeedRow>(sql`
    select ${columns} from feed t join business b on b.business_id = t.business_id and b.active
    where t.feed_id = ${feedId} and t.active`)

export const listFeeds = (db: Db, businessId: number, { after, limit }: PageAfter) =>
  db.query<FeedRow>(sql`
    select ${columns} from feed t
    where t.business_id = ${businessId} and t.active and t.feed_id > ${after}
    order by t.feed_id limit ${limit}`)

export async function countFeeds(db: Db, businessId: number) {
  const row = await db.getRow<{ count: number }>(sql`
    select count(*) as count from feed where business_id = ${businessId} and active`)
  return row.count
}

export async function isFeedNameTaken(db: Db, businessId: number, name: string, feedId: number) {
  const rows = await db.query(sql`
    select from feed
    where business_id = ${businessId} and active and lower(name) = lower(${name}) and feed_id <> ${feedId}`)
  return rows.length > 0
}

export async function insertFeed(tx: Db, businessId: number, feed: FeedFields, by: By) {
  const row = { ...feed, businessId }
  const written = [...FIELDS, ...columnsFor<typeof row>({ businessId: 'bigint' })]
  const inserted = await tx.getRow<FeedRow>(sql`
    ${insertSaved<typeof row>('feed', written, row, by)} returning ${columns}`)
  await tx.query(sql`
    insert into feed_state (business_id, feed_id, mapping_changed_time, health_since)
    values (${businessId}, ${inserted.feedId}, ${by.now}, ${by.now})`)
  return inserted
}

export async function updateFeed(
  tx: Db,
  { businessId, feedId }: FeedKey,
  feed: FeedFields & { active: boolean },
  by: By,
) {
  const changeable = FIELDS.filter(({ property }) => property !== 'source')
  const written = [...changeable, ...columnsFor<typeof feed>({ active: 'boolean' })]
  const updated = await tx.getRow<FeedRow>(sql`
    ${updateSaved<typeof feed>('feed', written, feed, by)}
    where t.business_id = ${businessId} and t.feed_id = ${feedId} returning ${columns}`)
  return updated
}

/** Only one transaction at a time writes what a feed mirrors: docs/engine.md, lock order. */
export const lockFeedState = (tx: Db, { businessId, feedId }: FeedKey) =>
  tx.findRow<FeedState>(sql`
    select ${stateColumns} from feed_state s
    where s.business_id = ${businessId} and s.feed_id = ${feedId} for update`)

export type FeedSummary = Pick<FeedRow, 'feedId' | 'name' | 'mode'> &
  Pick<FeedState, 'health' | 'healthSince' | 'healthCause'> & {
    heldSoon: number
    /** The last reconciliation that succeeded. */
    sums: FeedRunResult['sums']
    checkedTime: Temporal.Instant | null
  }

/** The active feeds with their health, held entries that begin before `heldUntil`, and last reconciliation. */
export const listFeedSummaries = (
  db: Db,
  businessId: number,
  { now, heldUntil }: { now: Temporal.Instant; heldUntil: Temporal.Instant },
) =>
  db.query<FeedSummary>(sql`
    select f.feed_id as "feedId", f.name, f.mode, s.health, s.health_since as "healthSince",
           s.health_cause as "healthCause", r.result->'sums' as sums, r.ended_time as "checkedTime",
           (select count(*) from feed_entry e
            where e.business_id = f.business_id and e.feed_id = f.feed_id and e.state = 'HELD'
              and e.start_time >= ${now} and e.start_time < ${heldUntil}) as "heldSoon"
    from feed f
    join feed_state s on s.business_id = f.business_id and s.feed_id = f.feed_id
    left join lateral (
      select r.result, r.ended_time from feed_run r
      where r.business_id = f.business_id and r.feed_id = f.feed_id and r.kind = 'RECONCILE'
        and r.status = 'DONE'
      order by r.feed_run_id desc limit 1) r on true
    where f.business_id = ${businessId} and f.active order by f.feed_id`)

/** The states of several feeds, by their ids, with the number of entries in each state. */
export async function readFeedStates(db: Db, businessId: number, feedIds: number[]) {
  const rows = await db.query<
    FeedState & { feedId: number; entries: Partial<Record<EntryState, number>> }
  >(sql`
    select s.feed_id as "feedId", ${stateColumns},
      (select coalesce(jsonb_object_agg(state, n), '{}') from (
         select e.state, count(*) as n from feed_entry e
         where e.business_id = s.business_id and e.feed_id = s.feed_id group by e.state) c) as entries
    from feed_state s where s.business_id = ${businessId} and s.feed_id = any (${feedIds}::bigint[])`)
  return new Map(rows.map((row) => [row.feedId, row]))
}

/** The complete pulls of before do not count any more. */
export const markMappingChanged = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  now: Temporal.Instant,
) =>
  tx.query(sql`
    update feed_state set mapping_changed_time = ${now}
    where business_id = ${businessId} and feed_id = ${feedId}`)

export const recordPull = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  { isComplete, now }: { isComplete: boolean; now: Temporal.Instant },
) =>
  tx.query(sql`
    update feed_state
    set success_time = ${now}, complete_time = ${isComplete ? sql`${now}` : sql`complete_time`},
        failures = 0, last_error = null
    where business_id = ${businessId} and feed_id = ${feedId}`)

/** Encrypted; null removes it. */
export async function storeFeedSecret(
  tx: Db,
  { businessId, feedId }: FeedKey,
  sealed: Buffer | null,
) {
  await tx.query(sql`
    update feed set secret = ${sealed} where business_id = ${businessId} and feed_id = ${feedId}`)
  await tx.query(sql`
    update feed_state set has_secret = ${sealed !== null}
    where business_id = ${businessId} and feed_id = ${feedId}`)
}

/** Only the engine can read it. */
export async function findFeedSecret(engine: Db, { businessId, feedId }: FeedKey) {
  const row = await engine.findRow<{ secret: Buffer | null }>(sql`
    select secret from feed where business_id = ${businessId} and feed_id = ${feedId}`)
  return row?.secret ?? null
}

/**
 * Plans the pulls of a feed that was saved; null: it is not pulled. `isFresh`: everything is read again, at once.
 * Without a success until `lateTime`, a feed that begins to be pulled is LATE.
 */
export const planPulls = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  {
    from,
    lateTime,
    isFresh,
  }: { from: Temporal.Instant | null; lateTime: Temporal.Instant; isFresh: boolean },
) =>
  tx.query(sql`
    update feed_state
    set late_time = ${isFresh ? sql`${lateTime}::timestamptz` : sql`case when next_pull_time is null then ${lateTime} else late_time end`},
        next_pull_time = ${isFresh ? sql`${from}::timestamptz` : sql`case when ${from}::timestamptz is not null then coalesce(next_pull_time, ${from}) end`},
        -- What a running pull still writes belongs to the former connection.
        pull_number = pull_number + ${isFresh ? 1 : 0},
        cursor = ${isFresh ? sql`null` : sql`cursor`}
    where business_id = ${businessId} and feed_id = ${feedId}`)

/** Lets a feed that is pulled be pulled at a time, if not earlier, and once more if `again` says when. */
export const requestPull = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  { at, again = null }: { at: Temporal.Instant; again?: Temporal.Instant | null },
) =>
  tx.query(sql`
    update feed_state
    set next_pull_time = least(next_pull_time, ${at}::timestamptz), pull_again_time = coalesce(${again}, pull_again_time)
    where business_id = ${businessId} and feed_id = ${feedId} and next_pull_time is not null`)

/** `since` changes only if the health does. A reconciliation that did not add up counts until one does. */
export const setHealth = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  { health, cause }: { health: FeedHealth; cause: string | null },
  now: Temporal.Instant,
) =>
  tx.query(sql`
    update feed_state s
    set health_since = case when s.health = n.health then s.health_since else ${now} end,
        health = n.health, health_cause = n.cause
    from (select business_id, feed_id,
                 case when ${health} = 'OK' and reconcile_error is not null then 'FAILING' else ${health} end as health,
                 case when ${health} = 'OK' then reconcile_error else ${cause} end as cause
          from feed_state where business_id = ${businessId} and feed_id = ${feedId}) n
    where s.business_id = n.business_id and s.feed_id = n.feed_id
      and (s.health, s.health_cause) is distinct from (n.health, n.cause)`)

export async function listFeedNames(db: Db, businessId: number, feedIds: number[]) {
  if (feedIds.length === 0) return new Map<number, string>()
  const rows = await db.query<{ feedId: number; name: string }>(sql`
    select feed_id as "feedId", name from feed
    where business_id = ${businessId} and feed_id = any (${feedIds}::bigint[])`)
  return new Map(rows.map(({ feedId, name }) => [feedId, name]))
}

/** Lets all entries of a feed be mapped again, from the first one. */
export const requestRemap = (tx: Db, key: FeedKey) => setRemapAfter(tx, key, 0)

/** Entries after this id have to be mapped again; null: none. */
export const setRemapAfter = (tx: Db, { businessId, feedId }: FeedKey, after: number | null) =>
  tx.query(sql`
    update feed_state set remap_after = ${after}
    where business_id = ${businessId} and feed_id = ${feedId}`)

/** A feed whose entries were not compared with the time since `before`. Another call does not get it again. */
export const takeFeedOfTime = (
  engine: Db,
  { now, before }: { now: Temporal.Instant; before: Temporal.Instant },
) =>
  engine.findRow<FeedKey>(sql`
    update feed_state set tidied_time = ${now}
    where ${NOT_HELD} and (business_id, feed_id) in (
      select s.business_id, s.feed_id
      from feed_state s
      join feed f on f.business_id = s.business_id and f.feed_id = s.feed_id and f.active and f.mode <> 'DRAFT'
      join business b on b.business_id = s.business_id and b.active
      where coalesce(s.tidied_time, '-infinity') <= ${before}
      order by s.tidied_time nulls first limit 1 for update of s skip locked)
    returning business_id as "businessId", feed_id as "feedId"`)

/** Ends a feed and deletes its secrets. */
export async function deactivateFeed(tx: Db, { businessId, feedId }: FeedKey, { user, now }: By) {
  const row = await tx.getRow<FeedRow>(sql`
    update feed t
    set active = false, secret = null, hook_token_hash = null, hook_secret = null,
        former_hook_token_hash = null, former_hook_secret = null,
        version = version + 1, modified_date = ${now}, modified_user = ${user}
    where t.business_id = ${businessId} and t.feed_id = ${feedId} returning ${columns}`)
  await tx.query(sql`
    update feed_state set has_secret = false, next_pull_time = null, cursor = null, remap_after = null
    where business_id = ${businessId} and feed_id = ${feedId}`)
  return row
}

export const listObjectsOfFeed = (
  tx: Db,
  { table, id }: Pick<ObjectKind, 'table' | 'id'>,
  { businessId, feedId }: FeedKey,
  limit: number,
) =>
  tx.query<{ id: number; startTime: Temporal.Instant; active: boolean }>(sql`
    select ${raw(toColumn(id))} as id, start_time as "startTime", active from ${raw(table)}
    where business_id = ${businessId} and feed_id = ${feedId}
    order by start_time limit ${limit}`)
