import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { MAX_FAULTS, type Fault } from '../errors.ts'
import { escapePointer, isPlainObject } from './json.ts'
import { ruleOf, ruleInWords } from './rules.ts'
import { isLongerThan } from './text.ts'
import { unknownProperties } from './unknown-properties.ts'

/**
 * Checks a body against the schema that the API description publishes, and lists all its faults. Every
 * body of a request and every line of an import is checked here, and nowhere else.
 */
export function findFaults(schema: TSchema, body: unknown): Fault[] {
  const unknown = unknownProperties(schema, body)
  return [...schemaFaults(schema, body, unknown), ...unknown].slice(0, MAX_FAULTS)
}

/** The faults of a value. `unknown`: unknown properties, which the caller has found already. */
export function schemaFaults(schema: TSchema, value: unknown, unknown: Fault[] = []): Fault[] {
  const validator = validatorOf(schema)
  if (!holdsLongList(schema as Shape, value) && validator.Check(value)) return []
  const faults: Fault[] = []
  explain(schema as Shape, value, '', faults)
  if (faults.length > 0 || unknown.length > 0) return faults
  // A keyword that `explain` does not know.
  return validator
    .Errors(value)
    .map(({ instancePath, message }) => ({ pointer: instancePath, detail: message }))
}

/** Found first: the validator would check every entry of a list before it refuses its length. */
function holdsLongList({ anyOf, items, properties, maxItems }: Shape, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (anyOf) return anyOf.some((choice) => holdsLongList(choice, value))
  if (Array.isArray(value)) {
    if (maxItems !== undefined && value.length > maxItems) return true
    const isFlat = !items?.properties && !items?.items && !items?.anyOf
    return !isFlat && value.some((item) => holdsLongList(items, item))
  }
  if (!properties) return false
  return Object.entries(value).some(
    ([name, inner]) => Object.hasOwn(properties, name) && holdsLongList(properties[name]!, inner),
  )
}

type Shape = {
  type?: string
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  anyOf?: Shape[]
  enum?: unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  examples?: unknown[]
}

/** Lists in plain words why a value does not fit its schema. */
function explain(shape: Shape, value: unknown, at: string, faults: Fault[]) {
  if (faults.length >= MAX_FAULTS) return
  const rule = ruleOf(shape)
  if (rule) {
    const found = rule(value)
    for (const fault of found) faults.push({ pointer: at + (fault.at ?? ''), detail: fault.detail })
    // A rule about an object or a list comes in addition to those of its parts.
    const hasParts = typeof value === 'object' && isOfType(shape, value)
    if (found.length === 0 || hasParts) explainType(shape, value, at, faults)
  } else if (shape.anyOf) explainChoice(shape.anyOf, value, at, faults)
  else explainType(shape, value, at, faults)
}

function explainType(shape: Shape, value: unknown, at: string, faults: Fault[]) {
  const detail = ownFault(shape, value)
  if (detail !== undefined) {
    const isBody = at === '' && shape.type === 'object'
    faults.push({
      pointer: at,
      detail: isBody ? 'must be a JSON object' : (ruleInWords(shape) ?? detail),
    })
  } else if (isPlainObject(value)) {
    for (const name of shape.required ?? []) {
      if (Object.hasOwn(value, name)) continue
      faults.push({ pointer: `${at}/${escapePointer(name)}`, detail: 'is required' })
    }
    for (const [name, inner] of Object.entries(shape.properties ?? {})) {
      if (!Object.hasOwn(value, name) || value[name] === undefined) continue
      const pointer = `${at}/${escapePointer(name)}`
      if (value[name] === null && !canBeNull(inner)) faults.push({ pointer, detail: 'is required' })
      else explain(inner, value[name], pointer, faults)
    }
  } else if (Array.isArray(value) && shape.items) {
    for (const [i, item] of value.entries()) explain(shape.items, item, `${at}/${i}`, faults)
  }
}

const canBeNull = ({ type, anyOf, enum: values, const: only }: Shape): boolean =>
  anyOf ? anyOf.some(canBeNull) : type === 'null' || (type ?? values ?? only) === undefined

/** Explains the choice that the value was meant for, or lists the choices. */
function explainChoice(choices: Shape[], value: unknown, at: string, faults: Fault[]) {
  if (value === null && choices.some(({ type }) => type === 'null')) return
  const others = choices.filter(({ type }) => type !== 'null')
  const meant = others.filter((choice) => isOfType(choice, value))
  const one = others.length === 1 ? others[0] : meant.length === 1 ? meant[0] : undefined
  if (one) return explain(one, value, at, faults)
  if (meant.some((choice) => ownFault(choice, value) === undefined)) return
  faults.push({ pointer: at, detail: `must be ${choices.map(describeChoice).join(' or ')}` })
}

const describeChoice = (choice: Shape) => {
  if (choice.const !== undefined) return JSON.stringify(choice.const)
  if (choice.enum) return choice.enum.map((value) => JSON.stringify(value)).join(' or ')
  return nameOfType(choice.type)
}

function isOfType({ type }: Shape, value: unknown) {
  switch (type) {
    case 'object':
      return isPlainObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isSafeInteger(value)
    case 'null':
      return value === null
    default:
      return type === undefined || typeof value === type
  }
}

/** The fault of a value itself, without those of its items and properties. */
function ownFault(shape: Shape, value: unknown): string | undefined {
  if (shape.enum && !shape.enum.includes(value)) return `must be one of ${shape.enum.join(', ')}`
  if (shape.const !== undefined && shape.const !== value) return `must be ${String(shape.const)}`
  if (!isOfType(shape, value)) return `must be ${nameOfType(shape.type)}${suchAs(shape)}`
  if (typeof value === 'string') return stringFault(shape, value)
  if (typeof value === 'number') return numberFault(shape, value)
  return Array.isArray(value) ? listFault(shape, value) : undefined
}

/** Shows a short object, because callers often send the value that belongs inside it. */
function suchAs({ type, examples = [] }: Shape) {
  const example = type === 'object' ? JSON.stringify(examples[0]) : undefined
  return example !== undefined && example.length <= 60 ? `, such as ${example}` : ''
}

const nameOfType = (type: string | undefined) => NAMES[type ?? ''] ?? 'another value'
const NAMES: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
}

function stringFault({ minLength = 0, maxLength, pattern }: Shape, value: string) {
  if (minLength === 1 && value === '') return 'must not be empty'
  if (!isLongerThan(value, minLength - 1)) return `must be at least ${minLength} characters`
  if (maxLength !== undefined && isLongerThan(value, maxLength)) {
    return `must be at most ${maxLength} characters`
  }
  if (pattern === undefined || new RegExp(pattern, 'u').test(value)) return undefined
  return `must match the pattern ${pattern}`
}

function numberFault({ type, minimum, maximum }: Shape, value: number) {
  const isLow = minimum !== undefined && value < minimum
  const isHigh = maximum !== undefined && value > maximum
  if (!isLow && !isHigh) return undefined
  if (minimum === 1 && maximum === undefined && type === 'integer') return 'must be above 0'
  if (minimum === undefined) return `must be at most ${maximum}`
  if (maximum === undefined) return `must be at least ${minimum}`
  return `must be between ${minimum} and ${maximum}`
}

function listFault({ minItems = 0, maxItems }: Shape, value: unknown[]) {
  if (minItems === 1 && value.length === 0) return 'must not be empty'
  if (value.length < minItems) return `must hold at least ${minItems} entries`
  if (maxItems !== undefined && value.length > maxItems) {
    return `must hold at most ${maxItems} entries`
  }
  return undefined
}

/** Compiled on first use: compiling the schemas of all routes would slow down the start. */
const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>()

function validatorOf(schema: TSchema) {
  let validator = validators.get(schema)
  if (!validator) {
    validator = Compile(toChecked(schema))
    validators.set(schema, validator)
  }
  return validator
}

/**
 * The schema for the validator. Integers are limited to those that JavaScript represents exactly. A rule
 * replaces the format, which is less exact.
 */
function toChecked<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(toChecked) as T
  // TypeBox stores the kind and the rules of a schema in properties that are not enumerable.
  const copy = Object.create(null, Object.getOwnPropertyDescriptors(schema))
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value === 'object' && key !== 'enum' && key !== 'default' && key !== 'examples') {
      copy[key] = toChecked(value)
    }
  }
  if (ruleOf(schema)) delete copy.format
  if (copy.type === 'integer') {
    copy.minimum ??= Number.MIN_SAFE_INTEGER
    copy.maximum ??= Number.MAX_SAFE_INTEGER
  }
  return copy
}
