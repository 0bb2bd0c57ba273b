import { CAUSES } from '../automation/causes.ts'
import type { EventTypeName, ObjectType } from '../contract/event-type.ts'
import type { StoredObject } from '../store/objects.ts'

/** The events that a save is. Deleting an object, and saving a deleted one, is none. */
export function eventsOf(
  objectType: ObjectType,
  before: StoredObject | undefined,
  after: StoredObject,
): EventTypeName[] {
  const { created, changed, watched } = CAUSES[objectType]
  if (!after.active) return []
  if (!before) return created ? [created] : []
  const isAsBefore = (property: string) =>
    isSame(members(before[property]), members(after[property]))
  if (!changed || watched.every(isAsBefore)) return []
  const completed =
    objectType === 'INVITATION' && before.status !== 'COMPLETED' && after.status === 'COMPLETED'
  return completed ? [changed, 'INVITE_COMPLETED'] : [changed]
}

/** Of the students of a class it counts who they are, not in which order they are named. */
const members = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value)

/** Instants first: deep equality calls any two of them equal. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Temporal.Instant) return b instanceof Temporal.Instant && a.equals(b)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]))
  }
  if (typeof a === 'object' && a !== null) {
    if (typeof b !== 'object' || b === null || Array.isArray(b)) return false
    const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>]
    const keys = Object.keys(x)
    return keys.length === Object.keys(y).length && keys.every((key) => isSame(x[key], y[key]))
  }
  return a === b
}
