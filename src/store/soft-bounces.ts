import type { Db } from '../database/database.ts'
import type { By } from './rows.ts'
import { sql } from '../database/sql.ts'
import { suppress } from './suppressions.ts'

type SoftBounced = { businessId: number; emailId: number }

/** This many soft bounces within this many days suppress an address. */
const MAX_SOFT_BOUNCES = 5
const COUNTED_DAYS = 30

/** Counts each mail once, and suppresses the addresses that reach the limit; returns these. */
export async function recordSoftBounces(tx: Db, mails: SoftBounced[], by: By): Promise<string[]> {
  if (mails.length === 0) return []
  const { now } = by
  const businessIds = [...new Set(mails.map(({ businessId }) => businessId))]
  const keys = sql`unnest(${mails.map(({ businessId }) => businessId)}::bigint[],
                          ${mails.map(({ emailId }) => emailId)}::bigint[]) as k (business_id, email_id)`
  // Bounces of one address often arrive together: each must see the others to reach the limit.
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended(address, 0))
    from (select distinct 'soft bounce ' || e.business_id || ' ' || lower(e.to_address) as address
          from ${keys} join email e on (e.business_id, e.email_id) = (k.business_id, k.email_id)
          order by 1) a`)
  await tx.query(sql`
    insert into soft_bounce (business_id, email_id, bounced_time)
    select k.business_id, k.email_id, ${now} from ${keys}
    on conflict do nothing`)
  const atLimit = await tx.query<{ businessId: number; emailAddress: string }>(sql`
    select e.business_id as "businessId", lower(e.to_address) as "emailAddress"
    from soft_bounce b
    join email e on (e.business_id, e.email_id) = (b.business_id, b.email_id)
    where b.business_id = any (${businessIds}::bigint[]) and b.bounced_time > ${oldestCounted(now)}
      and (e.business_id, lower(e.to_address)) in (
        select x.business_id, lower(x.to_address) from ${keys}
        join email x on (x.business_id, x.email_id) = (k.business_id, k.email_id))
    group by 1, 2 having count(*) >= ${MAX_SOFT_BOUNCES}`)
  const detail = `${MAX_SOFT_BOUNCES} mails within ${COUNTED_DAYS} days were not delivered`
  await suppress(
    tx,
    atLimit.map((address) => ({ ...address, reason: 'BOUNCED' as const, detail })),
    by,
  )
  return atLimit.map(({ emailAddress }) => emailAddress)
}

/** Deletes soft bounces that no longer count. */
export async function deleteOldSoftBounces(engine: Db, now: Temporal.Instant) {
  await engine.query(sql`delete from soft_bounce where bounced_time <= ${oldestCounted(now)}`)
}

const oldestCounted = (now: Temporal.Instant) => now.subtract({ hours: COUNTED_DAYS * 24 })
