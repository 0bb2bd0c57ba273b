import type { ObjectType } from '../contract/event-type.ts'
import type { ObjectNames } from '../store/object-names.ts'
import type { Visibility } from '../store/visibility.ts'
import type { NameOf, Selected } from './match.ts'
import type { Subject } from '../store/subject.ts'

const PLACED: ReadonlySet<ObjectType> = new Set(['CALENDAR', 'CLASS_SCHEDULE', 'RECALL'])

/** Counts cover the whole business; samples name people, so they only show what the caller sees. */
export function isSeen(subject: Subject, visibility: Visibility): boolean {
  if (visibility === null || !PLACED.has(subject.objectType)) return true
  if ('locationIds' in visibility) {
    return subject.locationId != null && visibility.locationIds.includes(subject.locationId)
  }
  return visibility.professionalId !== null && subject.professionalId === visibility.professionalId
}

/** "location London" instead of "location 3" in a reason. */
export function nameOfSample(names: ObjectNames): NameOf {
  const known: Record<Selected, string | null> = {
    location: names.locationName,
    staff: names.professionalName,
    service: names.reasonName,
    'disclaimer form': names.objectName,
  }
  return (what) => (known[what] ? `${what} ${known[what]}` : undefined)
}
