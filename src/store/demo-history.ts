import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { EMAIL_TYPES, type Attempt, type NewEmail } from './emails.ts'
import { TRIGGER_TYPES } from './planned-triggers.ts'
import { columnsFor, insertRows, updateRows } from './rows.ts'
import type { PlannedTrigger } from './trigger-queue.ts'

/** The history of the demo business that an import cannot create: changed statuses and sent messages. */

/** A change of an object's status after its creation. */
export type PastStatusChange = {
  object: 'calendar' | 'invitation' | 'disclaimer'
  externalId: string
  status: string
  changedTime: Temporal.Instant
}

type ChangedObject = {
  businessId: number
  externalId: string
  status: string
  version: number
  modifiedDate: Temporal.Instant
}

const CHANGE_COLUMNS = columnsFor<ChangedObject>({
  businessId: 'bigint',
  externalId: 'text',
  status: 'text',
  version: 'bigint',
  modifiedDate: 'timestamptz',
})

/** The audit joins the old and new rows of a statement, which is slow for many rows. */
const CHANGES_AT_ONCE = 100

export async function recordPastStatuses(db: Db, businessId: number, changes: PastStatusChange[]) {
  const key = ['business_id', 'external_id']
  for (const [object, ofObject] of Map.groupBy(changes, (change) => change.object)) {
    const rows = ofObject.map(({ externalId, status, changedTime }) => ({
      businessId,
      externalId,
      status,
      version: 2,
      modifiedDate: changedTime,
    }))
    for (let at = 0; at < rows.length; at += CHANGES_AT_ONCE) {
      const batch = rows.slice(at, at + CHANGES_AT_ONCE)
      await db.query(updateRows(object, key, CHANGE_COLUMNS, batch))
    }
  }
}

/** Says that the clients of completed invitations booked by their links: the next appointment of each. */
export const linkInvitations = (db: Db, businessId: number) =>
  db.query(sql`
    update calendar c set invitation_uuid = n.invitation_uuid
    from (select distinct on (b.calendar_id) b.calendar_id, i.invitation_uuid
          from invitation i
          cross join lateral (
            select a.calendar_id from calendar a
            where a.business_id = ${businessId} and a.client_id = i.client_id and a.booked_time >= i.created_date
            order by a.booked_time, a.calendar_id limit 1) b
          where i.business_id = ${businessId} and i.status = 'COMPLETED' and i.external_id like 'demo-%'
          order by b.calendar_id, i.created_date desc) n
    where c.business_id = ${businessId} and c.calendar_id = n.calendar_id`)

export async function hasAppointment(db: Db, businessId: number, externalId: string) {
  const found = await db.query(sql`
    select from calendar where business_id = ${businessId} and external_id = ${externalId}`)
  return found.length > 0
}

export type SentDefinition = {
  eventDefnId: number
  description: string
  version: number
  objectType: 'CALENDAR' | 'CLASS_SCHEDULE' | 'INVITATION'
  triggerHours: number
  offsetMode: string
  triggerAnchor: string
  filterTagMapJson: string | null
  eventActionId: number
  emailTemplateId: number
  emailCategoryId: number | null
  templateName: string
}

export const listSentDefinitions = (db: Db, businessId: number, descriptions: string[]) =>
  db.query<SentDefinition>(sql`
    select d.event_defn_id as "eventDefnId", d.description, d.version,
           case d.object_type when 'INVITATION_CAMPAIGN' then 'INVITATION' else d.object_type end as "objectType",
           d.trigger_hours as "triggerHours", d.offset_mode as "offsetMode", d.trigger_anchor as "triggerAnchor",
           d.filter_tag_map_json as "filterTagMapJson", a.event_action_id as "eventActionId",
           t.email_template_id as "emailTemplateId", t.email_category_id as "emailCategoryId",
           t.template_name as "templateName"
    from event_definition d
    join event_action a on (a.business_id, a.event_defn_id) = (d.business_id, d.event_defn_id)
    join email_template t on (t.business_id, t.email_template_id) = (a.business_id, a.email_template_id)
    where d.business_id = ${businessId} and d.description = any (${descriptions}::text[])
      and d.deleted_date is null`)

export type Addressee = {
  clientId: number
  firstName: string
  emailAddress: string | null
  hasLevel: boolean
}

/** An object with the clients who get its messages. Invitations have a text as id, and no start or end. */
export type PastObject = {
  id: number | string
  externalId: string
  clientIds: number[]
  startTime: Temporal.Instant
  endTime: Temporal.Instant
  bookedTime: Temporal.Instant
  status: string
  modifiedDate: Temporal.Instant
  timeZone: string
}

export const listAddressees = (db: Db, businessId: number) =>
  db.query<Addressee>(sql`
    select client_id as "clientId", first_name as "firstName", email_address as "emailAddress",
           tags ? 'level' as "hasLevel"
    from client where business_id = ${businessId}`)

export const listDemoAppointments = (db: Db, businessId: number, since: Temporal.Instant) =>
  db.query<PastObject>(sql`
    select c.calendar_id as id, c.external_id as "externalId", array[c.client_id] as "clientIds",
           c.start_time as "startTime", c.end_time as "endTime", c.booked_time as "bookedTime", c.status,
           c.modified_date as "modifiedDate", l.time_zone as "timeZone"
    from calendar c join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
    where c.business_id = ${businessId} and c.external_id like 'demo-appointment-%' and c.start_time > ${since}
    order by c.calendar_id`)

export const listDemoClasses = (db: Db, businessId: number, since: Temporal.Instant) =>
  db.query<PastObject>(sql`
    select c.class_schedule_id as id, c.external_id as "externalId", c.client_id_list as "clientIds",
           c.start_time as "startTime", c.end_time as "endTime", c.created_date as "bookedTime", c.status,
           c.modified_date as "modifiedDate", l.time_zone as "timeZone"
    from class_schedule c join location l on (l.business_id, l.location_id) = (c.business_id, c.location_id)
    where c.business_id = ${businessId} and c.external_id like 'demo-class-%' and c.start_time > ${since}
    order by c.class_schedule_id`)

/** The messages of an invitation count from its creation. */
export const listDemoInvitations = (db: Db, businessId: number, since: Temporal.Instant) =>
  db.query<PastObject>(sql`
    select i.invitation_uuid as id, i.external_id as "externalId", array[i.client_id] as "clientIds",
           i.created_date as "startTime", i.created_date as "endTime", i.created_date as "bookedTime", i.status,
           i.modified_date as "modifiedDate", b.time_zone as "timeZone"
    from invitation i join business b using (business_id)
    where i.business_id = ${businessId} and i.external_id like 'demo-invitation-%' and i.created_date > ${since}
    order by i.created_date, i.invitation_uuid`)

export const listEndedObjects = (db: Db, businessId: number, eventDefnIds: number[]) =>
  db.query<{ eventDefnId: number; objectKey: string }>(sql`
    select event_defn_id as "eventDefnId", coalesce(object_id::text, object_uuid) as "objectKey"
    from event_trigger
    where business_id = ${businessId} and event_defn_id = any (${eventDefnIds}::bigint[])`)

export async function drawTriggerIds(db: Db, count: number): Promise<number[]> {
  const row = await db.getRow<{ ids: number[] }>(sql`
    select array(select nextval('event_trigger_event_trigger_id_seq')
                 from generate_series(1, ${count}::int)) as ids`)
  return row.ids
}

export type PastTrigger = PlannedTrigger & {
  businessId: number
  eventTriggerId: number
  status: string
  statusReason: string | null
  completedTime: Temporal.Instant | null
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
  modifiedUser: string
}

const TRIGGER_COLUMNS = columnsFor<PastTrigger>({
  ...TRIGGER_TYPES,
  eventTriggerId: 'bigint',
  status: 'text',
  statusReason: 'text',
  completedTime: 'timestamptz',
  modifiedDate: 'timestamptz',
  modifiedUser: 'text',
})

export type PastEmail = Omit<
  NewEmail,
  'emailId' | 'dictionary' | 'attachments' | 'repeatsEmailId' | 'test' | 'status' | 'usefulUntil'
> & { status: 'SENT' | 'FAILED'; attempts: Attempt[]; sentTime: Temporal.Instant | null }

const {
  emailId: _id,
  attachments: _files,
  repeatsEmailId: _first,
  test: _test,
  ...GIVEN
} = EMAIL_TYPES
const EMAIL_COLUMNS = columnsFor<PastEmail>({
  ...GIVEN,
  attempts: 'jsonb',
  sentTime: 'timestamptz',
})

/** Inserts ended triggers, and then their mails, which refer to them. */
export async function insertPastMessages(db: Db, triggers: PastTrigger[], emails: PastEmail[]) {
  if (triggers.length > 0) await db.query(insertRows('event_trigger', TRIGGER_COLUMNS, triggers))
  if (emails.length > 0) await db.query(insertRows('email', EMAIL_COLUMNS, emails))
}
