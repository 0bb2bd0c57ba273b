import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import type { PageAfter } from './pages.ts'

/** The kinds that other software names instead of using our ids. */
export const NAMED_KINDS = ['client', 'professional', 'reason', 'location'] as const
export type NamedKind = (typeof NAMED_KINDS)[number]

export type NamedObject = {
  id: number
  name: string
  emailAddress: string | null
  externalId: string | null
  timeZone: string | null
  durationMinutes: number | null
}

const PERSON = `first_name || ' ' || last_name as name, email_address as "emailAddress",
  time_zone as "timeZone", null::integer as "durationMinutes"`

const COLUMNS: Record<NamedKind, string> = {
  client: PERSON,
  professional: PERSON,
  reason: `name, null as "emailAddress", null as "timeZone", duration_minutes as "durationMinutes"`,
  location: `name, email_address as "emailAddress", time_zone as "timeZone", null::integer as "durationMinutes"`,
}

export const listNamedObjects = (
  db: Db,
  businessId: number,
  kind: NamedKind,
  { after, limit }: PageAfter,
) =>
  db.query<NamedObject>(sql`
    select ${raw(`${kind}_id`)} as id, external_id as "externalId", ${raw(COLUMNS[kind])}
    from ${raw(kind)}
    where business_id = ${businessId} and active and ${raw(`${kind}_id`)} > ${after}
    order by ${raw(`${kind}_id`)} limit ${limit}`)

/** `words`: of the name or the address, as src/store/client-words.ts splits them. */
export type ClientLookup = { ids: number[]; words: string[]; externalIds: string[] }

/** The active clients who have one of the ids, words or externalIds, in the order of their ids. */
export const listClientsMeant = (
  db: Db,
  businessId: number,
  { ids, words, externalIds }: ClientLookup,
) =>
  db.query<NamedObject>(sql`
    select client_id as id, external_id as "externalId", ${raw(COLUMNS.client)}
    from client
    where business_id = ${businessId} and active and client_id = any (array(
      select client_id from client_word
      where business_id = ${businessId} and word = any (${words}::text[])
      union select unnest(${ids}::bigint[])
      union select client_id from client
      where business_id = ${businessId} and external_id = any (${externalIds}::text[])))
    order by client_id`)

type AtTime = {
  calendarId: number
  clientId: number
  reasonId: number
  startTime: Temporal.Instant
}

/** The appointments of these clients at these times, the active ones last. */
export const listAppointmentsAt = (
  db: Db,
  businessId: number,
  { clientIds, startTimes }: { clientIds: number[]; startTimes: Temporal.Instant[] },
) =>
  db.query<AtTime>(sql`
    select calendar_id as "calendarId", client_id as "clientId", reason_id as "reasonId",
           start_time as "startTime"
    from calendar
    where business_id = ${businessId} and client_id = any (${clientIds}::bigint[])
      and start_time = any (${startTimes.map(String)}::timestamptz[])
    order by active, calendar_id desc`)

/** The active appointments of these clients at these times that no feed mirrors. */
export const listOwnAppointmentsAt = (
  db: Db,
  businessId: number,
  { clientIds, startTimes }: { clientIds: number[]; startTimes: Temporal.Instant[] },
) =>
  db.query<Omit<AtTime, 'reasonId'>>(sql`
    select calendar_id as "calendarId", client_id as "clientId", start_time as "startTime"
    from calendar c
    where business_id = ${businessId} and active and feed_id is null
      and not exists (select from status s
                      where s.business_id = c.business_id and s.object_type = 'CALENDAR'
                        and s.status = c.status and s.outcome in ('CANCELLED', 'LATE_CANCELLED'))
      and client_id = any (${clientIds}::bigint[])
      and start_time = any (${startTimes.map(String)}::timestamptz[])
    order by calendar_id`)

export async function listKnownAppointments(db: Db, businessId: number, externalIds: string[]) {
  const rows = await db.query<{ externalId: string }>(sql`
    select external_id as "externalId" from calendar
    where business_id = ${businessId} and external_id = any (${externalIds}::text[])`)
  return new Set(rows.map(({ externalId }) => externalId))
}
