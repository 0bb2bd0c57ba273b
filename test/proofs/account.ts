import type { Db } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** How many triggers have not ended. Proofs ask often, so it reads nothing else. */
export async function countOpen(db: Db) {
  const [row] = await db.query<{ open: number }>(sql`
    select count(*) as open from any_trigger where status in ('SCHEDULED', 'RUNNING')`)
  return row!.open
}

/** Counts triggers and mails, and finds lost, doubled and early ones. Shares no code with the engine. */
export async function account(db: Db) {
  const [sums] = await db.query<{
    triggers: number
    failed: number
    mails: number
  }>(sql`
    select count(*) as triggers,
           count(*) filter (where status = 'FAILED') as failed,
           (select count(*) from email) as mails
    from any_trigger`)
  const faults = await db.query<{ fault: string }>(sql`
    select 'sent ' || count(*) || ' times: trigger ' || event_trigger_id as fault from email
    group by event_trigger_id, event_action_id, recipient_key having count(*) > 1
    union all
    select 'completed without a mail: trigger ' || event_trigger_id from any_trigger t
    where status = 'COMPLETED' and not exists (
      select from email e where (e.business_id, e.event_trigger_id) = (t.business_id, t.event_trigger_id))
    union all
    select status || ' with a mail: trigger ' || event_trigger_id from any_trigger t
    where status not in ('COMPLETED', 'SCHEDULED', 'RUNNING') and exists (
      select from email e where (e.business_id, e.event_trigger_id) = (t.business_id, t.event_trigger_id))
    union all
    select 'planned ' || count(*) || ' times: definition ' || event_defn_id || ', object ' || object_id
    from any_trigger where occurrence is null and status <> 'CANCELLED'
    group by event_defn_id, object_id, anchor_time having count(*) > 1
    union all
    select 'early: trigger ' || t.event_trigger_id from any_trigger t
    join email e on (e.business_id, e.event_trigger_id) = (t.business_id, t.event_trigger_id)
    where e.created_date < t.scheduled_time
    limit 20`)
  return { ...sums!, faults: faults.map((row) => row.fault) }
}
