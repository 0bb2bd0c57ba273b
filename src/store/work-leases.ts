import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/** Work that one worker at a time must do, by its name. */
type WorkClaim = { name: string; worker: string }

/**
 * Claims the work, or extends the worker's own lease. Returns false if another worker's lease is
 * still valid.
 */
export async function claimWork(
  engine: Db,
  { name, worker }: WorkClaim,
  { now, leaseUntil }: { now: Temporal.Instant; leaseUntil: Temporal.Instant },
) {
  const rows = await engine.query(sql`
    insert into work_lease (name, worker, lease_until) values (${name}, ${worker}, ${leaseUntil})
    on conflict (name) do update
    set worker = excluded.worker, lease_until = excluded.lease_until
    where work_lease.worker = excluded.worker or work_lease.lease_until < ${now}
    returning name`)
  return rows.length > 0
}

/** Ends the worker's own lease; another worker's lease stays. */
export const releaseWork = (engine: Db, { name, worker }: WorkClaim) =>
  engine.query(sql`delete from work_lease where name = ${name} and worker = ${worker}`)
