import type { PasswordLinkPurpose } from '../contract/credentials.ts'
import type { Role } from '../contract/roles.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

type NewPasswordLink = {
  businessId: number
  userId: number
  /** The mail that carries the link. */
  emailId: number
  purpose: PasswordLinkPurpose
  tokenHash: Buffer
  expiresTime: Temporal.Instant
}

export function insertPasswordLink(tx: Db, link: NewPasswordLink) {
  return tx.query(sql`
    insert into password_link (business_id, user_id, email_id, purpose, token_hash, expires_time)
    values (${link.businessId}, ${link.userId}, ${link.emailId}, ${link.purpose},
            ${link.tokenHash}, ${link.expiresTime})`)
}

type KnownPasswordLink = {
  businessId: number
  userId: number
  username: string
  businessName: string
  purpose: PasswordLinkPurpose
  expiresTime: Temporal.Instant
}

/** Needs the operator role: the business is not known before the link is found. */
export const findPasswordLink = (operator: Db, tokenHash: Buffer, now: Temporal.Instant) =>
  operator.findRow<KnownPasswordLink>(sql`
    select l.business_id as "businessId", l.user_id as "userId", u.username,
           b.name as "businessName", l.purpose, l.expires_time as "expiresTime"
    from password_link l
    join user_account u using (business_id, user_id)
    join business b using (business_id)
    where l.token_hash = ${tokenHash} and l.expires_time > ${now} and u.active and b.active`)

/** Returns false if another request has already used the link. */
export async function deletePasswordLink(tx: Db, tokenHash: Buffer) {
  const deleted = await tx.query(sql`
    delete from password_link where token_hash = ${tokenHash} returning 1`)
  return deleted.length === 1
}

export function deletePasswordLinksOfUser(tx: Db, businessId: number, userId: number) {
  return tx.query(sql`
    delete from password_link where business_id = ${businessId} and user_id = ${userId}`)
}

/** Deletes at most 1,000, so that it delays no request for long. */
export function deletePasswordLinksBefore(operator: Db, expired: Temporal.Instant) {
  return operator.query(sql`
    delete from password_link where (business_id, password_link_id) in
      (select business_id, password_link_id from password_link
       where expires_time < ${expired} limit 1000)`)
}

/** The role of the user whose valid link is in this mail; undefined if there is none. */
export async function findRoleOfLinkIn(
  db: Db,
  businessId: number,
  emailId: number,
  now: Temporal.Instant,
) {
  const link = await db.findRow<{ role: Role }>(sql`
    select u.role from password_link l join user_account u using (business_id, user_id)
    where l.business_id = ${businessId} and l.email_id = ${emailId} and l.expires_time > ${now}`)
  return link?.role
}
