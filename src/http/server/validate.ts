import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import { escapePointer } from '../../contract/json.ts'
import { unknownParameters, unknownProperties } from '../../contract/unknown-properties.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'

/** A limit on the length of the answer and on the time to make it. */
export const MAX_FAULTS = 100

/** Bodies are not coerced. Queries and paths are text, so their numbers are parsed first. */
export function validateRequests(app: FastifyInstance) {
  Settings.Set({ maxErrors: MAX_FAULTS })
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    // Compiled at the first request: compiling the schemas of all routes would slow down the start.
    let validator: ReturnType<typeof Compile> | undefined
    const faultsOf = (value: unknown, at: (pointer: string) => string) => {
      validator ??= Compile(limitIntegers(schema))
      return validator.Check(value) ? [] : toFaults(validator.Errors(value), schema, at)
    }

    if (httpPart === 'body') {
      return (value: unknown) =>
        answer(
          value,
          [...faultsOf(value, (pointer) => pointer), ...unknownProperties(schema, value)],
          invalid,
        )
    }
    return (text: unknown) => {
      const value = parseValues(schema, text as Record<string, unknown>)
      const nul = Object.keys(value).find((name) => holdsNul(value[name]))
      if (nul) return { error: refuseNul(httpPart, nul) }
      // An id of the wrong form does not exist: 404, not 422.
      if (httpPart === 'params')
        return answer(
          value,
          faultsOf(value, (pointer) => pointer),
          (faults) => nothingHere(faults, schema),
        )
      const isQuery = httpPart === 'querystring'
      const prefix = isQuery ? '?' : ''
      const faults = faultsOf(value, (pointer) => prefix + pointer.slice(1))
      if (isQuery) faults.push(...unknownParameters(schema, text as object))
      return answer(value, faults, invalid)
    }
  })

  app.addHook('preValidation', async (request) => {
    const { schema, config } = request.routeOptions
    // Mail programs and caches add parameters to links to public pages and files.
    if (!schema?.querystring && !config.open) {
      const faults = unknownParameters(undefined, request.query as object)
      if (faults.length > 0) throw invalid(faults)
    }
    if (schema?.body && request.body === undefined && !config.emptyBody) {
      throw new RequestError(400, 'The body is empty. Send a JSON body.')
    }
  })
}

const answer = (value: unknown, faults: Fault[], refuse: (faults: Fault[]) => RequestError) =>
  faults.length === 0 ? { value } : { error: refuse(faults) }

function nothingHere(faults: Fault[] = [], schema?: TSchema) {
  const name = faults[0]?.pointer.slice(1) ?? ''
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, TSchema> }
  const { type } = (properties[name] ?? {}) as { type?: string }
  return new RequestError(
    404,
    type === 'integer'
      ? `There is nothing at this address: ${name} is not a whole number above 0.`
      : 'There is nothing at this address.',
  )
}

/** PostgreSQL refuses NUL characters in text. */
const holdsNul = (value: unknown) =>
  [value].flat().some((one) => typeof one === 'string' && one.includes('\0'))

const refuseNul = (httpPart: string | undefined, name: string) =>
  httpPart === 'params'
    ? nothingHere()
    : invalid([{ pointer: `?${name}`, detail: 'holds a NUL character' }])

/** Parses the numbers and booleans of a query. A value that cannot be parsed stays text, which is a fault. */
function parseValues(schema: TSchema, text: Record<string, unknown>) {
  const properties = (schema as { properties?: Record<string, TSchema> }).properties ?? {}
  const value: Record<string, unknown> = { ...text }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) value[name] = parseValue(property, value[name])
    else if ('default' in property) value[name] = property.default
  }
  return value
}

function parseValue(schema: TSchema, text: unknown): unknown {
  const { type, items, anyOf } = schema as { type?: string; items?: TSchema; anyOf?: TSchema[] }
  if (type === 'array') return [text].flat().map((one) => (items ? parseValue(items, one) : one))
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text)
  if (type === 'number' && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  for (const choice of anyOf ?? []) {
    const value = parseValue(choice, text)
    if (typeof value !== 'string') return value
  }
  return text
}

/** Limits integers to those that JavaScript represents exactly. */
function limitIntegers<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(limitIntegers) as T
  // TypeBox stores the kind of a schema in a property that is not enumerable.
  const copy = Object.create(null, Object.getOwnPropertyDescriptors(schema))
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value === 'object' && key !== 'enum' && key !== 'default' && key !== 'examples') {
      copy[key] = limitIntegers(value)
    }
  }
  if (copy.type === 'integer') {
    copy.minimum ??= Number.MIN_SAFE_INTEGER
    copy.maximum ??= Number.MAX_SAFE_INTEGER
  }
  return copy
}

type Found = TLocalizedValidationError

function toFaults(errors: Found[], schema: TSchema, at: (pointer: string) => string): Fault[] {
  const faults = simplifyAnyOfErrors(errors, schema).flatMap((error): Fault[] => {
    if (error.keyword !== 'required') {
      return [{ pointer: at(error.instancePath), detail: detailOf(error) }]
    }
    return error.params.requiredProperties.map((name) => ({
      pointer: at(`${error.instancePath}/${escapePointer(name)}`),
      detail: 'is required',
    }))
  })
  return faults.slice(0, MAX_FAULTS)
}

/**
 * TypeBox reports a value that fits no branch of `anyOf` once for each branch. Keeps only the errors of
 * the branch that the value was meant for, or one error that lists the branches.
 */
function simplifyAnyOfErrors(errors: Found[], schema: TSchema): Found[] {
  const kept: Found[] = []
  for (const error of errors) {
    if (error.keyword !== 'anyOf') {
      kept.push(error)
      continue
    }
    const isOfChoice = (other: Found) => other.schemaPath.startsWith(`${error.schemaPath}/anyOf/`)
    const inside = kept.filter(
      (other) =>
        isOfChoice(other) && (other.instancePath !== error.instancePath || hasRightType(other)),
    )
    const outside = kept.filter((other) => !isOfChoice(other))
    kept.length = 0
    kept.push(...outside)
    if (inside.length > 0) kept.push(...inside)
    else kept.push({ ...error, message: `must be ${choicesAt(schema, error.schemaPath)}` })
  }
  return kept
}

/** The value has the type of the branch, but another fault, such as a text that is too long. */
const hasRightType = (error: Found) =>
  !['type', 'const', 'enum', 'anyOf', 'not'].includes(error.keyword)

function choicesAt(schema: TSchema, schemaPath: string) {
  let at: unknown = schema
  for (const step of schemaPath.split('/').slice(1)) {
    at = (at as Record<string, unknown> | undefined)?.[
      step.replaceAll('~1', '/').replaceAll('~0', '~')
    ]
  }
  const choices = (at as { anyOf?: Choice[] } | undefined)?.anyOf ?? []
  return choices.map(describeChoice).join(' or ') || 'one of the allowed values'
}

type Choice = { type?: string; const?: unknown; enum?: unknown[] }

const describeChoice = (choice: Choice) => {
  if (choice.const !== undefined) return JSON.stringify(choice.const)
  if (choice.enum) return choice.enum.map((value) => JSON.stringify(value)).join(' or ')
  return choice.type ?? 'another value'
}

function detailOf(error: Found): string {
  if (error.keyword === 'enum' && error.params.allowedValues.length <= 20) {
    return `must be one of ${error.params.allowedValues.map(String).join(', ')}`
  }
  return error.message
}
