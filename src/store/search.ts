import type { Found } from '../contract/search.ts'
import type { Db } from '../database/database.ts'
import { sql, type Sql } from '../database/sql.ts'
import { clientsWithWords, searchableWordsOf } from './client-words.ts'
import type { Stored } from './rows.ts'
import { aboutVisibleObject, atVisiblePlace, type Visibility } from './visibility.ts'

type FoundRow = Stored<Found>

export type Search = {
  /** From `searchWordsOf`; at least one. Each must begin a word of a found object. */
  words: string[]
  limit: number
  now: Temporal.Instant
  visibility: Visibility
}

/** A search for one letter reads at most this many clients. */
const MAX_CANDIDATES = 200

/** Clients by name or address, with their next appointment. */
export function findClients(db: Db, businessId: number, search: Search) {
  const { limit, now, visibility } = search
  return db.query<FoundRow>(sql`
    select 'client' as kind, c.client_id as id, c.first_name || ' ' || c.last_name as title,
           c.email_address as detail,
           (select min(start_time) from calendar
            where business_id = ${businessId} and client_id = c.client_id and start_time >= ${now}
              and active ${atVisiblePlace(visibility)}
              and status in (select status from status
                             where business_id = ${businessId} and object_type = 'CALENDAR' and live)
           ) as time
    from client c
    where c.business_id = ${businessId} and c.active
      and c.client_id in (${candidates(businessId, search)})
    order by c.last_name, c.first_name, c.client_id limit ${limit}`)
}

/** Appointments of these clients: the next ones, then the last ones. */
export function findAppointments(db: Db, businessId: number, search: Search) {
  const { limit, now, visibility } = search
  const columns = sql`calendar_id, start_time, reason_id, location_id`
  const ofClient = sql`business_id = ${businessId} and client_id = c.client_id and active
    ${atVisiblePlace(visibility)}`
  return db.query<FoundRow>(sql`
    select 'calendar' as kind, a.calendar_id as id,
           c.first_name || ' ' || c.last_name || ', ' || r.name as title, l.name as detail,
           a.start_time as time
    from client c
    cross join lateral (
      (select ${columns} from calendar where ${ofClient} and start_time >= ${now}
       order by start_time limit ${limit})
      union all
      (select ${columns} from calendar where ${ofClient} and start_time < ${now}
       order by start_time desc limit ${limit})) a
    join reason r on (r.business_id, r.reason_id) = (c.business_id, a.reason_id)
    join location l on (l.business_id, l.location_id) = (c.business_id, a.location_id)
    where c.business_id = ${businessId} and c.active
      and c.client_id in (${candidates(businessId, search)})
    order by a.start_time < ${now}, abs(extract(epoch from a.start_time - ${now}::timestamptz)),
             a.calendar_id
    limit ${limit}`)
}

/** The triggers of the newest mails to the clients that `findClients` finds. */
export function findMessages(db: Db, businessId: number, search: Search) {
  const { limit, visibility } = search
  return db.query<FoundRow>(sql`
    select 'eventTrigger' as kind, m.event_trigger_id as id, m.subject as title,
           c.first_name || ' ' || c.last_name as detail, m.created_date as time
    from (
      select client_id, first_name, last_name from client
      where business_id = ${businessId} and active
        and client_id in (${candidates(businessId, search)})
      order by last_name, first_name, client_id limit ${limit}) c
    cross join lateral (
      select distinct on (e.event_trigger_id) e.event_trigger_id, e.subject, e.created_date
      from email e
      where e.business_id = ${businessId} and e.client_id = c.client_id
        and e.event_trigger_id is not null ${aboutVisibleObject('e', visibility)}
      order by e.event_trigger_id, e.email_id desc) m
    order by m.created_date desc, m.event_trigger_id desc limit ${limit}`)
}

const candidates = (businessId: number, { words }: Search): Sql =>
  sql`${clientsWithWords(sql`${businessId}`, words)} limit ${MAX_CANDIDATES}`

/** A business has few definitions and templates, so the names of all are read. */
const MAX_NAMED = 5_000

/** Automations by description and by the names of their templates. */
export async function findDefinitions(db: Db, businessId: number, { words, limit }: Search) {
  const rows = await db.query<FoundRow>(sql`
    select 'eventDefinition' as kind, d.event_defn_id as id,
           coalesce(d.description, t.names, '') as title,
           case when d.description is not null then t.names end as detail, null as time
    from event_definition d
    cross join lateral (
      select string_agg(distinct t.template_name, ', ') as names
      from event_action a
      join email_template t
        on (t.business_id, t.email_template_id) = (a.business_id, a.email_template_id)
      where (a.business_id, a.event_defn_id) = (d.business_id, d.event_defn_id) and a.active) t
    where d.business_id = ${businessId} and d.deleted_date is null
    order by d.active desc, d.event_defn_id limit ${MAX_NAMED}`)
  return withWords(rows, words, limit)
}

export async function findTemplates(db: Db, businessId: number, { words, limit }: Search) {
  const rows = await db.query<FoundRow>(sql`
    select 'emailTemplate' as kind, email_template_id as id, template_name as title,
           subject as detail, null as time
    from email_template
    where business_id = ${businessId} and active
    order by template_name, email_template_id limit ${MAX_NAMED}`)
  return withWords(rows, words, limit)
}

function withWords(rows: FoundRow[], words: string[], limit: number) {
  const hasAll = (known: string[]) =>
    words.every((word) => known.some((other) => other.startsWith(word)))
  return rows
    .filter(({ title, detail }) => hasAll(searchableWordsOf(`${title} ${detail ?? ''}`)))
    .slice(0, limit)
}
