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

export type AuditFilter = {
  object?: string | undefined
  id?: string | undefined
  user?: string | undefined
  from?: Temporal.Instant | undefined
  to?: Temporal.Instant | undefined
}

type Page = { after: number | undefined; limit: number }

/** Newest first; the database itself writes these rows (migrations/0001), and nobody else may. */
export function listAudit(db: Db, businessId: number, filter: AuditFilter, { after, limit }: Page) {
  const { object, id, user, from, to } = filter
  return db.query<AuditRow>(sql`
    select audit_id as "auditId", time, username as "user", object, id, change, before, after
    from audit
    where business_id = ${businessId}
      ${after === undefined ? empty : sql`and audit_id < ${after}`}
      ${object === undefined ? empty : sql`and object = ${object}`}
      ${id === undefined ? empty : sql`and id = ${id}`}
      ${user === undefined ? empty : sql`and username = ${user}`}
      ${from === undefined ? empty : sql`and time >= ${from}`}
      ${to === undefined ? empty : sql`and time < ${to}`}
    order by audit_id desc
    limit ${limit}`)
}

/** The status of an object before and after each change of one of these columns, newest first. */
export function listStatusMoves(
  db: Db,
  businessId: number,
  changed: { object: string; id: number | string; columns: string[] },
  limit: number,
) {
  return db.query<{ time: Temporal.Instant; oldStatus: string; newStatus: string }>(sql`
    select time, before ->> 'status' as "oldStatus", after ->> 'status' as "newStatus"
    from audit
    where business_id = ${businessId} and object = ${changed.object} and id = ${String(changed.id)}
      and change = 'CHANGED'
      and exists (select from unnest(${changed.columns}::text[]) c
                  where before -> c is distinct from after -> c)
    order by audit_id desc
    limit ${limit}`)
}
