import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** The mail of an answer link: its recipient, client and object, which the link signs. */
export const findAskingMail = (operator: Db, businessId: number, emailId: number) =>
  operator.findRow<StoredAskingMail>(sql`
    select business_id as "businessId", email_id as "emailId", message_id as "messageId",
           to_address as "toAddress", object_type as "objectType", object_id as "objectId",
           client_id as "clientId"
    from email
    where business_id = ${businessId} and email_id = ${emailId}
      and object_type in ('CALENDAR', 'CLASS_SCHEDULE', 'DISCLAIMER') and client_id is not null`)

type StoredAskingMail = {
  businessId: number
  emailId: number
  messageId: string
  toAddress: string
  objectType: AnsweredType
  objectId: number
  clientId: number
}

/** The types of objects about which a client can answer by a link. */
export type AnsweredType = 'CALENDAR' | 'CLASS_SCHEDULE' | 'DISCLAIMER'

/** Whether a member of staff has another appointment or class with one of these statuses at that time. */
export async function isStaffBusy(
  db: Db,
  visit: {
    businessId: number
    calendarId: number
    professionalId: number
    startTime: Temporal.Instant
    endTime: Temporal.Instant
  },
  liveStatuses: Record<'CALENDAR' | 'CLASS_SCHEDULE', string[]>,
) {
  const isAtThatTime = sql`business_id = ${visit.businessId} and active
    and professional_id = ${visit.professionalId}
    and start_time < ${visit.endTime} and end_time > ${visit.startTime}`
  const rows = await db.query(sql`
    select from calendar
    where ${isAtThatTime} and calendar_id <> ${visit.calendarId}
      and status = any (${liveStatuses.CALENDAR}::text[])
    union all
    select from class_schedule
    where ${isAtThatTime} and status = any (${liveStatuses.CLASS_SCHEDULE}::text[])
    limit 1`)
  return rows.length > 0
}
