import type { MatchKind } from '../contract/feed.ts'
import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'
import type { FeedKey } from './feeds.ts'
import { columnsFor, rowTable } from './rows.ts'

export type MatchRow = FeedKey & {
  feedMatchId: number
  kind: MatchKind
  matchKey: string
  name: string
  objectId: number | null
  madeBy: 'ADDRESS' | 'NAME' | 'FEED' | 'PERSON' | 'NONE'
  /** The properties of a client that the feed set. */
  applied: Record<string, string>
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

export type NewMatch = Omit<MatchRow, 'feedMatchId'>

const columns = sql`
  business_id as "businessId", feed_id as "feedId", feed_match_id as "feedMatchId", kind,
  match_key as "matchKey", name, object_id as "objectId", made_by as "madeBy", applied,
  modified_date as "modifiedDate", modified_user as "modifiedUser"`

const ofFeed = ({ businessId, feedId }: FeedKey) =>
  sql`business_id = ${businessId} and feed_id = ${feedId}`

export const listMatchesOf = (db: Db, feed: FeedKey, keys: string[]) =>
  db.query<MatchRow>(sql`
    select ${columns} from feed_match where ${ofFeed(feed)} and match_key = any (${keys}::text[])`)

export const listMatches = (
  db: Db,
  feed: FeedKey,
  { kind, after, limit }: { kind?: MatchKind | undefined; after: number; limit: number },
) =>
  db.query<MatchRow>(sql`
    select ${columns} from feed_match
    where ${ofFeed(feed)} and feed_match_id > ${after} ${kind ? sql`and kind = ${kind}` : empty}
    order by feed_match_id limit ${limit}`)

export const findMatch = (db: Db, feed: FeedKey, feedMatchId: number) =>
  db.findRow<MatchRow>(sql`
    select ${columns} from feed_match where ${ofFeed(feed)} and feed_match_id = ${feedMatchId}`)

const WRITTEN = columnsFor<NewMatch>({
  businessId: 'bigint',
  feedId: 'bigint',
  kind: 'text',
  matchKey: 'text',
  name: 'text',
  objectId: 'bigint',
  madeBy: 'text',
  applied: 'jsonb',
  modifiedDate: 'timestamptz',
  modifiedUser: 'text',
})

export async function writeMatches(tx: Db, matches: NewMatch[]) {
  if (matches.length === 0) return
  await tx.query(sql`
    insert into feed_match (business_id, feed_id, kind, match_key, name, object_id, made_by, applied,
                            modified_date, modified_user)
    select business_id, feed_id, kind, match_key, name, object_id, made_by, applied, modified_date, modified_user
    from ${rowTable(WRITTEN, matches)}
    on conflict (business_id, feed_id, kind, match_key) do update
    set name = excluded.name, object_id = excluded.object_id, made_by = excluded.made_by,
        applied = excluded.applied, modified_date = excluded.modified_date,
        modified_user = excluded.modified_user`)
}
