import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The installation's secret for signing links in mails; stores `fresh` if there is none yet. */
export async function findOrSaveLinkSecret(operator: Db, fresh: string) {
  await operator.query(sql`
    insert into link_seal (secret) values (${fresh}) on conflict do nothing`)
  const row = await operator.getRow<{ secret: string }>(sql`select secret from link_seal`)
  return row.secret
}

/** The mail of an unsubscribe link: its address, and the properties that the link signs. */
export const findSignedMail = (operator: Db, businessId: number, emailId: number) =>
  operator.findRow<SignedMail>(sql`
    select business_id as "businessId", email_id as "emailId", message_id as "messageId",
           to_address as "toAddress"
    from email
    where business_id = ${businessId} and email_id = ${emailId}`)

type SignedMail = { businessId: number; emailId: number; messageId: string; toAddress: string }

/** The category of a mail, and the language of its client, else of its business. */
export async function findReaderOf(db: Db, businessId: number, emailId: number) {
  const row = await db.findRow<{ emailCategoryId: number | null; language: string | null }>(sql`
    select e.email_category_id as "emailCategoryId", coalesce(c.language, b.language) as language
    from email e
    join business b on b.business_id = e.business_id
    left join client c on (c.business_id, c.client_id) = (e.business_id, e.client_id)
    where e.business_id = ${businessId} and e.email_id = ${emailId}`)
  return row ?? { emailCategoryId: null, language: null }
}
