import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'

export type EmailStatus =
  | 'QUEUED'
  | 'SENDING'
  | 'SENT'
  | 'CAPTURED'
  | 'RETRYING'
  | 'FAILED'
  | 'SUPPRESSED'
  | 'UNCERTAIN'
  | 'CANCELLED'

export type Attempt = { time: number; phase: string; reply: string }

/** A mail as it is first written: made, or known to be unwanted. */
export type NewEmail = {
  businessId: number
  emailId: number
  eventTriggerId: number | null
  eventActionId: number | null
  emailTemplateId: number | null
  emailCategoryId: number | null
  objectType: ObjectType | null
  objectId: number | null
  objectUUId: string | null
  clientId: number | null
  recipientKey: string
  toAddress: string
  fromAddress: string
  subject: string
  html: string
  text: string
  /** As it goes over the wire, in base64; null where none will leave. */
  message: string | null
  messageId: string
  test: boolean
  status: 'QUEUED' | 'CAPTURED' | 'SUPPRESSED'
  statusReason: string | null
  attempts: Attempt[]
  nextAttemptTime: Temporal.Instant | null
  sentTime: Temporal.Instant | null
  createdDate: Temporal.Instant
}

const WRITTEN: [keyof NewEmail, string, string][] = [
  ['businessId', 'business_id', 'bigint'],
  ['emailId', 'email_id', 'bigint'],
  ['eventTriggerId', 'event_trigger_id', 'bigint'],
  ['eventActionId', 'event_action_id', 'bigint'],
  ['emailTemplateId', 'email_template_id', 'bigint'],
  ['emailCategoryId', 'email_category_id', 'bigint'],
  ['objectType', 'object_type', 'text'],
  ['objectId', 'object_id', 'bigint'],
  ['objectUUId', 'object_uuid', 'text'],
  ['clientId', 'client_id', 'bigint'],
  ['recipientKey', 'recipient_key', 'text'],
  ['toAddress', 'to_address', 'text'],
  ['fromAddress', 'from_address', 'text'],
  ['subject', 'subject', 'text'],
  ['html', 'html', 'text'],
  ['text', 'text', 'text'],
  ['message', 'message', 'text'],
  ['messageId', 'message_id', 'text'],
  ['test', 'test', 'boolean'],
  ['status', 'status', 'text'],
  ['statusReason', 'status_reason', 'text'],
  ['attempts', 'attempts', 'jsonb'],
  ['nextAttemptTime', 'next_attempt_time', 'timestamptz'],
  ['sentTime', 'sent_time', 'timestamptz'],
  ['createdDate', 'created_date', 'timestamptz'],
]
const names = raw(WRITTEN.map(([, column]) => column).join(', '))
const values = raw(
  WRITTEN.map(([, column]) => (column === 'message' ? `decode(message, 'base64')` : column)).join(
    ', ',
  ),
)
const types = raw(WRITTEN.map(([, column, type]) => `${column} ${type}`).join(', '))

export async function drawEmailIds(db: Db, count: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    sql`select nextval('email_email_id_seq') as id from generate_series(1, ${count}::int)`,
  )
  return rows.map((row) => row.id)
}

/** One statement, however many. The same mail of the same trigger is never written twice. */
export async function insertEmails(tx: Db, emails: NewEmail[]) {
  if (emails.length === 0) return
  const records = emails.map((email) =>
    Object.fromEntries(WRITTEN.map(([property, column]) => [column, email[property]])),
  )
  await tx.query(sql`
    insert into email (${names})
    select ${values} from json_to_recordset(${JSON.stringify(records)}::json) as r (${types})
    on conflict do nothing`)
}

export type Suppressed = {
  businessId: number
  emailAddress: string
  reason: 'UNSUBSCRIBED' | 'BOUNCED'
}

/** Which of these addresses a business no longer writes to. */
export function listSuppressed(db: Db, asked: { businessId: number; emailAddress: string }[]) {
  return db.query<Suppressed>(sql`
    select s.business_id as "businessId", s.email_address as "emailAddress", s.reason
    from suppression s
    join unnest(${asked.map((one) => one.businessId)}::bigint[],
                ${asked.map((one) => one.emailAddress.toLowerCase())}::text[])
      as a (business_id, email_address) using (business_id, email_address)`)
}
