import type { DefinitionActivity as ShownActivity } from '../contract/event-definition.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Stored } from './rows.ts'

/** When a definition fires next, when it last fired, and its results of the last 30 days. */
export type DefinitionActivity = Stored<Omit<ShownActivity, 'hasStoppedMatching'>>

const COUNTED_DAYS = 30
const SHOWN_DAYS = 14

type DayCount = { eventDefnId: number; day: string; status: string; count: number }
type Pending = { eventDefnId: number; nextTime: Temporal.Instant | null; waiting: number }
type Last = { eventDefnId: number; lastTime: Temporal.Instant | null }

export async function readActivities(
  db: Db,
  businessId: number,
  definitions: { eventDefnId: number }[],
  now: Temporal.Instant,
): Promise<Map<number, DefinitionActivity>> {
  const ids = definitions.map((definition) => definition.eventDefnId)
  const zone = await db.getRow<{ timeZone: string }>(sql`
    select time_zone as "timeZone" from business where business_id = ${businessId}`)
  const timeZone = zone.timeZone
  const today = now.toZonedDateTimeISO(timeZone).toPlainDate()
  const since = today
    .subtract({ days: COUNTED_DAYS - 1 })
    .toZonedDateTime(timeZone)
    .toInstant()
  const [pending, counts, lasts] = await Promise.all([
    listPending(db, businessId, ids),
    countDays(db, businessId, timeZone, { since, until: now }),
    listLast(db, businessId, ids, { since, until: now }),
  ])
  const pendingOf = new Map(pending.map((one) => [one.eventDefnId, one]))
  const lastOf = new Map(lasts.map((one) => [one.eventDefnId, one.lastTime]))
  const countsOf = Map.groupBy(counts, ({ eventDefnId }) => eventDefnId)
  const shownDays = Array.from({ length: SHOWN_DAYS }, (_, i) =>
    today.subtract({ days: SHOWN_DAYS - 1 - i }).toString(),
  )
  return new Map(
    ids.map((id) => {
      const own = countsOf.get(id) ?? []
      const total = (...statuses: string[]) =>
        own.reduce((sum, one) => sum + (statuses.includes(one.status) ? one.count : 0), 0)
      const sentOn = (day: string) =>
        own.find((one) => one.day === day && one.status === 'COMPLETED')?.count ?? 0
      return [
        id,
        {
          nextTime: pendingOf.get(id)?.nextTime ?? null,
          waiting: pendingOf.get(id)?.waiting ?? 0,
          lastTime: lastOf.get(id) ?? null,
          sent: total('COMPLETED'),
          failed: total('FAILED'),
          skipped: total('SKIPPED', 'EXPIRED'),
          days: shownDays.map(sentOn),
        },
      ]
    }),
  )
}

const listPending = (db: Db, businessId: number, ids: number[]) =>
  db.query<Pending>(sql`
    select event_defn_id as "eventDefnId", min(scheduled_time) as "nextTime", count(*) as waiting
    from pending_trigger
    where business_id = ${businessId} and event_defn_id = any (${ids}::bigint[])
    group by event_defn_id`)

type Range = { since: Temporal.Instant; until: Temporal.Instant }

const ENDED = sql`status in ('COMPLETED', 'FAILED', 'SKIPPED', 'EXPIRED')`

const countDays = (db: Db, businessId: number, timeZone: string, { since, until }: Range) =>
  db.query<DayCount>(sql`
    select event_defn_id as "eventDefnId", (scheduled_time at time zone ${timeZone})::date::text as day,
           status, count(*) as count
    from event_trigger
    where business_id = ${businessId} and ${ENDED}
      and scheduled_time >= ${since} and scheduled_time <= ${until}
    group by 1, 2, 3`)

/** The last trigger of each definition within the counted days. */
const listLast = (db: Db, businessId: number, ids: number[], { since, until }: Range) =>
  db.query<Last>(sql`
    select event_defn_id as "eventDefnId", max(scheduled_time) as "lastTime"
    from event_trigger
    where business_id = ${businessId} and ${ENDED} and event_defn_id = any (${ids}::bigint[])
      and scheduled_time >= ${since} and scheduled_time <= ${until}
    group by event_defn_id`)
