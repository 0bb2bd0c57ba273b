import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type RememberedAnswer = {
  status: number
  headers: Record<string, string>
  /** The text that was sent. */
  answer: string
}

export type IdempotencyKey = { businessId: number; digest: Buffer; bodyDigest: Buffer }

/** Returns false if a request with the same key is still running. Locks until the transaction ends. */
export async function lockKey(tx: Db, { digest }: IdempotencyKey) {
  const row = await tx.getRow<{ locked: boolean }>(sql`
    select pg_try_advisory_xact_lock(${digest.readBigInt64BE().toString()}::bigint) as locked`)
  return row.locked
}

export const findAnswer = (
  tx: Db,
  { businessId, digest }: IdempotencyKey,
  notBefore: Temporal.Instant,
) =>
  tx.findRow<RememberedAnswer & { bodyDigest: Buffer }>(sql`
    select status, headers, answer, body_digest as "bodyDigest"
    from idempotency_key
    where business_id = ${businessId} and digest = ${digest} and created_time > ${notBefore}
      and answer is not null`)

/**
 * Claims a key for a request that is too long for one transaction. Returns false if the key has an
 * answer that has not expired, or a claim that its node renewed after `renewedSince`.
 */
export async function claimKey(
  db: Db,
  { businessId, digest }: IdempotencyKey,
  { now, notBefore, renewedSince }: Record<'now' | 'notBefore' | 'renewedSince', Temporal.Instant>,
) {
  const claimed = await db.query(sql`
    insert into idempotency_key as k (business_id, digest, created_time)
    values (${businessId}, ${digest}, ${now})
    on conflict (business_id, digest) do update
    set body_digest = null, status = null, headers = null, answer = null,
        created_time = excluded.created_time
    where k.created_time <= case when k.answer is null
                                 then ${renewedSince}::timestamptz else ${notBefore}::timestamptz end
    returning 1`)
  return claimed.length === 1
}

export function renewClaim(db: Db, { businessId, digest }: IdempotencyKey, now: Temporal.Instant) {
  return db.query(sql`
    update idempotency_key set created_time = ${now}
    where business_id = ${businessId} and digest = ${digest} and answer is null`)
}

export function releaseClaim(db: Db, { businessId, digest }: IdempotencyKey) {
  return db.query(sql`
    delete from idempotency_key
    where business_id = ${businessId} and digest = ${digest} and answer is null`)
}

/** Replaces a claim or an expired answer. */
export function storeAnswer(
  tx: Db,
  { businessId, digest, bodyDigest }: IdempotencyKey,
  { status, headers, answer }: RememberedAnswer,
  now: Temporal.Instant,
) {
  return tx.query(sql`
    insert into idempotency_key
      (business_id, digest, body_digest, status, headers, answer, created_time)
    values (${businessId}, ${digest}, ${bodyDigest}, ${status}, ${JSON.stringify(headers)}, ${answer},
            ${now})
    on conflict (business_id, digest) do update
    set body_digest = excluded.body_digest, status = excluded.status, headers = excluded.headers,
        answer = excluded.answer, created_time = excluded.created_time`)
}

/** Returns how many it deleted; the caller repeats while that equals `limit`. */
export async function deleteAnswersBefore(db: Db, oldest: Temporal.Instant, limit: number) {
  const deleted = await db.query(sql`
    delete from idempotency_key
    where (business_id, digest) in (
      select business_id, digest from idempotency_key where created_time <= ${oldest} limit ${limit})
    returning 1`)
  return deleted.length
}
