import type { ObjectType } from '../contract/event-type.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { DefinitionKey } from './event-definitions.ts'
import { tableOf } from './object-tables.ts'

/** A page of the active definitions of all businesses whose plan is complete. */
export async function listPlannedDefinitionKeys(
  db: Db,
  { businessId, eventDefnId }: DefinitionKey,
  limit: number,
) {
  return db.query<DefinitionKey>(sql`
    select business_id as "businessId", event_defn_id as "eventDefnId" from event_definition
    where active and planned_version = version
      and (business_id, event_defn_id) > (${businessId}, ${eventDefnId})
    order by business_id, event_defn_id limit ${limit}`)
}

/** The last complete reconciliation. */
export type LastReconciliation<Findings> = { endedAt: Temporal.Instant; findings: Findings }

export const findLastReconciliation = <Findings>(engine: Db) =>
  engine.findRow<LastReconciliation<Findings>>(sql`
    select ended_at as "endedAt", findings from reconciliation`)

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
  { businessId, eventDefnId }: DefinitionKey,
  objectType: ObjectType,
  { since, newest, before }: { since: Temporal.Instant; newest: number; before: number },
) {
  const { table, id, key, otherKey } = tableOf(objectType)
  const order = objectType === 'INVITATION' ? sql`created_date` : id
  return db.getRow<MatchCounts>(sql`
    with objects as (
      select ${id} as id, created_date, row_number() over (order by ${order} desc) as place
      from ${table} where business_id = ${businessId}
      order by ${order} desc limit ${newest + before}
    ), sampled as (
      select place <= ${newest} and created_date > ${since} as recent, exists (
        select from any_trigger
        where business_id = ${businessId} and object_type = ${objectType}
          and ${key} = objects.id and ${otherKey} is null and event_defn_id = ${eventDefnId}) as matched
      from objects
    )
    select count(*) filter (where recent) as objects,
           count(*) filter (where recent and matched) as matched,
           count(*) filter (where not recent) as "objectsBefore",
           count(*) filter (where not recent and matched) as "matchedBefore"
    from sampled`)
}
