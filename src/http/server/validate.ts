import type { FastifyInstance } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { findFaults, schemaFaults } from '../../contract/find-faults.ts'
import { unknownParameters } from '../../contract/unknown-properties.ts'
import { invalid, MAX_FAULTS, RequestError, type Fault } from '../../errors.ts'

/** Bodies are not coerced. Queries and paths are text, so their numbers are parsed first. */
export function validateRequests(app: FastifyInstance) {
  Settings.Set({ maxErrors: MAX_FAULTS })
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    if (httpPart === 'body') {
      return (value: unknown) => answer(value, findFaults(schema, value), invalid)
    }
    return (text: unknown) => {
      const value = parseValues(schema, text as Record<string, unknown>)
      const nul = Object.keys(value).find((name) => holdsNul(value[name]))
      if (nul) return { error: refuseNul(httpPart, nul) }
      // An id of the wrong form does not exist: 404, not 422.
      if (httpPart === 'params')
        return answer(value, schemaFaults(schema, value), (faults) => nothingHere(faults, schema))
      const isQuery = httpPart === 'querystring'
      const prefix = isQuery ? '?' : ''
      const faults = schemaFaults(schema, value).map(({ pointer, detail }) => ({
        pointer: prefix + pointer.slice(1),
        detail,
      }))
      if (isQuery) faults.push(...unknownParameters(schema, text as object))
      return answer(value, faults, invalid)
    }
  })

  app.addHook('onRoute', (route) => {
    if (!route.config?.readsBody) return
    const validate = app.validatorCompiler!
    route.validatorCompiler = (part) => (part.httpPart === 'body' ? () => true : validate(part))
  })

  app.addHook('preValidation', async (request) => {
    const { schema, config } = request.routeOptions
    // Mail programs and caches add parameters to links to public pages and files.
    const isPublicPage = config.open && !schema?.body
    if (!schema?.querystring && !isPublicPage) {
      const faults = unknownParameters(undefined, request.query as object)
      if (faults.length > 0) throw invalid(faults)
    }
    if (!schema?.body && !config.open && !config.streams && request.body !== undefined) {
      const faults = findFaults(NO_PROPERTIES, request.body)
      if (faults.length > 0) throw invalid(faults)
    }
    if (schema?.body && request.body === undefined && !config.emptyBody) {
      throw new RequestError(400, 'The body is empty. Send a JSON body.')
    }
  })
}

/** The body of a route that takes none. */
const NO_PROPERTIES = Type.Object({})

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
