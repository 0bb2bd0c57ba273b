import type { Email, EmailStatus } from '../contract/email.ts'
import type { ObjectType } from '../contract/event-type.ts'
import type { Attachment } from '../contract/file-library.ts'
import type { Db } from '../database/database.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { keepDictionaries, type Dictionary } from './message-bodies.ts'
import { columnsFor, rowTable, type Stored } from './rows.ts'
import { endedOfObjects } from './event-triggers.ts'
import { clientsNamed } from './client-words.ts'
import { aboutObjectAt, aboutVisibleObject, type Visibility } from './visibility.ts'

export type Attempt = { time: number; phase: string; reply: string }

/**
 * For conditions on `sent_time`, which has no index: the mails that can have been sent after this time.
 * Mails that waited longer than a month are left out. A mail waits for days if the daily limit or an
 * outage delays it, until the anchor of its reminder.
 */
export const createdInMonthBefore = (sentAfter: Temporal.Instant) =>
  sql`created_date >= ${sentAfter.subtract({ hours: 31 * 24 })}`

/** A mail as it is inserted: to be sent, captured, or suppressed. */
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
  /** Its content as `encodeBody` returns it, and the dictionary that it needs. */
  message: Buffer
  dictionary: Dictionary | null
  messageId: string
  /** Files of the library that the message names; null for none. */
  attachments?: Attachment[] | null
  /** The first mail that this one repeats. */
  repeatsEmailId?: number | null
  test: boolean
  status: 'QUEUED' | 'CAPTURED' | 'SUPPRESSED'
  statusReason: string | null
  /** The same for all mails of one insert: when they are captured, or due to be sent. */
  createdDate: Temporal.Instant
  /** After this time it is not sent; see `usefulUntil`. */
  usefulUntil: Temporal.Instant
}

export const EMAIL_TYPES = {
  emailId: 'bigint',
  businessId: 'bigint',
  eventTriggerId: 'bigint',
  eventActionId: 'bigint',
  emailTemplateId: 'bigint',
  emailCategoryId: 'bigint',
  objectType: 'text',
  objectId: 'bigint',
  objectUUId: 'text',
  clientId: 'bigint',
  recipientKey: 'text',
  fromAddress: 'text',
  toAddress: 'text',
  subject: 'text',
  message: 'bytea',
  messageId: 'text',
  attachments: 'jsonb',
  repeatsEmailId: 'bigint',
  test: 'boolean',
  status: 'text',
  statusReason: 'text',
  createdDate: 'timestamptz',
} as const
const COLUMNS = columnsFor<NewEmail>(EMAIL_TYPES)
const names = raw(COLUMNS.map(({ column }) => column).join(', '))

export async function drawEmailIds(db: Db, count: number): Promise<number[]> {
  const row = await db.getRow<{ ids: number[] }>(sql`
      select array(select nextval('email_email_id_seq') from generate_series(1, ${count}::int)) as ids`)
  return row.ids
}

type InsertOptions = {
  ifExists?: 'refuse' | 'skip'
  /** Mails about an account ignore the pause, daily limit and suppressions of the business. */
  isAccount?: boolean
}

/**
 * Writes emails in one statement, sent with the next one or the commit. The same email of the same
 * trigger is never written twice: if one exists, all are refused, or only that one is skipped.
 */
export function insertEmails(
  tx: Db,
  emails: NewEmail[],
  { ifExists = 'refuse', isAccount = false }: InsertOptions = {},
) {
  if (emails.length === 0) return
  const captured: Attempt = {
    time: emails[0]!.createdDate.epochMilliseconds,
    phase: 'captured',
    reply: 'kept here, not sent',
  }
  keepDictionaries(tx, emails)
  const insert = sql`
    insert into email (${names}, next_attempt_time, sent_time, attempts)
    select ${names}, case status when 'QUEUED' then created_date end,
           case status when 'CAPTURED' then created_date end,
           case status when 'CAPTURED' then ${JSON.stringify([captured])}::jsonb else '[]' end
    from ${rowTable(COLUMNS, emails)}
    ${ifExists === 'skip' ? sql`on conflict do nothing` : empty}`
  const isQueued = emails.some((email) => email.status === 'QUEUED')
  tx.send(isQueued ? withQueue(insert, emails, isAccount) : insert)
}

/** Emails that are to be sent are queued by the same statement. */
const withQueue = (insert: Sql, emails: NewEmail[], isAccount: boolean) => sql`
  with made as (${insert} returning business_id, email_id, next_attempt_time, created_date)
  insert into email_queue (business_id, email_id, next_attempt_time, created_date, useful_until, is_account)
  select made.*, useful_until, ${isAccount}
  from made join ${rowTable(QUEUE_COLUMNS, emails)} using (email_id)
  where next_attempt_time is not null`

const QUEUE_COLUMNS = columnsFor<NewEmail>({ emailId: 'bigint', usefulUntil: 'timestamptz' })

/** A mail as the API returns it, with times as `Temporal.Instant`. */
export type StoredEmail = Stored<Omit<Email, 'statusReasons'>>

/** A mail that a worker has claimed is being sent, whatever its stored status. */
const isClaimed = sql`
  email.next_attempt_time is not null
  and exists (select from email_queue s
              where (s.business_id, s.email_id) = (email.business_id, email.email_id)
                and s.worker is not null)`

export const shownStatus = sql`case when ${isClaimed} then 'SENDING' else email.status end`

const columns = sql`
  email_id as "emailId", business_id as "businessId", event_trigger_id as "eventTriggerId",
  event_action_id as "eventActionId", email_template_id as "emailTemplateId",
  object_type as "objectType", object_id as "objectId", object_uuid as "objectUUId",
  client_id as "clientId", repeats_email_id as "repeatsEmailId", to_address as "to", subject,
  ${shownStatus} as status, status_reason as "statusReason",
  test, message_id as "messageId", created_date as "createdDate", sent_time as "sentTime", attempts`

export type EmailFilters = {
  /** Unset: of any status. */
  statuses?: EmailStatus[] | undefined
  emailTemplateId?: number | undefined
  eventTriggerId?: number | undefined
  approvalId?: number | undefined
  clientId?: number | undefined
  locationId?: number | undefined
  /** Words with which the client's name or address begins. */
  text?: string | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
  visibility: Visibility
}

export type EmailPage = {
  after?: { createdDate: string; emailId: number } | undefined
  limit: number
}

export function listEmails(db: Db, businessId: number, filters: EmailFilters, page: EmailPage) {
  const { statuses, emailTemplateId, eventTriggerId, approvalId, clientId } = filters
  if (statuses) {
    // Reads one page of each status by its index, and merges them.
    const pages = [...new Set(statuses)].map(
      (status) => sql`(${pageOf(businessId, filters, page, { status })})`,
    )
    return db.query<StoredEmail>(sql`
      select * from (${join(pages, ' union all ')}) e
      order by e."createdDate" desc, e."emailId" desc limit ${page.limit}`)
  }
  if (emailTemplateId ?? eventTriggerId ?? approvalId ?? clientId) {
    return db.query<StoredEmail>(pageOf(businessId, filters, page))
  }
  const ofOutcome = sql`and outcome = known.outcome`
  return db.query<StoredEmail>(sql`
    select e.* from unnest(${OUTCOMES}::text[]) as known (outcome)
    cross join lateral (${pageOf(businessId, filters, page, { condition: ofOutcome })}) e
    order by e."createdDate" desc, e."emailId" desc limit ${page.limit}`)
}

export async function countEmails(db: Db, businessId: number, filters: EmailFilters) {
  const { statuses, from, to } = filters
  const rows = await db.query<{ status: EmailStatus; count: number }>(sql`
    select status, count(*) as count
    from (select ${shownStatus} as status from email
          where business_id = ${businessId} and ${ofAnyOutcome} ${filterConditions(businessId, filters)}
            ${from ? sql`and created_date >= ${from}` : empty}
            ${to ? sql`and created_date < ${to}` : empty}) e
    ${statuses ? sql`where status = any (${statuses}::text[])` : empty}
    group by status`)
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

export const OUTCOMES = ['SENT', 'CAPTURED', 'FAILED', 'SUPPRESSED', 'CANCELLED']

/** Always true. With it, a search by time can use the index that begins with the outcome. */
export const ofAnyOutcome = raw(`outcome in ('${OUTCOMES.join("', '")}')`)

function pageOf(
  businessId: number,
  filters: EmailFilters,
  { after, limit }: EmailPage,
  { status, condition = empty }: { status?: EmailStatus; condition?: Sql } = {},
) {
  const { from, to } = filters
  const isInQueue = status && isOfQueue(status)
  const createdDate = isInQueue ? sql`q.made` : sql`created_date`
  const id = isInQueue ? sql`q.id` : sql`email_id`
  return sql`
    select ${columns} from ${isInQueue ? inQueue(businessId, status) : sql`email`}
    where business_id = ${businessId} ${condition}
      ${status && !isInQueue ? sql`and outcome = ${status} and status = ${status}` : empty}
      ${filterConditions(businessId, filters)}
      ${from ? sql`and ${createdDate} >= ${from}` : empty}
      ${to ? sql`and ${createdDate} < ${to}` : empty}
      ${
        after
          ? sql`and (${createdDate}, ${id}) < (${after.createdDate}::timestamptz, ${after.emailId})`
          : empty
      }
    order by ${createdDate} desc, ${id} desc limit ${limit}`
}

/** The conditions that are the same for queued and finished mails. */
function filterConditions(businessId: number, filters: EmailFilters) {
  const { emailTemplateId, eventTriggerId, approvalId, clientId, locationId, text, visibility } =
    filters
  return sql`
    ${emailTemplateId ? sql`and email_template_id = ${emailTemplateId}` : empty}
    ${eventTriggerId ? sql`and event_trigger_id = ${eventTriggerId}` : empty}
    ${
      approvalId
        ? sql`and email_id = any (array(
            select unnest(email_ids) from approval
            where business_id = ${businessId} and approval_id = ${approvalId}))`
        : empty
    }
    ${clientId ? sql`and client_id = ${clientId}` : empty}
    ${locationId ? aboutObjectAt('email', locationId) : empty}
    ${text === undefined ? empty : sql`and client_id in (${clientsNamed(businessId, text)})`}
    ${aboutVisibleObject('email', visibility)}`
}

const isOfQueue = (status: EmailStatus) =>
  status === 'SENDING' || status === 'QUEUED' || status === 'RETRYING' || status === 'UNCERTAIN'

/** Mails without a final state are read from the queue, which is short. */
const inQueue = (businessId: number, status: EmailStatus) => sql`
  (select s.business_id as of, s.email_id as id, s.created_date as made from email_queue s
   where s.business_id = ${businessId}
     and ${status === 'SENDING' ? sql`s.worker is not null` : sql`s.worker is null and s.status = ${status}`}
   -- Sorted here, so that the limit applies before any row of email is read.
   order by made desc, id desc) q
  join email on email.business_id = q.of and email.email_id = q.id and next_attempt_time is not null`

/** A page of the mails about one object or one client, the oldest first. */
export function listEmailsAbout(
  db: Db,
  businessId: number,
  about: { calendarId: number } | { invitationUUID: string } | { clientId: number },
  { after, limit, visibility }: EmailPage & Pick<EmailFilters, 'visibility'>,
) {
  const condition =
    'clientId' in about
      ? sql`client_id = ${about.clientId}`
      : sql`email_id = any (array(${idsAbout(businessId, about)}))`
  return db.query<StoredEmail>(sql`
    select ${columns} from email
    where business_id = ${businessId} and ${condition} ${aboutVisibleObject('email', visibility)}
      ${
        after
          ? sql`and (created_date, email_id) > (${after.createdDate}::timestamptz, ${after.emailId})`
          : empty
      }
    order by created_date, email_id limit ${limit}`)
}

/** The mails of the object's triggers, and those that users sent by hand. */
function idsAbout(businessId: number, about: { calendarId: number } | { invitationUUID: string }) {
  const object =
    'calendarId' in about
      ? sql`object_type = 'CALENDAR' and object_id = ${about.calendarId} and object_uuid is null`
      : sql`object_type = 'INVITATION' and object_id is null and object_uuid = ${about.invitationUUID}`
  return sql`
    select e.email_id
    from (select event_trigger_id from ${endedOfObjects} every
          where business_id = ${businessId} and ${object}) t
    join email e on e.business_id = ${businessId} and e.event_trigger_id = t.event_trigger_id
    union all
    select email_id from email
    where business_id = ${businessId} and ${object} and event_trigger_id is null`
}

export function listEmailsOfTrigger(db: Db, businessId: number, eventTriggerId: number) {
  return db.query<StoredEmail>(sql`
    select ${columns} from email
    where business_id = ${businessId} and event_trigger_id = ${eventTriggerId} order by email_id`)
}

/** The mails that repeat one of these, oldest first. */
export function listEmailsSentAgain(db: Db, businessId: number, emailIds: number[]) {
  return db.query<StoredEmail>(sql`
    select ${columns} from email
    where business_id = ${businessId} and repeats_email_id = any (${emailIds}::bigint[])
    order by email_id`)
}

export function listEmailsById(db: Db, businessId: number, ids: number[]) {
  return db.query<StoredEmail>(sql`
    select ${columns} from email
    where business_id = ${businessId} and email_id = any (${ids}::bigint[]) order by email_id`)
}

/** A mail with its content as it is stored, until that is deleted; `html` and `text` are of older versions. */
export type WholeEmail = StoredEmail & {
  html: string | null
  text: string | null
  emailCategoryId: number | null
  /** From its category; mail without one is transactional. */
  transactional: boolean
  fromAddress: string
  recipientKey: string
  message: Buffer | null
  attachments: Attachment[] | null
  /** Whether it went to one client, and is not a copy; for a repeated mail, whether the first one did. */
  isToClient: boolean
}

export const findEmail = (db: Db, businessId: number, emailId: number, visibility: Visibility) =>
  db.findRow<WholeEmail>(sql`
    select ${columns}, html, text, email_category_id as "emailCategoryId",
           coalesce((select g.transactional from email_category g
                     where (g.business_id, g.email_category_id)
                         = (email.business_id, email.email_category_id)), true) as transactional,
           from_address as "fromAddress", recipient_key as "recipientKey", message, attachments,
           exists (select from email first
                   where first.business_id = email.business_id
                     and first.email_id = coalesce(email.repeats_email_id, email.email_id)
                     and first.recipient_key = 'client ' || email.client_id) as "isToClient"
    from email
    where business_id = ${businessId} and email_id = ${emailId} ${aboutVisibleObject('email', visibility)}`)

export type ReportedMail = {
  businessId: number
  emailId: number
  messageId: string
  toAddress: string
  /** The mail server's answer is not recorded yet. */
  isPending: boolean
}

export const findReportedMail = (db: Db, businessId: number, emailId: number) =>
  db.findRow<ReportedMail>(sql`
    select business_id as "businessId", email_id as "emailId", message_id as "messageId",
           to_address as "toAddress", next_attempt_time is not null as "isPending"
    from email where business_id = ${businessId} and email_id = ${emailId}`)

/** Records why an accepted mail was not delivered or wanted; its status stays. False if it was not accepted. */
export async function noteReport(tx: Db, mail: ReportedMail, reason: string): Promise<boolean> {
  const noted = await tx.query(sql`
    update email set status_reason = ${reason}
    where business_id = ${mail.businessId} and email_id = ${mail.emailId}
      and to_address = ${mail.toAddress} and status in ('SENT', 'CAPTURED')
    returning 1`)
  return noted.length > 0
}

export type MailCounts = { sent: number; captured: number }

/** How many mails of each trigger the mail server accepted, and how many were captured. */
export async function countMailsOfTriggers(db: Db, businessId: number, eventTriggerIds: number[]) {
  if (eventTriggerIds.length === 0) return new Map<number, MailCounts>()
  const rows = await db.query<MailCounts & { eventTriggerId: number }>(sql`
    select event_trigger_id as "eventTriggerId", count(*) filter (where status = 'SENT') as sent,
           count(*) filter (where status = 'CAPTURED') as captured
    from email
    where business_id = ${businessId} and event_trigger_id = any (${eventTriggerIds}::bigint[])
    group by event_trigger_id`)
  return new Map<number, MailCounts>(rows.map((row) => [row.eventTriggerId, row]))
}
