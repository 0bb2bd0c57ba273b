import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The installation's secret for links in mails; `fresh` becomes it where there is none yet. */
export async function keepLinkSeal(operator: Db, fresh: string, now: Temporal.Instant) {
  await operator.query(sql`
    insert into link_seal (secret, created_date) values (${fresh}, ${now}) on conflict do nothing`)
  const [row] = await operator.query<{ secret: string }>(sql`select secret from link_seal`)
  return row!.secret
}

/** To whom a mail went; nothing else of it. */
export async function findAddressee(operator: Db, businessId: number, emailId: number) {
  const [row] = await operator.query<{ toAddress: string }>(sql`
    select to_address as "toAddress" from email
    where business_id = ${businessId} and email_id = ${emailId}`)
  return row?.toAddress
}
