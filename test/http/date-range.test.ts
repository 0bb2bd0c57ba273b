import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlainObject } from '../../src/contract/json.ts'
import { startWithBusiness } from '../support/callers.ts'

type Json = Record<string, unknown>
type Place = { method: 'GET' | 'POST'; path: string; pointer: string; isDay: boolean }

/** Days and times that no appointment has; some databases and calendars cannot represent them. */
const DAYS = ['0001-01-01', '1999-12-31', '2201-01-01', '9999-12-31']
const TIMES = [-62_135_596_800_000, 946_684_799_999, 7_258_118_400_001, 253_402_300_799_999]

test('a day or time outside 2000 to 2200 is refused at every place of the API description', async (t) => {
  const { call, operator } = await startWithBusiness(t)
  const { body: description } = await call('GET', '/openapi.json')
  const places = [...listPlaces(description)]
  const accepted: string[] = []
  for (const { method, path, pointer, isDay } of places) {
    for (const value of isDay ? DAYS : TIMES) {
      const isQuery = pointer.startsWith('?')
      const url = isQuery ? `${path}${pointer}=${value}` : path
      const ask = path.startsWith('/business/') ? operator : call
      const { status, body } = await ask(method, url, isQuery ? undefined : at(pointer, value))
      const isRefused =
        status === 422 && body.errors.some((fault: Json) => fault['pointer'] === pointer)
      if (!isRefused) accepted.push(`${method} ${path} ${pointer} ${value}: ${status}`)
    }
  }
  assert.deepEqual(accepted, [])
  t.diagnostic(`${places.length} places`)
  assert.ok(places.filter(({ isDay }) => isDay).length >= 6)
  assert.ok(places.filter(({ isDay }) => !isDay).length >= 20)
})

/** Every parameter and property of a body that holds a day or a time. */
function* listPlaces(description: Json): Generator<Place> {
  const resolve = (schema: Json): Json => {
    const ref = schema['$ref']
    if (typeof ref !== 'string') return schema
    return ref
      .split('/')
      .slice(1)
      .reduce<Json>((at, name) => at[name] as Json, description)
  }
  for (const [template, operations] of Object.entries(description['paths'] as Json)) {
    const path = template.replaceAll(/\{[^}]+\}/g, '1')
    for (const [method, operation] of Object.entries(operations as Record<string, Json>)) {
      const place = (pointer: string, schema: Json): Place[] => {
        const isDay = formatOf(schema, resolve) === 'date'
        const isTime = /\bms\b|illiseconds/.test(JSON.stringify(schema['description'] ?? ''))
        const kinds = choicesOf(schema, resolve).map(({ type }) => type)
        return isDay || (isTime && kinds.includes('integer'))
          ? [{ method: method === 'get' ? 'GET' : 'POST', path, pointer, isDay }]
          : []
      }
      for (const parameter of (operation['parameters'] ?? []) as Json[]) {
        const { name, schema, in: where, description: text } = resolve(parameter)
        if (where !== 'query') continue
        yield* place(`?${String(name)}`, { description: text, ...(schema as Json) })
      }
      const content = resolve((operation['requestBody'] ?? {}) as Json)['content'] as
        | Json
        | undefined
      const json = content?.['application/json']
      if (isPlainObject(json)) {
        for (const [pointer, schema] of listProperties(json['schema'] as Json, resolve)) {
          yield* place(pointer, schema)
        }
      }
    }
  }
}

type Resolve = (schema: Json) => Json

const choicesOf = (schema: Json, resolve: Resolve): Json[] => {
  const { anyOf, ...own } = resolve(schema)
  return Array.isArray(anyOf) ? anyOf.flatMap((one) => choicesOf(one, resolve)) : [own]
}

const formatOf = (schema: Json, resolve: Resolve) =>
  choicesOf(schema, resolve).find(({ format }) => format !== undefined)?.['format']

function* listProperties(
  schema: Json,
  resolve: Resolve,
  at = '',
): Generator<[pointer: string, schema: Json]> {
  for (const choice of choicesOf(schema, resolve)) {
    if (at.length > 120) return
    if (choice['items']) yield* listProperties(choice['items'] as Json, resolve, `${at}/0`)
    for (const [name, inner] of Object.entries(
      (choice['properties'] ?? {}) as Record<string, Json>,
    )) {
      if (resolve(inner)['readOnly'] || inner['readOnly']) continue
      yield [`${at}/${name}`, inner]
      yield* listProperties(inner, resolve, `${at}/${name}`)
    }
  }
}

/** A body with one value. */
function at(pointer: string, value: unknown): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduceRight<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value)
}
