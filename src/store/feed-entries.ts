import type { Correction, EntryState, FeedDecision } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import type { FeedKey } from './feeds.ts'
import { columnsFor, insertRows, rowTable, updateRows } from './rows.ts'

/** An entry of a source, as it is stored. `Source` and `Applied` are JSON that src/feeds/ reads. */
export type EntryRow = FeedKey & {
  feedEntryId: number
  entryKey: string
  resourceKey: string
  uid: string | null
  state: EntryState
  reasonCode: string | null
  reason: string | null
  title: string | null
  startTime: Temporal.Instant | null
  endTime: Temporal.Instant | null
  objectType: 'CALENDAR' | 'CLASS_SCHEDULE' | null
  objectId: number | null
  source: Record<string, unknown>
  applied: Record<string, unknown>
  decisions: FeedDecision[]
  correction: Correction | null
  personKeys: string[]
  isKept: boolean
  isErased: boolean
  absentTime: Temporal.Instant | null
  changedTime: Temporal.Instant
}

const columns = sql`
  business_id as "businessId", feed_id as "feedId", feed_entry_id as "feedEntryId", entry_key as "entryKey",
  resource_key as "resourceKey", uid, state, reason_code as "reasonCode", reason, title,
  start_time as "startTime", end_time as "endTime", object_type as "objectType", object_id as "objectId",
  source, applied, decisions, correction, person_keys as "personKeys", is_kept as "isKept",
  is_erased as "isErased", absent_time as "absentTime", changed_time as "changedTime"`

const ofFeed = ({ businessId, feedId }: FeedKey) =>
  sql`business_id = ${businessId} and feed_id = ${feedId}`

/** The entries of these resources, and those with these keys or ids, wherever they are. */
export const listEntriesOf = (
  db: Db,
  feed: FeedKey,
  { resourceKeys, entryKeys, ids }: { resourceKeys: string[]; entryKeys: string[]; ids: number[] },
) =>
  db.query<EntryRow>(sql`
    select ${columns} from feed_entry
    where ${ofFeed(feed)} and (resource_key = any (${resourceKeys}::text[])
      or entry_key = any (${entryKeys}::text[]) or feed_entry_id = any (${ids}::bigint[]))
    order by feed_entry_id`)

/** How many entries of other resources the source has that are not over. */
export async function countOtherEntries(
  tx: Db,
  feed: FeedKey,
  { except, now }: { except: string[]; now: Temporal.Instant },
) {
  const { count } = await tx.getRow<{ count: number }>(sql`
    select count(*) from feed_entry
    where ${ofFeed(feed)} and state <> 'GONE' and (end_time is null or end_time > ${now})
      and resource_key <> all (${except}::text[])`)
  return count
}

/** What a full listing is compared with. */
export type ListedEntry = Pick<
  EntryRow,
  | 'feedEntryId'
  | 'resourceKey'
  | 'entryKey'
  | 'state'
  | 'startTime'
  | 'objectType'
  | 'objectId'
  | 'title'
  | 'changedTime'
  | 'absentTime'
  | 'isKept'
  | 'isErased'
>

/** All entries that the source had, without their content. */
export const listLiveEntries = (db: Db, feed: FeedKey) =>
  db.query<ListedEntry>(sql`
    select feed_entry_id as "feedEntryId", resource_key as "resourceKey", entry_key as "entryKey", state,
           start_time as "startTime", object_type as "objectType", object_id as "objectId", title,
           changed_time as "changedTime", absent_time as "absentTime", is_kept as "isKept",
           is_erased as "isErased"
    from feed_entry where ${ofFeed(feed)} and state <> 'GONE' order by feed_entry_id`)

/** Upcoming mirrored objects whose status here is not the one that was applied. */
export const listChangedHere = (db: Db, feed: FeedKey, now: Temporal.Instant) =>
  db.query<
    Pick<EntryRow, 'title' | 'objectType' | 'objectId'> & {
      entryId: number
      key: string
      status: string
      applied: string
      since: Temporal.Instant
    }
  >(sql`
    select e.feed_entry_id as "entryId", e.entry_key as key, e.title, e.object_type as "objectType",
           e.object_id as "objectId", o.status, e.applied->>'status' as applied, o.modified_date as since
    from feed_entry e
    join (select 'CALENDAR' as type, business_id, calendar_id as id, status, modified_date, start_time
          from calendar where ${ofFeed(feed)} and active and start_time > ${now}
          union all
          select 'CLASS_SCHEDULE', business_id, class_schedule_id, status, modified_date, start_time
          from class_schedule where ${ofFeed(feed)} and active and start_time > ${now}) o
      on o.type = e.object_type and o.id = e.object_id
    where e.business_id = ${feed.businessId} and e.feed_id = ${feed.feedId} and e.state = 'MIRRORED'
      and o.status <> e.applied->>'status'
    order by o.start_time`)

export type CancelledHere = {
  feedEntryId: number
  startTime: Temporal.Instant
  /** Of its location. */
  timeZone: string
  staffAddress: string | null
}

/**
 * Upcoming appointments that were cancelled here before `until`, are still in the source, and that nobody
 * was told of, with the address of their member of staff. None if people were told of others after `toldSince`.
 */
export const listCancelledHere = (
  tx: Db,
  feed: FeedKey,
  {
    cancelled,
    now,
    until,
    toldSince,
  }: {
    cancelled: string[]
    now: Temporal.Instant
    until: Temporal.Instant
    toldSince: Temporal.Instant
  },
) =>
  tx.query<CancelledHere>(sql`
    select e.feed_entry_id as "feedEntryId", c.start_time as "startTime", p.email_address as "staffAddress",
           coalesce(l.time_zone, b.time_zone) as "timeZone"
    from feed_entry e
    join calendar c on c.business_id = e.business_id and c.calendar_id = e.object_id and c.feed_id = e.feed_id
    join business b on b.business_id = e.business_id
    left join location l on l.business_id = c.business_id and l.location_id = c.location_id
    left join professional p on p.business_id = c.business_id and p.professional_id = c.professional_id and p.active
    where e.business_id = ${feed.businessId} and e.feed_id = ${feed.feedId} and e.state = 'MIRRORED'
      and e.object_type = 'CALENDAR' and e.absent_time is null and not e.is_kept and e.told_time is null
      and c.active and c.start_time > ${now} and c.modified_date <= ${until}
      and c.status = any (${cancelled}::text[]) and not e.applied->>'status' = any (${cancelled}::text[])
      and not exists (select from feed_entry
                      where ${ofFeed(feed)} and told_time > ${toldSince})`)

/** People were told of these entries. */
export const markTold = (tx: Db, { businessId }: FeedKey, ids: number[], now: Temporal.Instant) =>
  tx.query(sql`
    update feed_entry set told_time = ${now}
    where business_id = ${businessId} and feed_entry_id = any (${ids}::bigint[])`)

/** People are told again of appointments that are not cancelled now, if they are cancelled later. */
export const forgetTold = (tx: Db, feed: FeedKey, cancelled: string[]) =>
  tx.query(sql`
    update feed_entry e set told_time = null
    from calendar c
    where e.business_id = ${feed.businessId} and e.feed_id = ${feed.feedId} and e.told_time is not null
      and e.object_type = 'CALENDAR' and c.business_id = e.business_id and c.calendar_id = e.object_id
      and not c.status = any (${cancelled}::text[])`)

type Listing = {
  state?: EntryState | undefined
  reason?: string | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
  after: number
  limit: number
}

export const listEntries = (
  db: Db,
  feed: FeedKey,
  { state, reason, from, to, after, limit }: Listing,
) =>
  db.query<EntryRow>(sql`
    select ${columns} from feed_entry
    where ${ofFeed(feed)} and feed_entry_id > ${after}
      ${state ? sql`and state = ${state}` : empty} ${reason ? sql`and reason_code = ${reason}` : empty}
      ${from ? sql`and start_time >= ${from}` : empty} ${to ? sql`and start_time < ${to}` : empty}
    order by feed_entry_id limit ${limit}`)

/**
 * Entries that are to be mapped again because of the time: mirrored ones that ended by `closedUntil` with
 * a live status (`live`: types and statuses), and those between `from` and `to` that were too far ahead.
 */
export const listEntriesOfTime = (
  db: Db,
  feed: FeedKey,
  {
    live,
    closedUntil,
    from,
    to,
    limit,
  }: {
    live: string[]
    closedUntil: Temporal.Instant | null
    from: Temporal.Instant
    to: Temporal.Instant
    limit: number
  },
) =>
  db.query<EntryRow>(sql`
    (select ${columns} from feed_entry
     where ${ofFeed(feed)} and state = 'MIRRORED' and object_id is not null and end_time <= ${closedUntil}
       and object_type || ' ' || (applied->>'status') = any (${live}::text[])
     order by end_time limit ${limit})
    union all
    (select ${columns} from feed_entry
     where ${ofFeed(feed)} and state = 'SKIPPED' and reason_code = 'outside-window'
       and start_time >= ${from} and start_time < ${to}
     order by start_time limit ${limit})
    limit ${limit}`)

export const findEntry = (db: Db, feed: FeedKey, feedEntryId: number) =>
  db.findRow<EntryRow>(sql`
    select ${columns} from feed_entry where ${ofFeed(feed)} and feed_entry_id = ${feedEntryId}`)

export async function hasEntries(db: Db, feed: FeedKey) {
  const rows = await db.query(sql`select from feed_entry where ${ofFeed(feed)} limit 1`)
  return rows.length > 0
}

/** Entries that a full listing lacked, and that have not begun. */
export const listAbsentEntries = (db: Db, feed: FeedKey, now: Temporal.Instant) =>
  db.query<EntryRow>(sql`
    select ${columns} from feed_entry
    where ${ofFeed(feed)} and absent_time is not null and state <> 'GONE'
      and (start_time is null or start_time > ${now})
    order by feed_entry_id`)

/** The UIDs that another active feed of the business mirrors. */
export async function listUidsOfOtherFeeds(
  db: Db,
  { businessId, feedId }: FeedKey,
  uids: string[],
) {
  if (uids.length === 0) return new Set<string>()
  const rows = await db.query<{ uid: string }>(sql`
    select distinct e.uid from feed_entry e
    join feed f on f.business_id = e.business_id and f.feed_id = e.feed_id and f.active
    where e.business_id = ${businessId} and e.uid = any (${uids}::text[]) and e.feed_id <> ${feedId}
      and e.state = 'MIRRORED'`)
  return new Set(rows.map(({ uid }) => uid))
}

export const deleteEntriesOfFeed = async (tx: Db, feed: FeedKey) => {
  for (const table of ['feed_entry', 'feed_resource', 'feed_match'] as const) {
    await tx.query(DELETIONS[table](feed))
  }
}
const DELETIONS = {
  feed_entry: (feed: FeedKey) => sql`delete from feed_entry where ${ofFeed(feed)}`,
  feed_resource: (feed: FeedKey) => sql`delete from feed_resource where ${ofFeed(feed)}`,
  feed_match: (feed: FeedKey) => sql`delete from feed_match where ${ofFeed(feed)}`,
}

const WRITTEN = columnsFor<EntryRow>({
  businessId: 'bigint',
  feedId: 'bigint',
  feedEntryId: 'bigint',
  entryKey: 'text',
  resourceKey: 'text',
  uid: 'text',
  state: 'text',
  reasonCode: 'text',
  reason: 'text',
  title: 'text',
  startTime: 'timestamptz',
  endTime: 'timestamptz',
  objectType: 'text',
  objectId: 'bigint',
  source: 'jsonb',
  applied: 'jsonb',
  decisions: 'jsonb',
  correction: 'jsonb',
  personKeys: 'text[]',
  isKept: 'boolean',
  isErased: 'boolean',
  absentTime: 'timestamptz',
  changedTime: 'timestamptz',
})

export async function drawEntryIds(tx: Db, count: number) {
  if (count === 0) return []
  const rows = await tx.query<{ id: number }>(sql`
    select nextval('feed_entry_feed_entry_id_seq') as id from generate_series(1, ${count}::int)`)
  return rows.map(({ id }) => id)
}

/** Writes entries; `known` has the ids of those that exist. */
export async function writeEntries(tx: Db, entries: EntryRow[], known: Set<number>) {
  const changed = entries.filter(({ feedEntryId }) => known.has(feedEntryId))
  const created = entries.filter(({ feedEntryId }) => !known.has(feedEntryId))
  if (changed.length > 0) {
    await tx.query(updateRows('feed_entry', ['business_id', 'feed_entry_id'], WRITTEN, changed))
  }
  if (created.length > 0) await tx.query(insertRows('feed_entry', WRITTEN, created))
}

export type ResourceRow = FeedKey & {
  resourceKey: string
  calendar: string | null
  version: string
  contentDigest: Buffer
  readAgainTime: Temporal.Instant | null
}

export const listResources = (db: Db, feed: FeedKey, keys: string[]) =>
  db.query<ResourceRow>(sql`
    select business_id as "businessId", feed_id as "feedId", resource_key as "resourceKey", calendar, version,
           content_digest as "contentDigest", read_again_time as "readAgainTime"
    from feed_resource where ${ofFeed(feed)} and resource_key = any (${keys}::text[])`)

const RESOURCE = columnsFor<ResourceRow>({
  businessId: 'bigint',
  feedId: 'bigint',
  resourceKey: 'text',
  calendar: 'text',
  version: 'text',
  contentDigest: 'bytea',
  readAgainTime: 'timestamptz',
})

export async function writeResources(tx: Db, resources: ResourceRow[]) {
  if (resources.length === 0) return
  await tx.query(sql`
    insert into feed_resource (business_id, feed_id, resource_key, calendar, version, content_digest, read_again_time)
    select business_id, feed_id, resource_key, calendar, version, content_digest, read_again_time
    from ${rowTable(RESOURCE, resources)}
    on conflict (business_id, feed_id, resource_key) do update
    set calendar = excluded.calendar, version = excluded.version, content_digest = excluded.content_digest,
        read_again_time = excluded.read_again_time`)
}

export type ResourceVersion = Pick<ResourceRow, 'resourceKey' | 'version' | 'readAgainTime'>

/** All resources of a feed, without their digests. */
export const listResourceVersions = (db: Db, feed: FeedKey) =>
  db.query<ResourceVersion>(sql`
    select resource_key as "resourceKey", version, read_again_time as "readAgainTime"
    from feed_resource where ${ofFeed(feed)}`)

/** Forgets resources of which nothing is left: if one returns with its old version, it is new. */
export const deleteEndedResources = (tx: Db, feed: FeedKey, keys: string[]) =>
  tx.query(sql`
    delete from feed_resource r
    where ${ofFeed(feed)} and resource_key = any (${keys}::text[])
      and not exists (select from feed_entry e
                      where e.business_id = r.business_id and e.feed_id = r.feed_id
                        and e.resource_key = r.resource_key and e.state <> 'GONE')`)

/** Marks entries that a full listing lacks; null: they are back. */
export async function markAbsent(
  tx: Db,
  { businessId }: FeedKey,
  entries: Pick<EntryRow, 'feedEntryId'>[],
  since: Temporal.Instant | null,
  { isKept = false } = {},
) {
  if (entries.length === 0) return
  await tx.query(sql`
    update feed_entry set absent_time = ${since}, is_kept = ${isKept}
    where business_id = ${businessId}
      and feed_entry_id = any (${entries.map(({ feedEntryId }) => feedEntryId)}::bigint[])`)
}

/** Lets resources be read again from now on, though their version is the same. */
export const requestReading = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  keys: string[],
  now: Temporal.Instant,
) =>
  tx.query(sql`
    update feed_resource set read_again_time = least(read_again_time, ${now}::timestamptz)
    where business_id = ${businessId} and feed_id = ${feedId} and resource_key = any (${keys}::text[])`)

/** Resources that were asked for at or before a time have been read. */
export const endReadingAgain = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  keys: string[],
  before: Temporal.Instant,
) =>
  tx.query(sql`
    update feed_resource set read_again_time = null
    where business_id = ${businessId} and feed_id = ${feedId} and resource_key = any (${keys}::text[])
      and read_again_time <= ${before}`)
