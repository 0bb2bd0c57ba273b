import type { TagValue } from '../contract/tag.ts'
import { OBJECT_KINDS, toColumn, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { join, raw, sql } from '../database/sql.ts'

export const TAGGED_KINDS = OBJECT_KINDS.filter(({ fields }) => 'tags' in fields)

export function listTagValues(db: Db, businessId: number, limit: number) {
  const objects = TAGGED_KINDS.map(
    ({ kind, table }) => sql`
      select ${kind} as kind, tags from ${raw(table)}
      where business_id = ${businessId} and active and tags <> '{}'`,
  )
  return db.query<TagValue>(sql`
    with tagged as (${join(objects, ' union all ')}),
    used as (
      select name, value, kind from tagged
      cross join lateral jsonb_each(tags) tag (name, list)
      cross join lateral jsonb_array_elements_text(list) value
      union all
      select name, value, 'eventDefinition' from event_definition
      cross join lateral jsonb_each(filter_tag_map_json::jsonb) tag (name, list)
      cross join lateral jsonb_array_elements_text(list) value
      where business_id = ${businessId} and active and filter_tag_map_json is not null)
    select name, value,
           count(*) filter (where kind = 'client') as clients,
           count(*) filter (where kind = 'calendar') as appointments,
           count(*) filter (where kind not in ('client', 'calendar', 'eventDefinition')) as others,
           count(*) filter (where kind = 'eventDefinition') as "eventDefinitions"
    from used group by name, value order by name, value limit ${limit}`)
}

type Tagged = { name: string; value: string; after: number | string | null; limit: number }

export async function listTaggedIds(
  db: Db,
  businessId: number,
  { table, id }: ObjectKind,
  { name, value, after, limit }: Tagged,
) {
  const column = raw(toColumn(id))
  const rows = await db.query<{ id: number | string }>(sql`
    select ${column} as id from ${raw(table)}
    where business_id = ${businessId} and active and tags -> ${name}::text ? ${value}::text
      ${after === null ? sql`` : sql`and ${column} > ${after}`}
    order by ${column} limit ${limit}`)
  return rows.map((row) => row.id)
}

/** The pending triggers of the definitions that ask for this tag: only they follow its values. */
export async function listPendingOfTag(db: Db, businessId: number, name: string) {
  const rows = await db.query<{ eventTriggerId: number }>(sql`
    select event_trigger_id as "eventTriggerId" from pending_trigger
    where business_id = ${businessId} and event_defn_id in (
      select event_defn_id from event_definition
      where business_id = ${businessId} and active and filter_tag_map_json::jsonb ? ${name}::text)`)
  return new Set(rows.map(({ eventTriggerId }) => eventTriggerId))
}
