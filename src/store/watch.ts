import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import type { StoredDefinition } from './event-definitions.ts'
import { GAVE_UP } from './trigger-queue.ts'

/** How the queue stands. Counts end at `COUNTED`: more is as bad. */
export type QueueHealth = {
  /** How many should have fired a second ago, and since when the oldest waits. */
  overdue: number
  oldestOverdue: Temporal.Instant | null
  /** Those in the hands of a lane whose lease ran out and that nobody took over, or of none. */
  stuckLeases: number
  /** Saved definitions whose plan is not finished, and since when the oldest waits. */
  unplanned: number
  oldestUnplanned: Temporal.Instant | null
  /** In the last 7 days: triggers that were given up because their attempts failed. */
  setAside: number
  /** In the last 24 hours: what was dealt with more than a minute late, and what then was of no use. */
  late: number
  expired: number
  mostLateSeconds: number
}

export const COUNTED = 100_000

export async function readQueueHealth(db: Db, now: Temporal.Instant) {
  const [health] = await db.query<QueueHealth>(sql`
    select
      (select count(*) from (
         select from waiting where worker is null
           and scheduled_time < ${now.subtract({ seconds: 1 })} limit ${COUNTED}) due) as overdue,
      (select min(scheduled_time) from waiting
       where worker is null
         and scheduled_time < ${now.subtract({ seconds: 1 })}) as "oldestOverdue",
      (select count(*) from (
         select from waiting w left join lane using (worker)
         where w.scheduled_time <= ${now} and w.worker is not null
           and coalesce(lane.lease_until, '-infinity') < ${now.subtract({ seconds: TAKEOVER_SECONDS })}
         limit ${COUNTED}) stuck) as "stuckLeases",
      (select count(*) from event_definition where planned_version < version) as unplanned,
      (select min(modified_date) from event_definition where planned_version < version) as "oldestUnplanned",
      (select count(*) from event_trigger
       where status = 'FAILED' and modified_date > ${now.subtract({ hours: 7 * 24 })}
         and status_reason like ${`${GAVE_UP}%`}) as "setAside",
      late.*
    from (
      select count(*) filter (where status <> 'EXPIRED') as late,
             count(*) filter (where status = 'EXPIRED' and status_reason like ${`${CAME_LATE}%`}) as expired,
             coalesce(extract(epoch from max(modified_date - scheduled_time)
               filter (where status <> 'EXPIRED' or status_reason like ${`${CAME_LATE}%`})), 0)::float8
               as "mostLateSeconds"
      from event_trigger
      where status in ('COMPLETED', 'FAILED', 'SKIPPED', 'EXPIRED')
        and modified_date - scheduled_time > interval '1 minute'
        and modified_date > ${now.subtract({ hours: 24 })}) late`)
  return health!
}

/** A lease that ran out is taken over within this time where any node lives. */
const TAKEOVER_SECONDS = 5

/** How the reason begins of what an outage made useless. */
export const CAME_LATE = 'the service was '

/** A page of all active definitions of all businesses whose plan is complete. */
export type DefinitionCursor = Pick<StoredDefinition, 'businessId' | 'eventDefnId'>

export async function listPlannedDefinitionKeys(
  db: Db,
  { businessId, eventDefnId }: DefinitionCursor,
  limit: number,
) {
  return db.query<DefinitionCursor>(sql`
    select business_id as "businessId", event_defn_id as "eventDefnId" from event_definition
    where active and planned_version = version
      and (business_id, event_defn_id) > (${businessId}, ${eventDefnId})
    order by business_id, event_defn_id limit ${limit}`)
}

/** The last complete reconciliation: when it ended and what it found. */
export type Round<Findings> = { endedAt: Temporal.Instant; findings: Findings }

export async function findLastRound<Findings>(engine: Db) {
  const [round] = await engine.query<Round<Findings>>(sql`
    select ended_at as "endedAt", findings from reconciliation`)
  return round
}

export const saveLastRound = <Findings>(engine: Db, { endedAt, findings }: Round<Findings>) =>
  engine.query(sql`
    insert into reconciliation (ended_at, findings)
    values (${endedAt}, ${JSON.stringify(findings)}::jsonb)
    on conflict (only_one) do update
    set ended_at = excluded.ended_at, findings = excluded.findings`)

/** Objects of a kind as they came, and how many of them a definition has taken up. */
export type Uptake = { came: number; taken: number; cameBefore: number; takenBefore: number }

/** Of the newest `newest` objects that came after `since`, and of those before them. */
export async function readUptake(
  db: Db,
  { businessId, eventDefnId }: DefinitionCursor,
  objectType: ObjectType,
  { since, newest, before }: { since: Temporal.Instant; newest: number; before: number },
) {
  const { table, id, order, key, other } = OBJECTS[objectType]
  const [uptake] = await db.query<Uptake>(sql`
    with objects as (
      select ${raw(id)} as id, created_date, row_number() over (order by ${raw(order)} desc) as place
      from ${raw(table)} where business_id = ${businessId}
      order by ${raw(order)} desc limit ${newest + before}
    ), seen as (
      select place <= ${newest} and created_date > ${since} as recent, exists (
        select from any_trigger
        where business_id = ${businessId} and object_type = ${objectType}
          and ${raw(key)} = objects.id and ${raw(other)} is null and event_defn_id = ${eventDefnId}) as taken
      from objects
    )
    select count(*) filter (where recent) as came,
           count(*) filter (where recent and taken) as taken,
           count(*) filter (where not recent) as "cameBefore",
           count(*) filter (where not recent and taken) as "takenBefore"
    from seen`)
  return uptake!
}

/** `key` is the column of triggers that names it, `other` the one that then does not. */
type ObjectTable = { table: string; id: string; order: string; key: string; other: string }

const byId = (table: string): ObjectTable => ({
  table,
  id: `${table}_id`,
  order: `${table}_id`,
  key: 'object_id',
  other: 'object_uuid',
})

const OBJECTS: Record<ObjectType, ObjectTable> = {
  CALENDAR: byId('calendar'),
  CLASS_SCHEDULE: byId('class_schedule'),
  RECALL: byId('recall'),
  DISCLAIMER: byId('disclaimer'),
  INVITATION: {
    table: 'invitation',
    id: 'invitation_uuid',
    order: 'created_date',
    key: 'object_uuid',
    other: 'object_id',
  },
}
