import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { FeedKey } from './feeds.ts'

/** Secrets are encrypted; of a token only the hash is stored. */
export type StoredHook = { tokenHash: Buffer; secret: Buffer }

/** Only the engine can read it. */
export const findHook = (engine: Db, { businessId, feedId }: FeedKey) =>
  engine.findRow<StoredHook>(sql`
    select hook_token_hash as "tokenHash", hook_secret as secret from feed
    where business_id = ${businessId} and feed_id = ${feedId} and hook_token_hash is not null`)

/** `former` counts for a while after `now`; an earlier former one does not count any more. */
export const storeHook = (
  tx: Db,
  { businessId, feedId }: FeedKey,
  {
    hook,
    former,
    now,
  }: { hook: StoredHook; former: StoredHook | undefined; now: Temporal.Instant },
) =>
  tx.query(sql`
    update feed
    set hook_token_hash = ${hook.tokenHash}, hook_secret = ${hook.secret},
        former_hook_token_hash = ${former?.tokenHash ?? null}, former_hook_secret = ${former?.secret ?? null},
        hook_changed_time = ${now}
    where business_id = ${businessId} and feed_id = ${feedId}`)

/** The active feed that a token belongs to, with the secrets that count. `formerSince`: former ones of changes since then. */
export async function findFeedOfHook(engine: Db, tokenHash: Buffer, formerSince: Temporal.Instant) {
  const row = await engine.findRow<FeedKey & { secret: Buffer; formerSecret: Buffer | null }>(sql`
    select f.business_id as "businessId", f.feed_id as "feedId", f.hook_secret as secret,
           case when f.hook_changed_time > ${formerSince} then f.former_hook_secret end as "formerSecret"
    from feed f join business b on b.business_id = f.business_id and b.active
    where f.active
      and (f.hook_token_hash = ${tokenHash}
           or f.former_hook_token_hash = ${tokenHash} and f.hook_changed_time > ${formerSince})`)
  if (!row) return undefined
  const { secret, formerSecret, ...key } = row
  return { key, secrets: formerSecret ? [secret, formerSecret] : [secret] }
}
