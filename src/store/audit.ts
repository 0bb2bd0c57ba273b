import type { Db } from '../database/database.ts'
import { empty, sql } from '../database/sql.ts'

export type AuditRow = {
  auditId: number
  time: Temporal.Instant
  user: string
  object: string
  id: string
  change: 'CREATED' | 'CHANGED' | 'DELETED'
  before: Record<string, unknown> | null
  after: Record<string, unknown>
}

type AuditFilter = {
  object?: string | undefined
  id?: string | undefined
  user?: string | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
}

type Page = { after: number | undefined; limit: number }

/** Newest first. Only triggers of the database write these rows. */
export function listAudit(db: Db, businessId: number, filter: AuditFilter, { after, limit }: Page) {
  const { object, id, user, from, to } = filter
  return db.query<AuditRow>(sql`
    select audit_id as "auditId", time, username as "user", object, id, change, before, after
    from audit_entry
    where business_id = ${businessId}
      ${after === undefined ? empty : sql`and (time, audit_id) < ${placeOf(businessId, after)}`}
      ${object === undefined ? empty : sql`and object = ${object}`}
      ${id === undefined ? empty : sql`and id = ${id}`}
      ${user === undefined ? empty : sql`and username = ${user}`}
      ${from === undefined ? empty : sql`and time >= ${from}`}
      ${to === undefined ? empty : sql`and time < ${to}`}
    order by time desc, audit_id desc
    limit ${limit}`)
}

/** The position of an entry in the order of time. */
const placeOf = (businessId: number, auditId: number) => sql`
  ((select time from audit where business_id = ${businessId} and audit_id = ${auditId}), ${auditId})`

/**
 * Each change of one of these columns, newest first: which of them changed, and the status of the
 * object before and after.
 */
export function listStatusMoves(
  db: Db,
  businessId: number,
  changed: { object: string; id: number | string; columns: string[] },
  limit: number,
) {
  return db.query<StatusMove>(sql`
    select time, username as "user", before ->> 'status' as "oldStatus", after ->> 'status' as "newStatus",
           ${changedOf(changed.columns)} as columns
    from audit_entry
    where business_id = ${businessId} and object = ${changed.object} and id = ${String(changed.id)}
      and change = 'CHANGED' and ${isChangeOf(changed.columns)}
    order by audit_id desc
    limit ${limit}`)
}

type StatusMove = {
  time: Temporal.Instant
  user: string
  oldStatus: string
  newStatus: string
  columns: string[]
}

const changedOf = (columns: string[]) => sql`
  array(select c from unnest(${columns}::text[]) c, (select before as was offset 0) entry
        where was ? c and was -> c is distinct from after -> c)`

/** `before` is read once for all columns. A column that it lacks did not change. */
const isChangeOf = (columns: string[]) => sql`
  (select exists (select from unnest(${columns}::text[]) c
                  where was ? c and was -> c is distinct from after -> c)
   from (select before as was offset 0) entry)`

/** A creation or change of an object, with its status before and after; new ones had none before. */
type RecordedEvent = {
  auditId: number
  id: string
  time: Temporal.Instant
  oldStatus: string | null
  newStatus: string
  /** Which of the searched columns changed; empty for a new object. */
  columns: string[]
}

/** A page of the creations or changes of objects of one kind in a time range, oldest first. */
export function listRecordedEvents(
  db: Db,
  businessId: number,
  search: {
    object: string
    change: 'CREATED' | 'CHANGED'
    /** With CHANGED: only changes of one of these columns. */
    columns: string[]
    from: Temporal.Instant
    to: Temporal.Instant
    after: number | undefined
    limit: number
  },
) {
  const { after } = search
  return db.query<RecordedEvent>(sql`
    select audit_id as "auditId", id, time, before ->> 'status' as "oldStatus",
           after ->> 'status' as "newStatus",
           ${search.change === 'CHANGED' ? changedOf(search.columns) : sql`'{}'::text[]`} as columns
    from audit_entry
    where business_id = ${businessId} and object = ${search.object} and change = ${search.change}
      and time >= ${search.from} and time < ${search.to}
      ${after === undefined ? empty : sql`and (time, audit_id) > ${placeOf(businessId, after)}`}
      ${search.change === 'CHANGED' ? sql`and ${isChangeOf(search.columns)}` : empty}
    order by time, audit_id limit ${search.limit}`)
}

/** The status of each object at its time; missing if the audit begins later. */
export async function listStatusesAt(
  db: Db,
  businessId: number,
  object: string,
  moments: { id: number | string; time: Temporal.Instant }[],
) {
  const rows = await db.query<{ id: string; status: string }>(sql`
    select m.id, a.status
    from unnest(${moments.map(({ id }) => String(id))}::text[],
                ${moments.map(({ time }) => time)}::timestamptz[]) as m (id, time),
      lateral (select after ->> 'status' as status from audit
               where business_id = ${businessId} and object = ${object} and id = m.id
                 and time <= m.time
               order by audit_id desc limit 1) a`)
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** An entry of the audit without the object's properties. */
export type Recorded = Pick<AuditRow, 'auditId' | 'time' | 'user' | 'change'>

/** The columns of `Recorded`, read from `recordedEntries`. */
export const recordedColumns = sql`a.audit_id as "auditId", a.time, a.username as "user", a.change`

/** The newest entries about one object up to a given time, as a table with the alias `a`. */
export const recordedEntries = (
  businessId: number,
  about: { object: string; id: number | string; until: Temporal.Instant; limit: number },
) => sql`(
  select * from audit
  where business_id = ${businessId} and object = ${about.object} and id = ${String(about.id)}
    and time <= ${about.until}
  order by audit_id desc limit ${about.limit})`
