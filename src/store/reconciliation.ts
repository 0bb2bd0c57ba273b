import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { raw, sql } from '../database/sql.ts'
import type { StoredDefinition } from './event-definitions.ts'

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

/** The last complete reconciliation. */
export type LastReconciliation<Findings> = { endedAt: Temporal.Instant; findings: Findings }

export async function findLastReconciliation<Findings>(engine: Db) {
  const [last] = await engine.query<LastReconciliation<Findings>>(sql`
    select ended_at as "endedAt", findings from reconciliation`)
  return last
}

export const saveLastReconciliation = <Findings>(
  engine: Db,
  { endedAt, findings }: LastReconciliation<Findings>,
) =>
  engine.query(sql`
    insert into reconciliation (ended_at, findings)
    values (${endedAt}, ${JSON.stringify(findings)}::jsonb)
    on conflict (only_one) do update
    set ended_at = excluded.ended_at, findings = excluded.findings`)

/** How many objects were created, and how many of them have a trigger of the definition. */
export type MatchCounts = {
  objects: number
  matched: number
  objectsBefore: number
  matchedBefore: number
}

/** Counts the newest `newest` objects that were created after `since`, and `before` older ones. */
export async function countMatches(
  db: Db,
  { businessId, eventDefnId }: DefinitionCursor,
  objectType: ObjectType,
  { since, newest, before }: { since: Temporal.Instant; newest: number; before: number },
) {
  const { table, id, order, key, other } = OBJECTS[objectType]
  const [counts] = await db.query<MatchCounts>(sql`
    with objects as (
      select ${raw(id)} as id, created_date, row_number() over (order by ${raw(order)} desc) as place
      from ${raw(table)} where business_id = ${businessId}
      order by ${raw(order)} desc limit ${newest + before}
    ), sampled as (
      select place <= ${newest} and created_date > ${since} as recent, exists (
        select from any_trigger
        where business_id = ${businessId} and object_type = ${objectType}
          and ${raw(key)} = objects.id and ${raw(other)} is null and event_defn_id = ${eventDefnId}) as matched
      from objects
    )
    select count(*) filter (where recent) as objects,
           count(*) filter (where recent and matched) as matched,
           count(*) filter (where not recent) as "objectsBefore",
           count(*) filter (where not recent and matched) as "matchedBefore"
    from sampled`)
  return counts!
}

/** `key` is the column of triggers that refers to the object; `other` is then null. */
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
