import { isSame } from '../contract/json.ts'
import type { StoredObject } from '../store/objects.ts'
import type { KnownStatus } from '../matching/status-words.ts'
import { isLive, type MirroredValues } from './map-entry.ts'

/*
 * The three-way merge: what the source says now, what was last applied, and the object here. A value that
 * the source did not change is left as it is here.
 */

/** What was last written to an object. `isClosed`: its status said only that the end is long ago. */
export type Applied = MirroredValues & { isClosed?: boolean }

type Merge = {
  /** What the source says now. */
  values: MirroredValues
  applied: Applied
  /** The object, under its lock. */
  current: StoredObject
  statuses: KnownStatus[]
  /** The status says only that the end is long ago. */
  isClosed: boolean
}

/** The properties to write; empty if nothing changes. */
export function mergeValues({
  values,
  applied,
  current,
  statuses,
  isClosed,
}: Merge): MirroredValues {
  // A deleted object returns as the source has it.
  if (!current.active) return values
  const changed = Object.entries(values).filter(
    ([property, value]) => !isSame(value, applied[property as keyof MirroredValues]),
  )
  const merged: MirroredValues = Object.fromEntries(changed)
  if (merged.clientIdList) {
    merged.clientIdList = mergeLists(
      merged.clientIdList,
      applied.clientIdList ?? [],
      current.clientIdList as number[],
    )
  }
  // The source said nothing of what people set since.
  const isReopened = applied.isClosed && merged.status && isLive(merged.status, statuses)
  if ((isClosed || isReopened) && current.status !== applied.status) delete merged.status
  if (merged.status !== undefined && isCancelledHere(applied, current, statuses)) {
    if (!isCancelled(merged.status, statuses)) delete merged.status
  }
  return merged
}

/** A person or a client cancelled it here; the source may not know. */
export const isCancelledHere = (
  applied: Applied,
  { status }: StoredObject,
  statuses: KnownStatus[],
) => status !== applied.status && isCancelled(status as string, statuses)

export const isCancelled = (name: string, statuses: KnownStatus[]) =>
  statuses.some(
    ({ status, outcome }) =>
      status === name && (outcome === 'CANCELLED' || outcome === 'LATE_CANCELLED'),
  )

/** Adds and removes what the source added and removed. */
function mergeLists(now: number[], before: number[], here: number[]) {
  const added = now.filter((id) => !before.includes(id) && !here.includes(id))
  const removed = new Set(before.filter((id) => !now.includes(id)))
  return [...here.filter((id) => !removed.has(id)), ...added]
}
