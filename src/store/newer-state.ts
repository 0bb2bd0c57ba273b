import { REASONS } from '../contract/reasons.ts'
import type { NewerState } from './installation.ts'
import type { EndedMail } from './sent-before.ts'
import type { TriggerKey } from './trigger-queue.ts'

/*
 * What a restored database takes from a newer state, which is in temporary tables `newer_…` of the
 * session. Only the owner of the tables may do this: finished triggers are otherwise never inserted by hand.
 */

export type Run = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>

/** Objects whose status or deletion decides about mails, with their ids, in lock order (docs/engine.md). */
const OBJECTS = {
  calendar: 'calendar_id',
  class_schedule: 'class_schedule_id',
  disclaimer: 'disclaimer_id',
  invitation: 'invitation_uuid',
  recall: 'recall_id',
} as const

export type NewerObject = keyof typeof OBJECTS

const WHOLE_TABLES = [...Object.keys(OBJECTS), 'client', 'suppression', 'event_trigger']

/** The tables of a backup that are read, and which columns; undefined: all. Mails without their content. */
export const NEWER_TABLES: Record<string, string[] | undefined> = {
  ...Object.fromEntries(WHOLE_TABLES.map((table) => [table, undefined])),
  email: ['business_id', 'email_id', 'event_trigger_id', 'status', 'status_reason'],
}

/** Creates the temporary tables without rows, for a state that is not a backup. */
export async function createNewerTables(run: Run) {
  for (const [table, id] of Object.entries(OBJECTS)) {
    await run(`
      create temporary table newer_${table} on commit drop as
      select business_id, ${id}, status, active, modified_date from ${table} where false`)
  }
  for (const table of ['client', 'suppression', 'event_trigger', 'email']) {
    await run(
      `create temporary table newer_${table} on commit drop as select * from ${table} where false`,
    )
  }
}

/** Exports name their business. */
export async function listBusinessesNamed(run: Run, name: string | undefined) {
  const found = await run<{ id: number; createdDate: Date }>(
    'select business_id::float8 as id, created_date as "createdDate" from business where name = $1',
    [name ?? null],
  )
  return found.map(({ id, createdDate }) => ({
    businessId: id,
    createdDate: createdDate.toTemporalInstant(),
  }))
}

/** An object as an export has it. After a restore its id may belong to another one, which was created later. */
export type ExportedState = {
  id: number | string | undefined
  createdDate: number
  active: boolean
}

export const insertNewerObjects = (
  run: Run,
  table: NewerObject,
  businessId: number,
  objects: ExportedState[],
) =>
  run(
    `insert into newer_${table}
     select o.business_id, o.${OBJECTS[table]}, n.status, n.active, 'infinity'
     from jsonb_to_recordset($2::jsonb)
       as n (id ${table === 'invitation' ? 'text' : 'bigint'}, "createdDate" bigint, status text, active boolean)
     join ${table} o on o.business_id = $1 and o.${OBJECTS[table]} = n.id and ${IS_CREATED_THEN}`,
    [businessId, JSON.stringify(objects)],
  )

export const insertNewerClients = (run: Run, businessId: number, clients: ExportedState[]) =>
  run(
    `insert into newer_client (business_id, client_id, active, first_name, last_name, email_address)
     select o.business_id, o.client_id, n.active, n."firstName", n."lastName", n."emailAddress"
     from jsonb_to_recordset($2::jsonb)
       as n (id bigint, "createdDate" bigint, active boolean, "firstName" text, "lastName" text, "emailAddress" text)
     join client o on o.business_id = $1 and o.client_id = n.id and ${IS_CREATED_THEN}`,
    [businessId, JSON.stringify(clients)],
  )

const IS_CREATED_THEN = `round(extract(epoch from o.created_date) * 1000) = n."createdDate"`

export type ExportedSuppression = {
  emailAddress: string
  reason: string
  detail: string | null
  createdDate: number
}

/** Exports do not name categories of this database: such a reader is unsubscribed from all. */
export const insertNewerSuppressions = (
  run: Run,
  businessId: number,
  suppressions: ExportedSuppression[],
) =>
  run(
    `insert into newer_suppression (business_id, email_address, reason, detail, created_date, created_user)
     select $1, n."emailAddress", n.reason, n.detail, to_timestamp(n."createdDate" / 1000.0), 'OPERATOR'
     from jsonb_to_recordset($2::jsonb)
       as n ("emailAddress" text, reason text, detail text, "createdDate" bigint)`,
    [businessId, JSON.stringify(suppressions)],
  )

/** Changes statuses and deletions to those of the newer state. No mails follow: they were sent then. */
export async function takeCancellations(run: Run, now: Temporal.Instant) {
  const clients = await run(
    `update client o
     set active = false, version = o.version + 1, modified_date = $1, modified_user = 'OPERATOR'
     from newer_client n
     where (n.business_id, n.client_id) = (o.business_id, o.client_id) and o.active and not n.active
     returning o.client_id`,
    [String(now)],
  )
  let count = clients.length
  for (const [table, id] of Object.entries(OBJECTS)) {
    const changed = await run(
      `update ${table} o
       set status = n.status, active = n.active, version = o.version + 1,
           modified_date = $1, modified_user = 'OPERATOR'
       from newer_${table} n
       where (n.business_id, n.${id}) = (o.business_id, o.${id})
         and (n.status, n.active) is distinct from (o.status, o.active)
         and n.modified_date > o.modified_date
       returning o.business_id`,
      [String(now)],
    )
    count += changed.length
  }
  return count
}

export async function takeSuppressions(run: Run) {
  const added = await run(`
    insert into suppression
      (business_id, email_address, reason, detail, email_category_id, created_date, created_user)
    select n.business_id, n.email_address, n.reason, n.detail, category, n.created_date, n.created_user
    from newer_suppression n join business using (business_id)
    -- Backups of older versions lack the column.
    cross join lateral (select (to_jsonb(n) ->> 'email_category_id')::bigint as category) c
    where category is null or exists (
      select from email_category g
      where (g.business_id, g.email_category_id) = (n.business_id, category))
    on conflict do nothing returning business_id`)
  return added.length
}

/** Clients that the newer state has erased; see erase_client() in the migrations. */
export const listNewerErasures = (run: Run) =>
  run<{ businessId: number; clientId: number }>(`
    select o.business_id::float8 as "businessId", o.client_id::float8 as "clientId"
    from newer_client n join client o using (business_id, client_id)
    where (n.first_name, n.last_name) = ('Erased', 'client') and n.email_address is null
      and (o.first_name, o.last_name, o.email_address) is distinct from ('Erased', 'client', null)`)

/** Ends pending triggers as the newer state knows them. Counts those whose mails were sent. */
export async function takeOutcomes(run: Run): Promise<NewerState['sentBefore']> {
  const [columns] = await run<{ list: string }>(`
    select string_agg(quote_ident(attname), ', ' order by attnum) as list from pg_attribute
    where attrelid = 'event_trigger'::regclass and attnum > 0 and not attisdropped
      and attgenerated = ''`)
  const { list } = columns!
  return run(`
    with gone as (
      delete from pending_trigger p using newer_event_trigger n
      where (n.business_id, n.event_trigger_id) = (p.business_id, p.event_trigger_id)
        and n.status <> 'RUNNING'
      returning n.*
    ), ended as (
      insert into event_trigger (${list}) select ${list} from gone
      returning business_id, event_defn_id, status
    )
    select business_id::float8 as "businessId", event_defn_id::float8 as "eventDefnId",
           count(*)::float8 as triggers
    from ended where status = 'COMPLETED' group by 1, 2 order by 1, 2`)
}

/**
 * Mails of the queue that have ended in the newer state. An UNCERTAIN one may have been delivered, so it is
 * not sent again.
 */
export const listEndedMails = (run: Run) =>
  run<EndedMail>(
    `select q.business_id::float8 as "businessId", q.email_id::float8 as "emailId",
            e.event_trigger_id::float8 as "eventTriggerId", e.object_type as "objectType",
            case n.status when 'UNCERTAIN' then 'FAILED' else n.status end as status,
            case n.status when 'UNCERTAIN' then $1 else n.status_reason end as "statusReason"
     from email_queue q
     join newer_email n using (business_id, email_id)
     join email e using (business_id, email_id)
     where n.status not in ('QUEUED', 'RETRYING')`,
    [`${REASONS.maybeSent}: ${REASONS.restoredSince}`],
  )

/** Pending triggers that the newer state was sending: some of their mails have ended there. */
export const listTriggersBegun = (run: Run) =>
  run<TriggerKey>(`
    select p.business_id::float8 as "businessId", p.event_trigger_id::float8 as "eventTriggerId"
    from pending_trigger p join newer_event_trigger n using (business_id, event_trigger_id)
    where n.status = 'RUNNING' and exists (
      select from newer_email e
      where (e.business_id, e.event_trigger_id) = (p.business_id, p.event_trigger_id)
        and e.status not in ('QUEUED', 'RETRYING'))`)
