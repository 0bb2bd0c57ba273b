import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { KnownUser } from './users.ts'

export type KnownSession = KnownUser & {
  sessionId: number
  createdDate: Temporal.Instant
  lastUsedTime: Temporal.Instant
}

/** Needs the operator role: the business is not known before the session is found. */
export function listSessionsByHash(operator: Db, tokenHashes: Buffer[]) {
  return operator.query<KnownSession & { tokenHash: Buffer }>(sql`
    select s.token_hash as "tokenHash", s.session_id as "sessionId", s.created_date as "createdDate",
           s.last_used_time as "lastUsedTime", u.business_id as "businessId",
           u.user_id as "userId", u.username, u.role, u.professional_id as "professionalId",
           u.location_id_list as "locationIdList", u.language
    from session s
    join user_account u using (business_id, user_id)
    join business b using (business_id)
    where s.token_hash = any (${tokenHashes}::bytea[]) and u.active and b.active`)
}

type NewSession = { businessId: number; userId: number; passwordHash: string; tokenHash: Buffer }

/**
 * Inserts nothing if the password changed since it was checked. Deletes up to 1,000 sessions that began
 * before `expired`.
 */
export async function insertSession(
  operator: Db,
  session: NewSession,
  { now, expired }: { now: Temporal.Instant; expired: Temporal.Instant },
) {
  const inserted = await operator.query(sql`
    with ended as (
      delete from session where (business_id, session_id) in
        (select business_id, session_id from session where created_date < ${expired} limit 1000)
    )
    insert into session (business_id, user_id, token_hash, created_date, last_used_time)
    select business_id, user_id, ${session.tokenHash}, ${now}::timestamptz, ${now}::timestamptz
    from user_account
    where business_id = ${session.businessId} and user_id = ${session.userId}
      and password_hash = ${session.passwordHash} and active
    for share
    returning 1`)
  return inserted.length === 1
}

export function recordSessionUse(operator: Db, session: KnownSession, now: Temporal.Instant) {
  return operator.query(sql`
    update session set last_used_time = greatest(last_used_time, ${now}::timestamptz)
    where business_id = ${session.businessId} and session_id = ${session.sessionId}`)
}

export function deleteSession(db: Db, businessId: number, sessionId: number) {
  return db.query(sql`
    delete from session where business_id = ${businessId} and session_id = ${sessionId}`)
}

export function deleteSessionsOfUser(db: Db, businessId: number, userId: number) {
  return db.query(sql`
    delete from session where business_id = ${businessId} and user_id = ${userId}`)
}

/** Keeps the session that the request came with. */
export function deleteOtherSessionsOfUser(
  db: Db,
  { businessId, userId, sessionId }: { businessId: number; userId: number; sessionId: number },
) {
  return db.query(sql`
    delete from session
    where business_id = ${businessId} and user_id = ${userId} and session_id <> ${sessionId}`)
}
