import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

export type RememberedAnswer = {
  status: number
  headers: Record<string, string>
  /** The text that was sent. */
  answer: string
}

export type IdempotencyKey = { businessId: number; digest: Buffer; bodyDigest: Buffer }

/** False where another request with the same key is still running. Held until the transaction ends. */
export async function lockKey(tx: Db, { digest }: IdempotencyKey) {
  const [row] = await tx.query<{ locked: boolean }>(sql`
    select pg_try_advisory_xact_lock(${digest.readBigInt64BE().toString()}::bigint) as locked`)
  return row!.locked
}

export async function findAnswer(
  tx: Db,
  { businessId, digest }: IdempotencyKey,
  notBefore: Temporal.Instant,
) {
  const [row] = await tx.query<RememberedAnswer & { bodyDigest: Buffer }>(sql`
    select status, headers, answer, body_digest as "bodyDigest"
    from idempotency_key
    where business_id = ${businessId} and digest = ${digest} and created_time > ${notBefore}`)
  return row
}

/** Takes the place of an answer that is too old to be found. */
export function saveAnswer(
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

/** Returns how many it deleted; called again while that is `limit`. */
export async function deleteAnswersBefore(db: Db, oldest: Temporal.Instant, limit: number) {
  const deleted = await db.query(sql`
    delete from idempotency_key
    where (business_id, digest) in (
      select business_id, digest from idempotency_key where created_time <= ${oldest} limit ${limit})
    returning 1`)
  return deleted.length
}
