import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import type { ObjectKey, Subject } from './subject.ts'
import { raw, sql, type Sql } from '../database/sql.ts'
import type { MailContext } from '../contract/mail-context.ts'
import { readMarks, readSurroundings, statusKey, type Surroundings } from './surroundings.ts'

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
  suppressed?: string[] | undefined
  context: MailContext
}

export async function listMailContexts(
  db: Db,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<ContextRow[]> {
  const rows = await list(db, COLUMNS[objectType], objectType, keys)
  return rows.map(({ row, around }) => withContext(objectType, row, around))
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
  const objects = new Map<number | string, WholeObject>()
  for (const { row, around } of await list(db, columns, objectType, keys)) {
    const id = (row.objectId ?? row.objectUUId)!
    const one = withContext(objectType, row, around)
    const known = objects.get(id)
    if (known) known.rows.push(one)
    else objects.set(id, { subject: subjectOf(objectType, row, around), rows: [one] })
  }
  return [...objects.values()]
}

/** Rows, and what is around each; that is mostly remembered. */
async function list(db: Db, columns: Sql, objectType: ObjectType, keys: ObjectKey[]) {
  const businessIds = [...new Set(keys.map((key) => key.businessId))]
  const [marks, rows] = await Promise.all([
    readMarks(db, businessIds),
    db.query<Row>(
      sql`
        select ${columns}
        from unnest(${keys.map((key) => key.businessId)}::bigint[],
                    ${keys.map((key) => key.objectId)}::bigint[],
                    ${keys.map((key) => key.objectUUId)}::text[])
          as k (business_id, object_id, object_uuid)
        ${FROM[objectType]}`,
    ),
  ])
  const around = await readSurroundings(db, rows, marks)
  return rows.map((row) => ({ row, around: around.get(row.businessId)! }))
}

// oxlint-disable-next-line typescript/no-explicit-any -- a flat row, given its shape just below
type Row = Omit<ContextRow, 'context' | 'businessActive'> & Record<string, any>

const object = sql`
  t.business_id as "businessId", k.object_id as "objectId", k.object_uuid as "objectUUId", t.version,
  t.modified_date as "modifiedDate", t.status as "objectStatus"`

const client = sql`
  c.client_id as "clientId", c.first_name as "clientFirst", c.last_name as "clientLast",
  c.email_address as "clientEmail", c.phone as "clientPhone", c.time_zone as "clientZone",
  c.language as "clientLanguage"`

const place = sql`
  t.location_id as "locationId", t.professional_id as "professionalId", t.reason_id as "reasonId"`

const none = sql`null::bigint as "reasonId", null::bigint as "locationId"`

const COLUMNS: Record<ObjectType, Sql> = {
  CALENDAR: sql`${object}, ${place}, ${client}, t.start_time as "startTime",
    t.end_time as "endTime", t.note, t.change_note as "changeNote"`,
  CLASS_SCHEDULE: sql`${object}, ${place}, ${client}, t.start_time as "startTime",
    t.end_time as "endTime", t.name as "className", t.capacity`,
  INVITATION: sql`${object}, ${client}, ${none}, g.name as "campaignName",
    g.description as "campaignDescription", g.booking_url as "bookingUrl",
    coalesce(t.expires_time, g.expires_time) as "expiresTime"`,
  RECALL: sql`${object}, ${place}, ${client}, t.due_time as "dueTime"`,
  DISCLAIMER: sql`${object}, ${client}, ${none}, f.name as "formName", f.body as "formBody"`,
}

const subject = sql`t.active, t.tags, t.created_date as "createdDate"`

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

const theClient = sql`join client c on c.business_id = t.business_id and c.client_id = t.client_id`

/** By its key alone: left to choose, the planner may read all of a business for each of a batch. */
const theObject = (table: string, id: string, key: string) => sql`
  cross join lateral (
    select * from ${raw(table)} o
    where o.business_id = k.business_id and o.${raw(id)} = k.${raw(key)} limit 1) t`

const FROM: Record<ObjectType, Sql> = {
  CALENDAR: sql`${theObject('calendar', 'calendar_id', 'object_id')} ${theClient}`,
  CLASS_SCHEDULE: sql`
    ${theObject('class_schedule', 'class_schedule_id', 'object_id')}
    left join client c on c.business_id = t.business_id and c.client_id = any (t.client_id_list)`,
  INVITATION: sql`
    ${theObject('invitation', 'invitation_uuid', 'object_uuid')} ${theClient}
    join invitation_campaign g on g.business_id = t.business_id
      and g.invitation_campaign_id = t.invitation_campaign_id`,
  RECALL: sql`${theObject('recall', 'recall_id', 'object_id')} ${theClient}`,
  DISCLAIMER: sql`
    ${theObject('disclaimer', 'disclaimer_id', 'object_id')} ${theClient}
    join disclaimer_form f on f.business_id = t.business_id
      and f.disclaimer_form_id = t.disclaimer_form_id`,
}

function subjectOf(objectType: ObjectType, row: Row, around: Surroundings): Subject {
  const { locationId, professionalId, reasonId } = row
  const hasPlace = professionalId !== undefined
  const status = around.statuses.get(statusKey(objectType, row.objectStatus))
  return {
    businessId: row.businessId,
    objectType,
    objectId: row.objectId,
    objectUUId: row.objectUUId,
    active: row.active,
    status: row.objectStatus,
    live: status?.live ?? false,
    liveAfter: status?.liveAfter ?? false,
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
    timeZone: of(around.locations, locationId)?.timeZone ?? around.business.timeZone,
    startTime: row.startTime ?? null,
    endTime: row.endTime ?? null,
    dueTime: row.dueTime ?? null,
    expiresTime: row.expiresTime ?? null,
    createdDate: row.createdDate,
  }
}

const of = <Kind>(known: Map<number, Kind>, id: number | null | undefined) =>
  id ? (known.get(id) ?? null) : null

/** Only what is asked for later: many of these live at once, the thirty columns of a row need not. */
const withContext = (objectType: ObjectType, row: Row, around: Surroundings): ContextRow => ({
  businessId: row.businessId,
  objectId: row.objectId,
  objectUUId: row.objectUUId,
  clientId: row.clientId,
  reasonId: row.reasonId,
  locationId: row.locationId,
  version: row.version,
  modifiedDate: row.modifiedDate,
  objectStatus: row.objectStatus,
  businessActive: around.business.active,
  suppressed: row.suppressed,
  context: contextOf(objectType, row, around),
})

function contextOf(objectType: ObjectType, row: Row, around: Surroundings): MailContext {
  const status = around.statuses.get(statusKey(objectType, row.objectStatus))
  return {
    business: around.business,
    location: of(around.locations, row.locationId),
    professional: of(around.professionals, row.professionalId),
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
    reason: of(around.reasons, row.reasonId),
    ...happeningOf(row, status?.label ?? row.objectStatus),
    unsubscribeLink: null,
  }
}

/** The object itself: one of these, the others are null. */
function happeningOf(row: Row, label: string) {
  const { startTime, endTime } = row
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
