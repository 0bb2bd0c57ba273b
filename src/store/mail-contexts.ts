import type { ObjectType } from '../contract/event-type.ts'
import type { MailContext } from '../contract/mail-context.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { tableOf } from './object-tables.ts'
import {
  findStatusInSettings,
  readSettingsVersions,
  SettingsCache,
  type Settings,
} from './settings.ts'
import {
  buildSubject,
  objectKeyOf,
  type ObjectKey,
  type Subject,
  type SubjectContext,
  type SubjectRow,
} from './subject.ts'
import { subjectColumns } from './subjects.ts'

/** The data for emails about an object to one client. A class has a row for each student. */
export type ContextRow = ObjectKey & {
  clientId: number | null
  reasonId: number | null
  locationId: number | null
  /** The number of changes of the object; also the SEQUENCE of its calendar entry. */
  version: number
  createdDate: Temporal.Instant
  modifiedDate: Temporal.Instant
  /** The status itself; the context has its label. */
  objectStatus: string
  businessActive: boolean
  /** The name of the feed in SHADOW mode that mirrors the object; null: mails about it are sent. */
  shadowFeed: string | null
  /** Why the client's address is suppressed: reasons, and ids of categories that it unsubscribed from. */
  suppressed: string[]
  context: MailContext
}

/** An object for matching and timing, and for the emails about it. */
export type WholeObject = { subject: Subject; rows: ContextRow[] }

/** The contexts of emails about these objects, for callers that do not need a cache. */
export async function listMailContexts(
  db: Db,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<ContextRow[]> {
  const objects = await listWholeObjects(db, new SettingsCache(), objectType, keys)
  return objects.flatMap(({ rows }) => rows)
}

/** The data of a page for one client. A former student of a class sees it like a student. */
export async function findMailContext(
  db: Db,
  objectType: ObjectType,
  key: ObjectKey,
  clientId: number,
): Promise<ContextRow | undefined> {
  const rows = await listMailContexts(db, objectType, [key])
  const own = rows.find((row) => row.clientId === clientId)
  const [first] = rows
  if (own || !first?.context.classSchedule) return own
  const client = await findClientContext(db, key.businessId, clientId)
  return client && { ...first, clientId, context: { ...first.context, client } }
}

const findClientContext = (db: Db, businessId: number, clientId: number) =>
  db.findRow<NonNullable<MailContext['client']>>(sql`
    select first_name as "firstName", last_name as "lastName", email_address as "emailAddress", phone,
           time_zone as "timeZone", language, external_id as "externalId", tags
    from client where business_id = ${businessId} and client_id = ${clientId}`)

/** Objects of any business, with the data for emails about them. */
export async function listWholeObjects(
  db: Db,
  cache: SettingsCache,
  objectType: ObjectType,
  keys: ObjectKey[],
): Promise<WholeObject[]> {
  const [versions, rows] = await Promise.all([
    readSettingsVersions(db, [...new Set(keys.map((key) => key.businessId))]),
    db.query<Row>(sql`
      select ${subjectColumns(objectType)}, ${SHARED}, ${COLUMNS[objectType]}
      from unnest(${keys.map((key) => key.businessId)}::bigint[],
                  ${keys.map((key) => key.objectId)}::bigint[],
                  ${keys.map((key) => key.objectUUId)}::text[])
        as k (business_id, object_id, object_uuid)
      ${theObject(objectType)} ${JOINS[objectType]}`),
  ])
  const settings = await cache.read(db, versions, rows)
  const objects = new Map<string, WholeObject>()
  for (const row of rows) {
    const own = settings.get(row.businessId)!
    const context = contextRowOf(objectType, row, own)
    const key = objectKeyOf({ ...context, objectType })
    const known = objects.get(key)
    if (known) known.rows.push(context)
    else {
      const { clientTags, campaignExpiresTime } = row
      const subjectContext = { settings: own, clientTags, campaignExpiresTime }
      const subject = buildSubject(objectType, row, subjectContext)
      objects.set(key, { subject, rows: [context] })
    }
  }
  return [...objects.values()]
}

// oxlint-disable-next-line typescript/no-explicit-any -- columns differ by type of object
type Row = SubjectRow & ObjectKey & Omit<SubjectContext, 'settings'> & Record<string, any>

/** `c` is the client; for a class, each of its students. */
const SHARED = sql`
  k.object_id as "objectId", k.object_uuid as "objectUUId", t.version,
  t.modified_date as "modifiedDate", c.client_id as "recipientId", c.first_name as "clientFirst",
  c.last_name as "clientLast", c.email_address as "clientEmail", c.phone as "clientPhone",
  c.time_zone as "clientZone", c.language as "clientLanguage",
  c.external_id as "clientExternalId", t.external_id as "ownExternalId",
  array(select coalesce(n.email_category_id::text, n.reason) from suppression n
        where n.business_id = c.business_id and n.email_address = lower(c.email_address)) as suppressed`

const CLIENT_TAGS = sql`c.tags as "clientTags"`

const SHADOW_FEED = sql`
  (select f.name from feed f
   where f.business_id = t.business_id and f.feed_id = t.feed_id and f.mode = 'SHADOW') as "shadowFeed"`

const COLUMNS: Record<ObjectType, Sql> = {
  CALENDAR: sql`${CLIENT_TAGS}, ${SHADOW_FEED}, t.note, t.change_note as "changeNote", t.answer_note as "answerNote",
    t.previous_start_time as "previousStartTime"`,
  CLASS_SCHEDULE: sql`${SHADOW_FEED}, t.name as "className", t.capacity, c.tags as "studentTags",
    t.previous_start_time as "previousStartTime", answered.*`,
  INVITATION: sql`${CLIENT_TAGS}, g.name as "campaignName",
    g.description as "campaignDescription", g.booking_url as "bookingUrl",
    g.expires_time as "campaignExpiresTime"`,
  RECALL: CLIENT_TAGS,
  DISCLAIMER: sql`${CLIENT_TAGS}, f.name as "formName", f.body as "formBody"`,
}

const theClient = sql`join client c on c.business_id = t.business_id and c.client_id = t.client_id`

const theObject = (objectType: ObjectType) => {
  const { table, id, key } = tableOf(objectType)
  return sql`
    cross join lateral (
      select * from ${table} o
      where o.business_id = k.business_id and o.${id} = k.${key} limit 1) t`
}

const JOINS: Record<ObjectType, Sql> = {
  CALENDAR: theClient,
  CLASS_SCHEDULE: sql`
    left join lateral (
      select a.first_name || ' ' || a.last_name as "answeredBy", last.one ->> 'answer' as answer,
             last.one ->> 'note' as "answerNote"
      from (select t.answers -> -1 as one offset 0) last
      join client a on a.business_id = t.business_id
        and a.client_id = (last.one ->> 'clientId')::bigint) answered on true
    left join client c on c.business_id = t.business_id and c.client_id = any (t.client_id_list)`,
  INVITATION: sql`
    ${theClient}
    join invitation_campaign g on g.business_id = t.business_id
      and g.invitation_campaign_id = t.invitation_campaign_id`,
  RECALL: theClient,
  DISCLAIMER: sql`
    ${theClient}
    join disclaimer_form f on f.business_id = t.business_id
      and f.disclaimer_form_id = t.disclaimer_form_id`,
}

/** Omits columns that only the context needs, because many of these are in memory at once. */
const contextRowOf = (objectType: ObjectType, row: Row, settings: Settings): ContextRow => ({
  businessId: row.businessId,
  objectId: row.objectId,
  objectUUId: row.objectUUId,
  clientId: row.recipientId,
  reasonId: row.reasonId ?? null,
  locationId: row.locationId ?? null,
  version: row.version,
  createdDate: row.createdDate,
  modifiedDate: row.modifiedDate,
  objectStatus: row.status,
  businessActive: settings.business.active,
  shadowFeed: row.shadowFeed ?? null,
  suppressed: row.suppressed,
  context: contextOf(objectType, row, settings),
})

function contextOf(objectType: ObjectType, row: Row, settings: Settings): MailContext {
  const { locations, professionals, services } = settings
  const status = findStatusInSettings(settings, objectType, row.status)
  return {
    business: settings.business,
    location: locations.get(row.locationId) ?? null,
    professional: professionals.get(row.professionalId) ?? null,
    client: row.recipientId
      ? {
          firstName: row.clientFirst,
          lastName: row.clientLast,
          emailAddress: row.clientEmail,
          phone: row.clientPhone,
          timeZone: row.clientZone,
          language: row.clientLanguage,
          externalId: row.clientExternalId,
          tags: row.studentTags ?? row.clientTags ?? {},
        }
      : null,
    reason: services.get(row.reasonId) ?? null,
    ...objectContextOf(row, {
      status: status?.label ?? row.status,
      isCancelled: status?.outcome === 'CANCELLED' || status?.outcome === 'LATE_CANCELLED',
      isMissed: status?.outcome === 'MISSED',
      isLive: status?.live ?? false,
    }),
    movedFrom: null,
    unsubscribeLink: null,
    calendarLink: null,
  }
}

type VisitStatus = { status: string; isCancelled: boolean; isMissed: boolean; isLive: boolean }

/** The object itself: one of these is set, the others are null. */
function objectContextOf(row: Row, visitStatus: VisitStatus) {
  const { startTime, endTime } = row
  const { status } = visitStatus
  const calendar =
    startTime && row.className === undefined
      ? {
          calendarId: row.objectId!,
          startTime,
          endTime,
          ...visitStatus,
          note: row.note,
          changeNote: row.changeNote,
          answerNote: row.answerNote,
          previousStartTime: row.previousStartTime,
          externalId: row.ownExternalId,
          tags: row.tags ?? {},
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
          ...visitStatus,
          capacity: row.capacity,
          answeredBy: row.answeredBy,
          answer: row.answer,
          answerNote: row.answerNote,
          previousStartTime: row.previousStartTime,
          externalId: row.ownExternalId,
          tags: row.tags ?? {},
        }
  const invitation = row.objectUUId
    ? {
        invitationUUID: row.objectUUId,
        campaignName: row.campaignName,
        campaignDescription: row.campaignDescription,
        link: invitationLink(row.bookingUrl, row.objectUUId),
        expiresTime: row.expiresTime ?? row.campaignExpiresTime,
        status,
      }
    : null
  return {
    calendar,
    classSchedule,
    invitation,
    recall: row.dueTime ? { dueTime: row.dueTime, status } : null,
    disclaimer: row.formName ? { formName: row.formName, formBody: row.formBody, status } : null,
  }
}

function invitationLink(bookingUrl: string | null, uuid: string) {
  const url = bookingUrl ? URL.parse(bookingUrl) : null
  if (!url) return null
  url.searchParams.set('invitation', uuid)
  return url.href
}
