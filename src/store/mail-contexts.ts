import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { Subject } from '../automation/subject.ts'
import { kept, raw, sql, type Sql } from '../database/sql.ts'
import type { MailContext } from '../email/context.ts'

/** Which object a mail is about. */
export type ObjectKey = { businessId: number; objectId: number | null; objectUUId: string | null }

/** What a mail about an object can speak of, to one client: a class has one for each student. */
export type ContextRow = {
  businessId: number
  objectId: number | null
  objectUUId: string | null
  clientId: number | null
  reasonId: number | null
  locationId: number | null
  /** Counts the object's changes: the sequence of its calendar entry. */
  version: number
  modifiedDate: Temporal.Instant
  /** The name of its status, beside the label in the context. */
  objectStatus: string
  businessActive: boolean
  /** Why the client's own address gets no more mail, where that was looked up. */
  suppressed?: string[]
  context: MailContext
}

export async function listMailContexts(
  db: Db,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<ContextRow[]> {
  return (await list(db, COLUMNS[objectType], objectType, keys)).map(withContext)
}

/** An object as matching and timing see it, and what a mail about it can speak of. */
export type WholeObject = { subject: Subject; rows: ContextRow[] }

/** All of that at once; for an object that is held, so that it stays as it was read. */
export async function listWholeObjects(
  db: Db,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<WholeObject[]> {
  const columns = sql`${COLUMNS[objectType]}, ${SUBJECT_COLUMNS[objectType]}`
  const rows = await list(db, columns, objectType, keys)
  const objects = new Map<number | string, WholeObject>()
  for (const row of rows) {
    const id = (row.objectId ?? row.objectUUId)!
    const known = objects.get(id)
    if (known) known.rows.push(withContext(row))
    else objects.set(id, { subject: subjectOf(objectType, row), rows: [withContext(row)] })
  }
  return [...objects.values()]
}

const list = (db: Db, columns: Sql, objectType: ObjectType, keys: ObjectKey[]) =>
  db.query<Row>(
    kept(sql`
      select ${columns}
      from unnest(${keys.map((key) => key.businessId)}::bigint[],
                  ${keys.map((key) => key.objectId)}::bigint[],
                  ${keys.map((key) => key.objectUUId)}::text[])
        as k (business_id, object_id, object_uuid)
      ${FROM[objectType]}`),
  )

// oxlint-disable-next-line typescript/no-explicit-any -- a flat row, given its shape just below
type Row = Omit<ContextRow, 'context'> & Record<string, any>

const business = sql`
  b.business_id as "businessId", b.active as "businessActive", b.name as "businessName", b.email_address as "businessEmail",
  b.phone as "businessPhone", b.time_zone as "businessZone", b.language as "businessLanguage"`

const location = sql`
  l.location_id as "locationId", l.name as "locationName", l.address as "locationAddress",
  l.email_address as "locationEmail", l.phone as "locationPhone",
  l.directions as "locationDirections", l.time_zone as "locationZone"`

const professional = sql`
  p.professional_id as "professionalId", p.first_name as "professionalFirst",
  p.last_name as "professionalLast", p.email_address as "professionalEmail",
  p.time_zone as "professionalZone"`

const client = sql`
  c.client_id as "clientId", c.first_name as "clientFirst", c.last_name as "clientLast",
  c.email_address as "clientEmail", c.phone as "clientPhone", c.time_zone as "clientZone",
  c.language as "clientLanguage"`

const reason = sql`
  r.reason_id as "reasonId", r.name as "reasonName", r.duration_minutes as "reasonMinutes",
  r.price as "reasonPrice", r.currency as "reasonCurrency"`

const object = sql`
  k.object_id as "objectId", k.object_uuid as "objectUUId", t.version,
  t.modified_date as "modifiedDate", t.status as "objectStatus",
  coalesce(s.label, t.status) as "statusLabel"`

const none = sql`null::bigint as "reasonId", null::bigint as "locationId"`

const COLUMNS: Record<ObjectType, Sql> = {
  CALENDAR: sql`${object}, ${business}, ${location}, ${professional}, ${client}, ${reason},
    t.start_time as "startTime", t.end_time as "endTime", t.note, t.change_note as "changeNote"`,
  CLASS_SCHEDULE: sql`${object}, ${business}, ${location}, ${professional}, ${client}, ${reason},
    t.start_time as "startTime", t.end_time as "endTime", t.name as "className", t.capacity`,
  INVITATION: sql`${object}, ${business}, ${client}, ${none}, g.name as "campaignName",
    g.description as "campaignDescription", g.booking_url as "bookingUrl",
    coalesce(t.expires_time, g.expires_time) as "expiresTime"`,
  RECALL: sql`${object}, ${business}, ${location}, ${professional}, ${client}, ${reason},
    t.due_time as "dueTime"`,
  DISCLAIMER: sql`${object}, ${business}, ${client}, ${none}, f.name as "formName", f.body as "formBody"`,
}

const subject = sql`
  t.active, coalesce(s.live, false) as live, coalesce(s.live_after, false) as "liveAfter", t.tags,
  t.created_date as "createdDate"`
/** Of the client, and whether its address is on the list of those that get no more. */
const subjectOfClient = sql`
  ${subject}, c.tags as "clientTags",
  array(select n.reason from suppression n
        where n.business_id = c.business_id and n.email_address = lower(c.email_address)) as suppressed`

/** What matching and timing look at beside what a mail speaks of. */
const SUBJECT_COLUMNS: Record<ObjectType, Sql> = {
  CALENDAR: subjectOfClient,
  CLASS_SCHEDULE: subject,
  INVITATION: sql`${subjectOfClient}, t.invitation_campaign_id as "invitationCampaignId",
    g.expires_time as "campaignExpiresTime"`,
  RECALL: subjectOfClient,
  DISCLAIMER: sql`${subjectOfClient}, t.disclaimer_form_id as "disclaimerFormId",
    t.calendar_id as "calendarId"`,
}

const theBusiness = sql`join business b on b.business_id = k.business_id`
const theClient = sql`join client c on (c.business_id, c.client_id) = (t.business_id, t.client_id)`
const thePlace = sql`
  left join location l on (l.business_id, l.location_id) = (t.business_id, t.location_id)
  left join professional p on (p.business_id, p.professional_id) = (t.business_id, t.professional_id)
  left join reason r on (r.business_id, r.reason_id) = (t.business_id, t.reason_id)`
const status = (objectType: Sql) => sql`
  left join status s on (s.business_id, s.object_type, s.status) = (t.business_id, ${objectType}, t.status)`

/** By its key alone: left to choose, the planner may read all of a business for each of a batch. */
const theObject = (table: string, id: string, key: string) => sql`
  cross join lateral (
    select * from ${raw(table)} o
    where o.business_id = k.business_id and o.${raw(id)} = k.${raw(key)} limit 1) t`

const FROM: Record<ObjectType, Sql> = {
  CALENDAR: sql`
    ${theObject('calendar', 'calendar_id', 'object_id')}
    ${theBusiness} ${theClient} ${thePlace} ${status(sql`'CALENDAR'`)}`,
  CLASS_SCHEDULE: sql`
    ${theObject('class_schedule', 'class_schedule_id', 'object_id')}
    ${theBusiness}
    left join client c on c.business_id = t.business_id and c.client_id = any (t.client_id_list)
    ${thePlace} ${status(sql`'CLASS_SCHEDULE'`)}`,
  INVITATION: sql`
    ${theObject('invitation', 'invitation_uuid', 'object_uuid')}
    ${theBusiness} ${theClient}
    join invitation_campaign g
      on (g.business_id, g.invitation_campaign_id) = (t.business_id, t.invitation_campaign_id)
    ${status(sql`'INVITATION'`)}`,
  RECALL: sql`
    ${theObject('recall', 'recall_id', 'object_id')}
    ${theBusiness} ${theClient} ${thePlace} ${status(sql`'RECALL'`)}`,
  DISCLAIMER: sql`
    ${theObject('disclaimer', 'disclaimer_id', 'object_id')}
    ${theBusiness} ${theClient}
    join disclaimer_form f
      on (f.business_id, f.disclaimer_form_id) = (t.business_id, t.disclaimer_form_id)
    ${status(sql`'DISCLAIMER'`)}`,
}

function subjectOf(objectType: ObjectType, row: Row): Subject {
  const { locationId, professionalId, reasonId } = row
  const hasPlace = professionalId !== undefined
  return {
    businessId: row.businessId,
    objectType,
    objectId: row.objectId,
    objectUUId: row.objectUUId,
    active: row.active,
    status: row.objectStatus,
    live: row.live,
    liveAfter: row.liveAfter,
    ...(hasPlace && { locationId, professionalId, reasonId }),
    ...(objectType === 'INVITATION' && {
      invitationCampaignId: row.invitationCampaignId,
      campaignExpiresTime: row.campaignExpiresTime,
    }),
    ...(objectType === 'DISCLAIMER' && {
      disclaimerFormId: row.disclaimerFormId,
      calendarId: row.calendarId,
    }),
    clientId: objectType === 'CLASS_SCHEDULE' ? null : row.clientId,
    tags: row.tags,
    clientTags: row.clientTags ?? {},
    timeZone: row.locationZone ?? row.businessZone,
    startTime: row.startTime ?? null,
    endTime: row.endTime ?? null,
    dueTime: row.dueTime ?? null,
    expiresTime: row.expiresTime ?? null,
    createdDate: row.createdDate,
  }
}

/** The row itself, which nobody else has: a copy of fifty columns would cost as much as reading them. */
const withContext = (row: Row): ContextRow => Object.assign(row, { context: contextOf(row) })

function contextOf(row: Row): MailContext {
  return {
    business: {
      name: row.businessName,
      emailAddress: row.businessEmail,
      phone: row.businessPhone,
      timeZone: row.businessZone,
      language: row.businessLanguage,
    },
    location: row.locationName
      ? {
          name: row.locationName,
          address: row.locationAddress,
          emailAddress: row.locationEmail,
          phone: row.locationPhone,
          directions: row.locationDirections,
          timeZone: row.locationZone,
        }
      : null,
    professional: row.professionalId
      ? {
          firstName: row.professionalFirst,
          lastName: row.professionalLast,
          emailAddress: row.professionalEmail,
          timeZone: row.professionalZone,
        }
      : null,
    client: row.clientId
      ? {
          firstName: row.clientFirst,
          lastName: row.clientLast,
          emailAddress: row.clientEmail,
          phone: row.clientPhone,
          timeZone: row.clientZone,
          language: row.clientLanguage,
        }
      : null,
    reason: row.reasonName
      ? {
          name: row.reasonName,
          durationMinutes: row.reasonMinutes,
          price: row.reasonPrice,
          currency: row.reasonCurrency,
        }
      : null,
    ...happeningOf(row),
    unsubscribeLink: null,
  }
}

/** The object itself: one of these, the others are null. */
function happeningOf(row: Row) {
  const { startTime, endTime, statusLabel: label } = row
  const calendar =
    startTime && row.className === undefined
      ? {
          calendarId: row.objectId!,
          startTime,
          endTime,
          status: label,
          note: row.note,
          changeNote: row.changeNote,
        }
      : null
  const classSchedule =
    row.className === undefined
      ? null
      : {
          classScheduleId: row.objectId!,
          name: row.className,
          startTime,
          endTime,
          status: label,
          capacity: row.capacity,
        }
  const invitation = row.objectUUId
    ? {
        invitationUUID: row.objectUUId,
        campaignName: row.campaignName,
        campaignDescription: row.campaignDescription,
        link: invitationLink(row.bookingUrl, row.objectUUId),
        expiresTime: row.expiresTime,
        status: label,
      }
    : null
  return {
    calendar,
    classSchedule,
    invitation,
    recall: row.dueTime ? { dueTime: row.dueTime, status: label } : null,
    disclaimer: row.formName
      ? { formName: row.formName, formBody: row.formBody, status: label }
      : null,
  }
}

function invitationLink(bookingUrl: string | null, uuid: string) {
  const url = bookingUrl ? URL.parse(bookingUrl) : null
  if (!url) return null
  url.searchParams.set('invitation', uuid)
  return url.href
}
