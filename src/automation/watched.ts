import { WATCHED, type WatchedChange, type ObjectType } from '../contract/event-type.ts'
import { toColumn } from '../contract/objects.ts'

/** The columns of a kind of object whose change is an event. */
export const watchedColumns = (objectType: ObjectType) =>
  Object.keys(WATCHED[objectType]).map(toColumn)

/** The kinds of changes that a change of these columns is. */
export const changesIn = (objectType: ObjectType, columns: string[]): WatchedChange[] => [
  ...new Set(
    Object.entries(WATCHED[objectType])
      .filter(([property]) => columns.includes(toColumn(property)))
      .map(([, change]) => change),
  ),
]
