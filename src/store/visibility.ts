import type { ObjectKind } from '../contract/objects.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { OBJECT_TABLES } from './object-tables.ts'

/** The name or alias of a table whose rows are about an object. */
type Table = 'event_trigger' | 'email' | 't' | 'e' | 'w'

/** The part of a business that a caller sees: all of it (null), some locations, or their own work. */
export type Visibility = { locationIds: number[] } | { professionalId: number | null } | null

/** Limits objects of a kind to those that the caller sees. `t` is the alias of their table. */
export const isVisible = (kind: ObjectKind, visibility: Visibility): Sql =>
  limitingProperty(kind, visibility) ? atVisiblePlace(visibility, 't.') : empty

/** Limits rows that have a location and staff, such as appointments, to those that the caller sees. */
export function atVisiblePlace(
  visibility: Visibility,
  prefix: '' | 't.' | 'o.' | 'now.' = '',
): Sql {
  if (visibility === null) return empty
  return 'locationIds' in visibility
    ? sql`and ${raw(prefix)}location_id = any (${visibility.locationIds}::bigint[])`
    : sql`and ${raw(prefix)}professional_id = ${visibility.professionalId}`
}

/** Limits entries of the audit to those of objects that the caller saw. `a` is the alias of the audit. */
export function wasAtVisiblePlace(visibility: NonNullable<Visibility>): Sql {
  return 'locationIds' in visibility
    ? sql`and (a.after ->> 'location_id')::bigint = any (${visibility.locationIds}::bigint[])`
    : sql`and (a.after ->> 'professional_id')::bigint = ${visibility.professionalId}`
}

/** Whether the caller sees only a part of the objects of this kind. */
export const isLimited = (
  kind: ObjectKind,
  visibility: Visibility,
): visibility is NonNullable<Visibility> => limitingProperty(kind, visibility) !== undefined

/**
 * Limits rows about an object, such as triggers and emails, to those whose object the caller sees.
 * Rows about no object are visible only to callers who see everything.
 */
export function aboutVisibleObject(table: Table, visibility: Visibility): Sql {
  if (visibility === null) return empty
  // Objects without a location have no staff either: everyone sees them.
  const isOther = sql`${raw(table)}.object_type is not null`
  return sql`and ${whereObject(table, atVisiblePlace(visibility, 'o.'), isOther)}`
}

/** Limits rows about an object to those whose object is at this location. */
export const aboutObjectAt = (table: Table, locationId: number): Sql =>
  sql`and ${whereObject(table, sql`and o.location_id = ${locationId}`, sql`false`)}`

/** Whether the object of a row meets the condition; `other` is for objects that have no location. */
function whereObject(table: Table, condition: Sql, other: Sql) {
  const cases = OBJECT_TABLES.filter(({ hasLocation }) => hasLocation).map(
    ({ objectType, table: objects, id }) => sql`
      when ${raw(`'${objectType}'`)} then exists (
        select from ${objects} o
        where o.business_id = ${raw(table)}.business_id and o.${id} = ${raw(table)}.object_id
          ${condition})`,
  )
  return sql`case ${raw(table)}.object_type ${join(cases, ' ')} else ${other} end`
}

/** The property that puts an object outside the caller's visibility; undefined if the caller sees it. */
export function findHidingProperty(
  kind: ObjectKind,
  object: Record<string, unknown>,
  visibility: Visibility,
) {
  const property = limitingProperty(kind, visibility)
  if (visibility === null || !property) return undefined
  const id = object[property]
  const isSeen =
    'locationIds' in visibility
      ? visibility.locationIds.some((one) => one === id)
      : visibility.professionalId === id
  return isSeen ? undefined : property
}

/** A LOCATION_SUPER_USER sees the objects of their locations, a USER their own. */
function limitingProperty(kind: ObjectKind, visibility: Visibility) {
  if (visibility === null) return undefined
  if ('locationIds' in visibility) return 'locationId' in kind.fields ? 'locationId' : undefined
  return kind.objectType && 'professionalId' in kind.fields ? 'professionalId' : undefined
}
