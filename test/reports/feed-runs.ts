import { sql } from '../../src/database/sql.ts'
import type { Db } from '../../src/database/database.ts'

type Business = { db: Db; businessId: number }

/** A feed of a calendar that is closed a day after its end, as the setting is by default. */
export async function addFeed({ db, businessId }: Business, name: string, source = 'CALDAV') {
  const [feed] = await db.query<{ feedId: number }>(sql`
    insert into feed (business_id, name, source, mode, connection, defaults, rules, status_map, horizon_days,
      history_days, close_after_hours, several_clients, clients_without_address,
      created_date, created_user, modified_date, modified_user)
    values (${businessId}, ${name}, ${source}, 'LIVE', '{}', '{}', '[]', '{}', 400, 30, 24, 'HOLD', 'SKIP',
      now(), 'TEST', now(), 'TEST')
    returning feed_id as "feedId"`)
  return feed!.feedId
}

type Found = { sums?: object; differences?: object[]; error?: string }

/** A reconciliation as `src/feeds/loop.ts` stores it. */
export const addReconciliation = (
  { db, businessId }: Business,
  feedId: number,
  at: string,
  { sums, differences = [], error }: Found,
) =>
  db.query(sql`
    insert into feed_run (business_id, feed_id, kind, status, result, error, started_time, started_user, ended_time)
    values (${businessId}, ${feedId}, 'RECONCILE', ${error ? 'FAILED' : 'DONE'},
      ${sums ? JSON.stringify({ sums, differences }) : null}::jsonb, ${error ?? null},
      ${Temporal.Instant.from(at)}, 'feed', ${Temporal.Instant.from(at)})`)
