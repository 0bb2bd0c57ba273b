import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { encodeDraft, type DraftOf } from '../../src/email/message.ts'
import { readBody } from '../../src/store/message-bodies.ts'

/** The stored message of a mail as it is sent. */
export async function readStored(db: Db, emailId: number) {
  const [mail] = await db.query<DraftOf & { businessId: number; message: Buffer }>(sql`
    select business_id as "businessId", message, message_id as "messageId",
           created_date as "createdDate"
    from email where email_id = ${emailId}`)
  return encodeDraft((await readBody(db, mail!.businessId, mail!.message)).text, mail!)
}
