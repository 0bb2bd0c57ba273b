import type { TSchema } from 'typebox'
import { MAX_FAULTS, type Fault } from '../errors.ts'
import { escapePointer } from './json.ts'
import { UNKNOWN_PARAMETER, UNKNOWN_PROPERTY } from './problem-codes.ts'

/**
 * Finds the properties of a body that its schema does not name, at any depth. An object whose schema
 * names no properties, or allows additional ones, may hold any.
 */
export function unknownProperties(schema: TSchema, body: unknown, pointer = ''): Fault[] {
  const faults: Fault[] = []
  findUnknown(namesOf(schema), body, pointer, faults)
  return faults
}

/** Finds the query parameters that the schema does not name. */
export function unknownParameters(schema: TSchema | undefined, query: object): Fault[] {
  const names = schema ? namesOf(schema) : undefined
  const known = names?.suggested ?? []
  const all = known.length === 0 ? 'this address takes none' : `known are ${known.join(', ')}`
  return Object.keys(query)
    .filter((name) => !names?.properties?.has(name))
    .slice(0, MAX_FAULTS)
    .map((name) => {
      const nearest = nearestName(name, known)
      const hint = nearest === undefined ? all : `did you mean ${nearest}?`
      return { pointer: `?${name}`, detail: `${UNKNOWN_PARAMETER}; ${hint}` }
    })
}

/** The names that an object may have; undefined if any are allowed. */
type Names = {
  properties: Map<string, Names | undefined> | undefined
  items: Names | undefined
  /** The names that a client can usefully send: not those that are accepted and ignored. */
  suggested: string[]
}

type Shape = {
  properties?: Record<string, TSchema>
  additionalProperties?: unknown
  items?: TSchema
  anyOf?: TSchema[]
  readOnly?: boolean
}

function findUnknown(names: Names | undefined, value: unknown, at: string, faults: Fault[]) {
  if (!names || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (!names.items) return
    value.forEach((item, i) => findUnknown(names.items, item, `${at}/${i}`, faults))
    return
  }
  if (!names.properties) return
  for (const [name, inner] of Object.entries(value)) {
    if (faults.length >= MAX_FAULTS) return
    const known = names.properties.get(name)
    if (known) findUnknown(known, inner, `${at}/${escapePointer(name)}`, faults)
    else if (!names.properties.has(name)) {
      const nearest = nearestName(name, names.suggested)
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
      faults.push({ pointer: `${at}/${escapePointer(name)}`, detail: UNKNOWN_PROPERTY + hint })
    }
  }
}

/** Each schema is read once, so that checking a body only looks names up. */
const known = new WeakMap<TSchema, { names: Names | undefined }>()

function namesOf(schema: TSchema): Names | undefined {
  let found = known.get(schema)
  if (!found) {
    found = { names: readNames(schema as Shape) }
    known.set(schema, found)
  }
  return found.names
}

function readNames({ properties, additionalProperties, items, anyOf }: Shape): Names | undefined {
  if (anyOf) return anyOf.map(namesOf).find((names) => names !== undefined)
  if (items) {
    const inner = namesOf(items)
    return inner && { properties: undefined, items: inner, suggested: [] }
  }
  if (!properties || additionalProperties) return undefined
  const entries = Object.entries(properties)
  const isIgnored = (schema: TSchema) => (schema as Shape).readOnly === true
  return {
    properties: new Map(entries.map(([name, schema]) => [name, namesOf(schema)])),
    items: undefined,
    suggested: entries.flatMap(([name, schema]) => (isIgnored(schema) ? [] : [name])),
  }
}

const MAX_NAME = 60

/** The name that was probably meant; undefined if none is similar. */
export function nearestName(name: string, suggested: readonly string[]) {
  if (name.length > MAX_NAME) return undefined
  // Lists of ids are called `locationIdList`.
  const given = name.toLowerCase().replace(/ids$/, 'idlist')
  let nearest: { name: string; distance: number } | undefined
  for (const each of suggested) {
    const distance = distanceTo(given, each.toLowerCase())
    if (distance !== undefined && (!nearest || distance < nearest.distance)) {
      nearest = { name: each, distance }
    }
  }
  return nearest?.name
}

const maxDistance = (name: string) => Math.max(1, Math.floor(name.length / 3))

/** The beginning or end of a name is near: `email` for `emailAddress`. Undefined if it is too far. */
function distanceTo(given: string, name: string) {
  if (given === name) return 0
  if (given.length >= 4 && (name.startsWith(given) || name.endsWith(given))) return 1
  const max = maxDistance(given)
  // Most names differ too much in length: comparing their letters would take most of the time.
  if (Math.abs(given.length - name.length) > max) return undefined
  return editDistance(given, name, max)
}

/** The rows of the table of distances: the one before the last, the last one, and the next one. */
const rows = Array.from({ length: 3 }, () => new Uint8Array(2 * MAX_NAME))

/** Levenshtein distance, with a swap of two neighbours as one edit; undefined if it is above `max`. */
function editDistance(a: string, b: string, max: number) {
  let [beforeLast, last, row] = rows as [Uint8Array, Uint8Array, Uint8Array]
  for (let j = 0; j <= b.length; j += 1) last[j] = j
  let leastBefore = 0
  for (let i = 1; i <= a.length; i += 1) {
    row[0] = i
    let leastOfRow = i
    for (let j = 1; j <= b.length; j += 1) {
      const isEqual = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (isEqual ? 0 : 1))
      const isSwap =
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isSwap) least = Math.min(least, beforeLast[j - 2]! + 1)
      row[j] = least
      leastOfRow = Math.min(leastOfRow, least)
    }
    // No later row is nearer than both of these.
    if (leastOfRow > max && leastBefore > max) return undefined
    leastBefore = leastOfRow
    ;[beforeLast, last, row] = [last, row, beforeLast]
  }
  const distance = last[b.length]!
  return distance <= max ? distance : undefined
}
