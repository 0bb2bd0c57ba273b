import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** Why the service writes to a user: an invitation, a link for a forgotten password, or notices. */
export type AccountMailPurpose = 'INVITATION' | 'FORGOTTEN' | 'NOTICE' | 'CANCELLED_HERE'

export type RecentAccountMail = {
  sender: string | null
  /** In lower case. */
  recipient: string
  createdDate: Temporal.Instant
}

const ACCOUNT_MAILS = 7_230_030

/**
 * The account mails of a business since a moment, newest first. The lock makes other transactions that
 * send some wait until this one ends, so that together they cannot exceed a limit.
 */
export function lockRecentAccountMails(
  tx: Db,
  businessId: number,
  purpose: AccountMailPurpose,
  since: Temporal.Instant,
) {
  tx.send(sql`select pg_advisory_xact_lock(${ACCOUNT_MAILS}::int, hashint8(${businessId}::bigint))`)
  tx.send(sql`
    delete from account_mail where business_id = ${businessId} and created_date <= ${since}`)
  return tx.query<RecentAccountMail>(sql`
    select m.sender, lower(e.to_address) as recipient, m.created_date as "createdDate"
    from account_mail m join email e using (business_id, email_id)
    where m.business_id = ${businessId} and m.purpose = ${purpose} and m.created_date > ${since}
    order by m.created_date desc, m.email_id desc`)
}

type NewAccountMail = {
  businessId: number
  emailId: number
  purpose: AccountMailPurpose
  sender: string | null
  createdDate: Temporal.Instant
}

export function insertAccountMail(tx: Db, mail: NewAccountMail) {
  return tx.query(sql`
    insert into account_mail (business_id, email_id, purpose, sender, created_date)
    values (${mail.businessId}, ${mail.emailId}, ${mail.purpose}, ${mail.sender},
            ${mail.createdDate})`)
}
