import { externalName, refName } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'

/**
 * What a column of appointments can be in addition to the properties of an appointment: parts of the start
 * and the end, and people, services and locations by their names.
 */
export const READABLE_FIELDS = [
  'client',
  'clientFirstName',
  'clientLastName',
  'clientEmailAddress',
  'clientPhone',
  'professional',
  'professionalEmailAddress',
  'reason',
  'location',
  'startDate',
  'startTimeOfDay',
  'endDate',
  'endTimeOfDay',
  'durationMinutes',
  'durationHours',
  'cancelled',
  'noShow',
] as const

export type ReadableField = (typeof READABLE_FIELDS)[number]

export const isReadable = (field: string): field is ReadableField =>
  (READABLE_FIELDS as readonly string[]).includes(field)

/** Every field that a column of this kind may be read as. */
export function fieldsOf(kind: ObjectKind): string[] {
  const references = kind.references.flatMap(({ property }) => [
    externalName(property),
    refName(property),
  ])
  // The UUID of an invitation is a property of an appointment and its reference.
  const names = new Set<string>([
    ...(kind.kind === 'calendar' ? READABLE_FIELDS : []),
    kind.id,
    'externalId',
    'active',
    'ref',
    ...Object.keys(kind.fields),
    ...references,
  ])
  return [...names]
}

/** `Start Time`, `start_time` and `startTime` are the same. */
export const fieldKey = (name: string) => name.toLowerCase().replace(/[\s_-]/g, '')
