import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The mail of an answer link: its recipient, client and appointment, which the link signs. */
export async function findAskingMail(operator: Db, businessId: number, emailId: number) {
  const [mail] = await operator.query<StoredAskingMail>(sql`
    select business_id as "businessId", email_id as "emailId", message_id as "messageId",
           to_address as "toAddress", object_id as "calendarId", client_id as "clientId"
    from email
    where business_id = ${businessId} and email_id = ${emailId} and object_type = 'CALENDAR'
      and client_id is not null`)
  return mail
}

type StoredAskingMail = {
  businessId: number
  emailId: number
  messageId: string
  toAddress: string
  calendarId: number
  clientId: number
}
