import type { Fault } from '../errors.ts'
import { type Field } from './fields.ts'
import { isPlainObject } from './json.ts'

export type Fields = Record<string, Field>

/**
 * Reads the properties of a body without coercion and collects all faults. With `current` it is an
 * update: absent properties stay unchanged, `null` clears one.
 */
export function readFields<T extends object>(fields: Fields, body: unknown, current?: T) {
  const values: Record<string, unknown> = {}
  const faults: Fault[] = []
  if (!isPlainObject(body)) faults.push({ pointer: '', detail: 'must be an object' })
  else {
    for (const [property, field] of Object.entries(fields)) {
      const given = Object.hasOwn(body, property) ? body[property] : undefined
      const kept = (current as Record<string, unknown> | undefined)?.[property]
      for (const { at = '', detail } of findFaults(field, given, current !== undefined)) {
        faults.push({ pointer: `/${property}${at}`, detail })
      }
      values[property] = given === undefined && current ? kept : toStored(field, given)
    }
  }
  return { values: values as T, faults }
}

function findFaults(field: Field, given: unknown, isUpdate: boolean) {
  if (given === undefined && isUpdate) return []
  if (given === undefined || given === null) {
    return field.required ? [{ detail: 'is required' }] : []
  }
  return field.faults(given)
}

function toStored(field: Field, given: unknown) {
  if (given === undefined || given === null) return field.initially
  if (field.instant && Number.isSafeInteger(given)) {
    const ms = given as number
    return Math.abs(ms) <= 8.64e15 ? Temporal.Instant.fromEpochMilliseconds(ms) : null
  }
  return given
}
