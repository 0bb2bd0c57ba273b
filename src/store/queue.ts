import { LONG_AGO } from '../clock.ts'
import type { Db } from '../database/database.ts'
import { empty, sql, type Sql } from '../database/sql.ts'
import { NOT_HELD } from './installation.ts'

/**
 * A table of pending rows that workers claim: `worker` (null: free), `attempts` and
 * `next_attempt_time`, found by its primary key. See docs/engine.md, queues.
 */
export type Queue = {
  table: Sql
  /** Selects the free rows of the table that belong to this queue. */
  condition: Sql
  /** The rows of a business that are due, in the order of an index that begins with the business. */
  ofBusiness(now: Temporal.Instant): { isDue: Sql; order: Sql }
  /** The order in which the share of a business is claimed, by such an index. */
  shareOrder: Sql
  /** What a claim sets in addition to the worker. */
  onClaim: Sql
  /** Whether a claim waits for the disk. A claim that a crash of the database loses was never made. */
  isClaimDurable: boolean
}

export type Claim = {
  worker: string
  now: Temporal.Instant
  leaseUntil: Temporal.Instant
  limit: number
}

/** Businesses, and how many rows each may get in one claim. */
export type Shares = { businessIds: number[]; share: number }

/** The default: all due rows. */
export type RowsToClaim = { from?: Temporal.Instant | undefined; shares?: Shares | undefined }

/**
 * Claims due rows, as the `with` clause of a statement that reads `claimed`: in the order of time, or a
 * share for each of some businesses, so that a burst of one does not delay the others. `from` skips the
 * start of the index, where a long read may keep dead row versions.
 */
export function claimDue(queue: Queue, claim: Claim, { from, shares }: RowsToClaim = {}) {
  const { isDue } = queue.ofBusiness(claim.now)
  const due = shares
    ? sql`
      select due.ctid from unnest(${shares.businessIds}::bigint[]) as b (business_id)
      cross join lateral (
        select q.ctid from ${queue.table} q
        where q.business_id = b.business_id and q.worker is null and ${isDue} ${queue.condition}
        order by ${queue.shareOrder} limit ${shares.share}
        for update skip locked) due`
    : sql`
      select q.ctid from ${queue.table} q
      where q.worker is null and q.next_attempt_time <= ${claim.now}
        and q.next_attempt_time >= ${from ?? LONG_AGO} ${queue.condition}
      order by q.next_attempt_time
      limit ${claim.limit}
      for update skip locked`
  return claimRows(queue, claim, due)
}

/**
 * Claims the rows whose `ctid` the statement `due` selects and locks; none in a restored database.
 * The worker's lease is written with the claim: no row is claimed without a lease. The ctid is safe
 * because this statement has locked the row: a row that was updated since it began is not claimed.
 */
export const claimRows = (
  { table, onClaim, isClaimDurable }: Queue,
  { worker, leaseUntil }: Claim,
  due: Sql,
) => sql`
  due as materialized (select due.ctid from (${due}) due where ${NOT_HELD}), lease as (
    insert into worker_lease (worker, lease_until)
    select ${worker}, ${leaseUntil} from due having count(*) > 0
    on conflict (worker) do update
    set lease_until = greatest(worker_lease.lease_until, excluded.lease_until)
  ), claimed as (
    update ${table} q set worker = ${worker} ${onClaim}
    from ${isClaimDurable ? empty : sql`(select set_config('synchronous_commit', 'off', true) as mode) disk,`} due
    where q.ctid = due.ctid ${isClaimDurable ? empty : sql`and disk.mode = 'off'`}
    returning q.*
  )`

/** The next businesses by id, and whether the queue has a due row of each. */
export function listBusinessesInQueue(
  db: Db,
  queue: Queue,
  { now, after, limit }: { now: Temporal.Instant; after: number; limit: number },
) {
  const { isDue, order } = queue.ofBusiness(now)
  return db.query<{ businessId: number; isDue: boolean }>(sql`
    select b.business_id as "businessId", first.is_due is not null as "isDue"
    from (select business_id from business
          where business_id > ${after} order by business_id limit ${limit}) b
    left join lateral (
      select true as is_due from ${queue.table} q
      where q.business_id = b.business_id and q.worker is null and ${isDue} ${queue.condition}
      order by ${order} limit 1) first on true
    order by b.business_id`)
}

/** When the next free row can be claimed, ignoring rows that are due before `from`. */
export async function findNextDueTime(db: Db, queue: Queue, from?: Temporal.Instant) {
  const row = await db.getRow<{ next: Temporal.Instant | null }>(sql`
      select min(q.next_attempt_time) as next from ${queue.table} q
      where q.worker is null and q.next_attempt_time >= ${from ?? LONG_AGO} ${queue.condition}
        and ${NOT_HELD}`)
  return row.next
}

/** A worker whose lease has expired. */
export type ExpiredLease = { worker: string; leaseUntil: Temporal.Instant }

/** Locks the expired leases: until the transaction ends their workers cannot claim. */
export const lockExpiredLeases = (tx: Db, now: Temporal.Instant) =>
  tx.query<ExpiredLease>(sql`
    select worker, lease_until as "leaseUntil" from worker_lease
    where lease_until < ${now} order by worker for update skip locked`)

const MAX_TAKEN_OVER = 5_000

/**
 * Locks rows of these workers. A row was due when it was claimed, and so before the lease ended: the
 * index by time finds it. Rows that a frozen worker still locks are skipped; the lease stays for them.
 */
export const lockRowsOfExpired = ({ table }: Queue, expired: ExpiredLease[]) => sql`
  select q.* from ${table} q
  where q.worker = any (${expired.map(({ worker }) => worker)}::text[])
    and q.next_attempt_time <= ${latestOf(expired)}
  limit ${MAX_TAKEN_OVER}
  for update skip locked`

const latestOf = (leases: ExpiredLease[]) =>
  leases
    .map(({ leaseUntil }) => leaseUntil)
    .reduce((a, b) => (Temporal.Instant.compare(a, b) < 0 ? b : a))

export const deleteUnusedLeases = (tx: Db, queues: Queue[], workers: string[]) =>
  tx.query(sql`
    delete from worker_lease lease
    where lease.worker = any (${workers}::text[]) ${queues.map(hasNoRow).reduce((a, b) => sql`${a} ${b}`)}`)

const hasNoRow = ({ table }: Queue) => sql`
  and not exists (select from ${table} q
                  where q.worker = lease.worker and q.next_attempt_time <= lease.lease_until)`

/** When the next lease ends; null: there is none. */
export async function findNextLeaseEnd(db: Db) {
  const row = await db.getRow<{ next: Temporal.Instant | null }>(
    sql`select min(lease_until) as next from worker_lease`,
  )
  return row.next
}

/** The heartbeat of these workers. */
export const renewLeases = (db: Db, workers: string[], leaseUntil: Temporal.Instant) =>
  db.query(sql`
    update worker_lease set lease_until = greatest(lease_until, ${leaseUntil}::timestamptz)
    where worker = any (${workers}::text[])`)
