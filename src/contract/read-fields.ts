import type { Static, TSchema } from 'typebox'
import { invalid, MAX_FAULTS, type Fault } from '../errors.ts'
import { MAX_DECIMALS, type Field } from './fields.ts'
import { findFaults, schemaFaults } from './find-faults.ts'
import { isId, isPlainObject, isSame } from './json.ts'
import { Id } from './schema.ts'

export type Fields = Record<string, Field>

/** The published schema of a body, and the fields that are stored. */
export type BodyShape = { schema: TSchema; fields: Fields }

/**
 * Reads the fields that a body holds, as they are stored, and lists all faults of the body. A field that
 * is cleared with `null` has its initial value; an absent or faulty one is absent.
 */
export function readGiven({ schema, fields }: BodyShape, body: unknown) {
  const faults = findFaults(schema, body)
  const given: Record<string, unknown> = {}
  // With MAX_FAULTS faults the rest of the body was not checked.
  if (!isPlainObject(body) || faults.length >= MAX_FAULTS) return { given, faults }
  const faulty = new Set(faults.map(({ pointer }) => pointer.split('/')[1]))
  for (const property in fields) {
    const value = Object.hasOwn(body, property) ? body[property] : undefined
    if (value === undefined || faulty.has(property) || fields[property]!.isServerOwned) continue
    given[property] = toStored(value, fields[property]!)
  }
  return { given, faults }
}

/**
 * Reads a body and completes it. With `current` it is an update: absent fields stay unchanged. Without
 * it, required fields must be there, and the others get their initial value.
 */
export function readFields<T extends object>(
  shape: BodyShape,
  body: unknown,
  current?: T,
): { values: T; faults: Fault[] } {
  const { given, faults } = readGiven(shape, body)
  const values: Record<string, unknown> = {}
  for (const [property, field] of Object.entries(shape.fields)) {
    const kept = current ? (current as Record<string, unknown>)[property] : field.initially
    values[property] = property in given ? given[property] : kept
  }
  // The schema may require some of them already.
  const reported = new Set(faults.map(({ pointer }) => pointer))
  const missing = current ? [] : missingFields(shape.fields, body)
  const unreported = missing.filter(({ pointer }) => !reported.has(pointer))
  return { values: values as T, faults: [...unreported, ...faults] }
}

function missingFields(fields: Fields, body: unknown): Fault[] {
  if (!isPlainObject(body)) return []
  const missing = Object.keys(fields).filter(
    (property) => fields[property]!.required && body[property] === undefined,
  )
  return missing.map((property) => ({ pointer: `/${property}`, detail: 'is required' }))
}

/** Whether the values equal the stored ones, so that saving them changes nothing. */
export const isUnchanged = (values: object, stored: object) =>
  Object.entries(values).every(([property, value]) =>
    isSame(value, (stored as Record<string, unknown>)[property]),
  )

/** The id of the object that a body updates; undefined if it creates one. Throws if it is faulty. */
export const readId = (body: unknown, property: string) => readKey(body, property, Id)

/** The same of objects whose id is not a number. */
export function readKey<S extends TSchema>(body: unknown, property: string, schema: S) {
  const value = isPlainObject(body) ? (body[property] ?? undefined) : undefined
  if (value === undefined) return undefined
  const faults = schemaFaults(schema, value)
  if (faults.length === 0) return value as Static<S>
  throw invalid(faults.map(({ detail }) => ({ pointer: `/${property}`, detail })))
}

/** The fault of a body that names another business. */
export function foreignBusiness(body: unknown, businessId: number): Fault[] {
  const given = isPlainObject(body) ? body.businessId : undefined
  return isId(given) && given !== businessId
    ? [{ pointer: '/businessId', detail: 'must be your own business' }]
    : []
}

function toStored(value: unknown, field: Field) {
  if (value === null) return field.initially
  if (field.instant) return Temporal.Instant.fromEpochMilliseconds(value as number)
  if (field.sqlType === 'bigint[]') return [...new Set(value as number[])]
  // Removes the rounding errors of binary fractions.
  if (field.sqlType === 'numeric') return Number((value as number).toFixed(MAX_DECIMALS))
  return value
}
