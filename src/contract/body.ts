import type { Fault } from '../errors.ts'
import type { ObjectType } from './event-type.ts'
import { isId, isPlainObject, isSame } from './json.ts'

/** An id in a body that must exist in the business. It is looked up after the body was read. */
export type Reference =
  | { kind: ReferenceKind; id: number; pointer: string }
  | { kind: 'status'; objectType: ObjectType; id: string; pointer: string; canBeAny: boolean }
  | { kind: 'invitation'; id: string; pointer: string }

/** A `business` must be the caller's own. */
export type ReferenceKind =
  | 'business'
  | 'location'
  | 'professional'
  | 'reason'
  | 'disclaimerForm'
  | 'calendar'
  | 'classSchedule'
  | 'invitationCampaign'
  | 'recall'
  | 'disclaimer'
  | 'emailCategory'
  | 'emailTemplate'
  | 'eventDefinition'
  | 'eventAction'

/** A value and its JSON pointer. The value is `undefined` if the property is absent. */
export type Found = { value: unknown; pointer: string }

/** Finds a property of the body by its name, or by the names on the way to it. */
export type Find = (...path: string[]) => Found

/** An object in the body and its JSON pointer. */
export type Place = { object: unknown; pointer: string }

export const look = ({ object, pointer }: Place, name: string): Found => ({
  value: isPlainObject(object) && Object.hasOwn(object, name) ? object[name] : undefined,
  pointer: `${pointer}/${name}`,
})

export const isMissing = (value: unknown): value is null | undefined =>
  value === null || value === undefined

/**
 * Collects the ids that a body names, and the faults that its schema cannot express. The schema reports
 * values of a wrong type: here they are read as `undefined`, like absent ones.
 */
export class Reading {
  readonly faults: Fault[]
  readonly references: Reference[] = []

  constructor(faultsOfSchema: Fault[] = []) {
    this.faults = faultsOfSchema
  }

  fault(pointer: string, detail: string) {
    this.faults.push({ pointer, detail })
  }

  /** `hint` tells the caller what to send. */
  require(found: Found, hint?: string) {
    if (!isMissing(found.value)) return
    this.fault(found.pointer, hint ? `is required: ${hint}` : 'is required')
  }

  /**
   * A value that a body may have at several places: the first that is given, else the first that is
   * null. Different values are a fault: an edit at one of the places would be lost.
   */
  firstGiven(...places: Found[]): Found {
    const [first, ...others] = places.filter(({ value }) => !isMissing(value))
    const other = others.find(({ value }) => !isSame(value, first!.value))
    if (first && other) {
      this.fault(first.pointer, describeDifference(first, other))
      this.fault(other.pointer, describeDifference(other, first))
    }
    return first ?? places.find(({ value }) => value === null) ?? places[0]!
  }

  boolean({ value }: Found): boolean | null | undefined {
    return isMissing(value) || typeof value === 'boolean' ? value : undefined
  }

  integer({ value }: Found): number | null | undefined {
    if (isMissing(value)) return value
    return Number.isSafeInteger(value) ? Number(value) + 0 : undefined // -0 becomes 0
  }

  id({ value }: Found): number | null | undefined {
    return isMissing(value) || isId(value) ? value : undefined
  }

  ids({ value }: Found): number[] | null | undefined {
    if (isMissing(value)) return value
    return Array.isArray(value) && value.every(isId) ? value : undefined
  }

  text({ value }: Found): string | null | undefined {
    return isMissing(value) || typeof value === 'string' ? value : undefined
  }

  oneOf<const T extends string>({ value }: Found, allowed: readonly T[]) {
    return isMissing(value) ? value : allowed.find((each) => each === value)
  }

  /** A list without duplicates. */
  someOf<const T extends string>(found: Found, allowed: readonly T[]): T[] | null | undefined {
    const entries = this.array(found)
    return entries && [...new Set(entries.flatMap((entry) => this.oneOf(entry, allowed) ?? []))]
  }

  /** An object such as `{ label, value }`. */
  object({ value, pointer }: Found): Place | null | undefined {
    if (isMissing(value)) return value
    return isPlainObject(value) ? { object: value, pointer } : undefined
  }

  /** A property of such an object; absent or `null` if the object is. */
  inside(found: Found, name: string): Found {
    const place = this.object(found)
    if (place) return look(place, name)
    return { value: place, pointer: `${found.pointer}/${name}` }
  }

  array({ value, pointer }: Found): Found[] | null | undefined {
    if (isMissing(value)) return value
    if (!Array.isArray(value)) return undefined
    return value.map((entry, index) => ({ value: entry, pointer: `${pointer}/${index}` }))
  }

  refer(kind: ReferenceKind, id: number | null | undefined, pointer: string) {
    if (typeof id === 'number') this.references.push({ kind, id, pointer })
  }

  referAll(kind: ReferenceKind, ids: number[], pointer: string) {
    for (const [index, id] of ids.entries()) this.refer(kind, id, `${pointer}/${index}`)
  }
}

const describeDifference = (here: Found, there: Found) =>
  `is ${shorten(here.value)} here and ${shorten(there.value)} at ${there.pointer}: send one of them, or the same at both`

const MAX_SHOWN = 60
export function shorten(value: unknown) {
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
