import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { Settings } from 'typebox/system'
import { escapePointer } from '../../contract/json.ts'
import { unknownParameters, unknownProperties } from '../../contract/unknown-properties.ts'
import { invalid, RequestError, type Fault } from '../../errors.ts'

/** More faults than this help nobody, and finding them costs. */
export const MOST_FAULTS = 100

/** Bodies are taken as they are; queries and paths are text, so their numbers are read first. */
export function validateRequests(app: FastifyInstance) {
  Settings.Set({ maxErrors: MOST_FAULTS })
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    // At the first request: compiling those of all routes would hold up every start.
    let validator: ReturnType<typeof Compile> | undefined
    const faultsOf = (value: unknown, at: (pointer: string) => string) => {
      validator ??= Compile(withinRange(schema))
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
      const value = readText(schema, text as Record<string, unknown>)
      const nul = Object.keys(value).find((name) => holdsNul(value[name]))
      if (nul) return { error: refuseNul(httpPart, nul) }
      // An id that cannot be is missing like any other.
      if (httpPart === 'params')
        return answer(
          value,
          faultsOf(value, (pointer) => pointer),
          (faults) => noSuch(faults, schema),
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
    // Links to open pages and files may carry what a mail program or a cache has added.
    if (!schema?.querystring && !config.open) {
      const faults = unknownParameters(undefined, request.query as object)
      if (faults.length > 0) throw invalid(faults)
    }
    if (schema?.body && request.body === undefined && !config.emptyBody) {
      throw new RequestError(400, 'The body is empty; this needs JSON.')
    }
  })
}

const answer = (value: unknown, faults: Fault[], refuse: (faults: Fault[]) => RequestError) =>
  faults.length === 0 ? { value } : { error: refuse(faults) }

/** An id of another form does not exist; the answer says which form it has. */
function noSuch(faults: Fault[] = [], schema?: TSchema) {
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

/** No database keeps one, and no id, day or name has one. */
const holdsNul = (value: unknown) =>
  [value].flat().some((one) => typeof one === 'string' && one.includes('\0'))

const refuseNul = (httpPart: string | undefined, name: string) =>
  httpPart === 'params'
    ? noSuch()
    : invalid([{ pointer: `?${name}`, detail: 'holds a NUL character' }])

/** Reads the numbers and truth values of a query; what cannot be read stays text, and is a fault. */
function readText(schema: TSchema, text: Record<string, unknown>) {
  const properties = (schema as { properties?: Record<string, TSchema> }).properties ?? {}
  const value: Record<string, unknown> = { ...text }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) value[name] = read(property, value[name])
    else if ('default' in property) value[name] = property.default
  }
  return value
}

function read(schema: TSchema, text: unknown): unknown {
  const { type, items, anyOf } = schema as { type?: string; items?: TSchema; anyOf?: TSchema[] }
  if (type === 'array') return [text].flat().map((one) => (items ? read(items, one) : one))
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text)
  if (type === 'number' && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  for (const choice of anyOf ?? []) {
    const value = read(choice, text)
    if (typeof value !== 'string') return value
  }
  return text
}

/** An integer beyond what JavaScript holds exactly is no id, no count and no moment. */
function withinRange<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(withinRange) as T
  // The kind that TypeBox keeps beside the keywords is not enumerable.
  const copy = Object.create(null, Object.getOwnPropertyDescriptors(schema))
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value === 'object' && key !== 'enum' && key !== 'default' && key !== 'examples') {
      copy[key] = withinRange(value)
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
  const faults = withoutRefusedChoices(errors, schema).flatMap((error): Fault[] => {
    if (error.keyword !== 'required') {
      return [{ pointer: at(error.instancePath), detail: detailOf(error) }]
    }
    return error.params.requiredProperties.map((name) => ({
      pointer: at(`${error.instancePath}/${escapePointer(name)}`),
      detail: 'is required',
    }))
  })
  return faults.slice(0, MOST_FAULTS)
}

/**
 * A value that fits none of several choices is one fault, not one for each choice; and where it is
 * a choice's kind of thing with a fault inside, that is the fault.
 */
function withoutRefusedChoices(errors: Found[], schema: TSchema): Found[] {
  const kept: Found[] = []
  for (const error of errors) {
    if (error.keyword !== 'anyOf') {
      kept.push(error)
      continue
    }
    const isOfChoice = (other: Found) => other.schemaPath.startsWith(`${error.schemaPath}/anyOf/`)
    const inside = kept.filter(
      (other) => isOfChoice(other) && (other.instancePath !== error.instancePath || isAbout(other)),
    )
    const outside = kept.filter((other) => !isOfChoice(other))
    kept.length = 0
    kept.push(...outside)
    if (inside.length > 0) kept.push(...inside)
    else kept.push({ ...error, message: `must be ${choicesAt(schema, error.schemaPath)}` })
  }
  return kept
}

/** The right kind of value with a fault of its own, such as a text that is too long. */
const isAbout = (error: Found) => !['type', 'const', 'enum', 'anyOf', 'not'].includes(error.keyword)

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
