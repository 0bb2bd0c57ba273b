import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import type { Sight } from './objects.ts'

/** Objects that are somewhere and somebody's; the others are seen by all. */
const PLACED = [
  ['CALENDAR', 'calendar', 'calendar_id'],
  ['CLASS_SCHEDULE', 'class_schedule', 'class_schedule_id'],
  ['RECALL', 'recall', 'recall_id'],
] as const

/**
 * Keeps rows about an object (`object_type`, `object_id`), such as triggers and mails, to those
 * whose object the caller sees. `table` is the name or alias of their table.
 */
export function aboutSeenObject(
  table: 'event_trigger' | 'email' | 't' | 'e' | 'w',
  sight: Sight,
): Sql {
  if (sight === null) return empty
  const isSeen =
    'locationIds' in sight
      ? sql`o.location_id = any (${sight.locationIds}::bigint[])`
      : sql`o.professional_id = ${sight.professionalId}`
  const cases = PLACED.map(
    ([objectType, objects, id]) => sql`
      when ${raw(`'${objectType}'`)} then exists (
        select from ${raw(objects)} o
        where o.business_id = ${raw(table)}.business_id and o.${raw(id)} = ${raw(table)}.object_id
          and ${isSeen})`,
  )
  // What is about nothing we know of is shown to those who see everything.
  return sql`and case ${raw(table)}.object_type ${join(cases, ' ')}
                 else ${raw(table)}.object_type is not null end`
}

/** Keeps appointments and classes to those that the caller sees. */
export function atSeenPlace(sight: Sight): Sql {
  if (sight === null) return empty
  return 'locationIds' in sight
    ? sql`and location_id = any (${sight.locationIds}::bigint[])`
    : sql`and professional_id = ${sight.professionalId}`
}
