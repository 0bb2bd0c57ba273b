import type { Fault } from '../errors.ts'
import type { ObjectType } from './event-type.ts'
import { isPlainObject } from './json.ts'
import { textFault, type Lines } from './text.ts'

/** An id in a body that must exist in the business. The database is asked after the body was read. */
export type Reference =
  | { kind: ReferenceKind; id: number; pointer: string }
  | { kind: 'status'; objectType: ObjectType; id: string; pointer: string }

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

/** An object in the body and its JSON pointer. */
export type Place = { object: unknown; pointer: string }

/** Finds a property in the first place that has a value; `null` if it is null in one and absent in the others. */
export function look(places: Place[], name: string): Found {
  let found: Found = { value: undefined, pointer: `${places[0]?.pointer ?? ''}/${name}` }
  for (const { object, pointer } of places) {
    if (!isPlainObject(object) || !Object.hasOwn(object, name)) continue
    const value = object[name]
    if (value !== null && value !== undefined) return { value, pointer: `${pointer}/${name}` }
    if (value === null && found.value === undefined) {
      found = { value: null, pointer: `${pointer}/${name}` }
    }
  }
  return found
}

export const isMissing = (value: unknown): value is null | undefined =>
  value === null || value === undefined

/**
 * Reads typed values without coercion and collects all faults. An absent or invalid value is read as
 * `undefined`; `null` stays `null`.
 */
export class Reading {
  readonly faults: Fault[] = []
  readonly references: Reference[] = []

  fault(pointer: string, detail: string) {
    this.faults.push({ pointer, detail })
  }

  /** `hint` tells the caller what to send. */
  require(found: Found, hint?: string) {
    if (!isMissing(found.value)) return
    this.fault(found.pointer, hint ? `is required: ${hint}` : 'is required')
  }

  boolean({ value, pointer }: Found): boolean | null | undefined {
    if (isMissing(value) || typeof value === 'boolean') return value
    this.fault(pointer, 'must be true or false')
    return undefined
  }

  integer({ value, pointer }: Found): number | null | undefined {
    if (isMissing(value)) return value
    if (Number.isSafeInteger(value)) return (value as number) + 0 // -0 becomes 0
    this.fault(pointer, 'must be an integer')
    return undefined
  }

  id({ value, pointer }: Found): number | null | undefined {
    if (isMissing(value)) return value
    if (Number.isSafeInteger(value) && (value as number) > 0) return value as number
    this.fault(pointer, 'must be an id: an integer above 0')
    return undefined
  }

  ids({ value, pointer }: Found): number[] | null | undefined {
    if (isMissing(value)) return value
    if (!Array.isArray(value)) {
      this.fault(pointer, 'must be an array of ids')
      return undefined
    }
    if (value.length > MAX_IDS) {
      this.fault(pointer, `must hold at most ${MAX_IDS} ids`)
      return undefined
    }
    const ids = value.map((entry, index) => {
      if (isMissing(entry)) this.fault(`${pointer}/${index}`, 'must be an id: an integer above 0')
      return this.id({ value: entry, pointer: `${pointer}/${index}` })
    })
    return ids.every((id) => typeof id === 'number') ? ids : undefined
  }

  text({ value, pointer }: Found, { max, lines }: TextLimits): string | null | undefined {
    if (isMissing(value)) return value
    const detail = textFault(value, max, lines)
    if (detail === undefined) return value as string
    this.fault(pointer, detail)
    return undefined
  }

  oneOf<const T extends string>({ value, pointer }: Found, allowed: readonly T[]) {
    if (isMissing(value)) return value
    const known = allowed.find((each) => each === value)
    if (known === undefined) this.fault(pointer, `must be one of ${allowed.join(', ')}`)
    return known
  }

  /** A list without duplicates. */
  someOf<const T extends string>(found: Found, allowed: readonly T[]): T[] | null | undefined {
    const entries = this.array(found, 100)
    if (!entries) return entries
    const words = entries.map((entry) => {
      if (isMissing(entry.value)) this.fault(entry.pointer, `must be one of ${allowed.join(', ')}`)
      return this.oneOf(entry, allowed)
    })
    return words.every((word) => !isMissing(word)) ? [...new Set(words as T[])] : undefined
  }

  /** An object such as `{ label, value }`. */
  object({ value, pointer }: Found): Place | null | undefined {
    if (isMissing(value)) return value
    if (isPlainObject(value)) return { object: value, pointer }
    this.fault(pointer, 'must be an object')
    return undefined
  }

  /** A property of such an object; absent or `null` if the object is. */
  inside(found: Found, name: string): Found {
    const place = this.object(found)
    if (place) return look([place], name)
    return { value: place, pointer: `${found.pointer}/${name}` }
  }

  array({ value, pointer }: Found, max: number): Found[] | null | undefined {
    if (isMissing(value)) return value
    if (!Array.isArray(value)) this.fault(pointer, 'must be an array')
    else if (value.length > max) this.fault(pointer, `must hold at most ${max} entries`)
    else return value.map((entry, index) => ({ value: entry, pointer: `${pointer}/${index}` }))
    return undefined
  }

  refer(kind: ReferenceKind, id: number | null | undefined, pointer: string) {
    if (typeof id === 'number') this.references.push({ kind, id, pointer })
  }

  referAll(kind: ReferenceKind, ids: number[], pointer: string) {
    for (const [index, id] of ids.entries()) this.refer(kind, id, `${pointer}/${index}`)
  }
}

type TextLimits = { max: number; lines?: Lines }

const MAX_IDS = 5000
