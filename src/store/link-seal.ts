import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The installation's secret for links in mails; `fresh` becomes it where there is none yet. */
export async function keepLinkSeal(operator: Db, fresh: string) {
  await operator.query(sql`
    insert into link_seal (secret) values (${fresh}) on conflict do nothing`)
  const [row] = await operator.query<{ secret: string }>(sql`select secret from link_seal`)
  return row!.secret
}

/** Of a mail that an unsubscribe link names: its address, and what the link's seal covers. */
export async function findSealedMail(operator: Db, businessId: number, emailId: number) {
  const [mail] = await operator.query<SealedMail>(sql`
    select business_id as "businessId", email_id as "emailId", message_id as "messageId",
           to_address as "toAddress"
    from email
    where business_id = ${businessId} and email_id = ${emailId}`)
  return mail
}

type SealedMail = { businessId: number; emailId: number; messageId: string; toAddress: string }
