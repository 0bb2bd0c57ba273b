import type { ObjectType } from '../contract/event-type.ts'
import type { ObjectNames } from '../store/object-names.ts'
import type { Sight } from '../store/objects.ts'
import type { NameOf, Selected } from './match.ts'
import type { Subject } from './subject.ts'

const PLACED: ReadonlySet<ObjectType> = new Set(['CALENDAR', 'CLASS_SCHEDULE', 'RECALL'])

/** Counts cover the whole business; samples name people, so they only show what the caller sees. */
export function isSeen(subject: Subject, sight: Sight): boolean {
  if (sight === null || !PLACED.has(subject.objectType)) return true
  if ('locationIds' in sight) {
    return subject.locationId != null && sight.locationIds.includes(subject.locationId)
  }
  return sight.professionalId !== null && subject.professionalId === sight.professionalId
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
