import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFull, proofSeed, randomFrom } from '../proofs/random.ts'
import { OPERATOR_KEY } from '../support/callers.ts'
import { findSlowRuns, HOSTILE_UNITS } from '../support/hostile-text.ts'
import { startWorld } from '../support/world.ts'

/*
 * Long runs of every character and pair of separators, through every operation that reads text.
 * `npm test` sends a few of them to each: another part of the runs to the next one.
 * `npm run proof:durations` sends all of them to all.
 */

const RUNS_OF_EACH = isFull ? HOSTILE_UNITS.length : 3

/** Quadratic time for this many characters is a quarter of a second. */
const LENGTH = 16_384
/** A URL must fit into the headers. */
const LENGTH_IN_URL = 1_024

type Schema = {
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  $ref?: string
}
type Operation = {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  parameters: { in: string; name: string; schema: Schema }[]
  content: Record<string, { schema?: Schema }>
}

test('no operation takes more than linear time for a long run of any character', async (t) => {
  const { app, key } = await startWorld(t, { ADMIN_API_KEY: OPERATOR_KEY })
  const { paths, components } = (await app.inject('/openapi.json')).json()
  const fill = filler(components.schemas ?? {})
  const operations = listOperations(paths).filter(readsText)
  assert.ok(operations.length > 80, `${operations.length} operations`)
  // `PROOF_SEED` begins elsewhere, so that other runs reach each operation.
  let next = randomFrom(proofSeed(t)).below(HOSTILE_UNITS.length)
  const takeRuns = () =>
    Array.from({ length: RUNS_OF_EACH }, () => HOSTILE_UNITS[next++ % HOSTILE_UNITS.length]!)

  for (const { name, method, path, parameters, content } of operations) {
    const inQuery = parameters.filter((parameter) => parameter.in === 'query')
    const send = async (type: string | undefined, payload: string | undefined, text = '') => {
      const query = inQuery
        .map(
          (one) => `${one.name}=${encodeURIComponent(text.slice(0, LENGTH_IN_URL).toWellFormed())}`,
        )
        .join('&')
      const url = `${path.replace(/\{\w+\}/g, '1')}?${text && query}`
      for (const credential of [key, OPERATOR_KEY]) {
        const headers = {
          authorization: `Bearer ${credential}`,
          ...(type && { 'content-type': type }),
        }
        const { statusCode, body } = await app.inject({
          method,
          url,
          headers,
          ...(payload !== undefined && { payload }),
        })
        assert.ok(statusCode < 500, `${name} with ${JSON.stringify(text.slice(0, 20))}: ${body}`)
        if (statusCode !== 403) return
      }
    }
    const readers = [
      ...(inQuery.length > 0 ? [(text: string) => send(undefined, undefined, text)] : []),
      ...Object.entries(content).flatMap(([type, { schema = {} }]) => [
        (text: string) => send(type, text),
        ...(type === 'application/json'
          ? [(text: string) => send(type, JSON.stringify(fill(schema, text)))]
          : []),
      ]),
    ]
    for (const read of readers) {
      const slow = await findSlowRuns(read, () => LENGTH, takeRuns())
      assert.deepEqual(slow, [], name)
    }
  }
})

function listOperations(paths: Record<string, Record<string, Record<string, unknown>>>) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      const { parameters = [], requestBody } = described as {
        parameters?: Operation['parameters']
        requestBody?: { content: Operation['content'] }
      }
      const name = `${method.toUpperCase()} ${path}`
      const content = requestBody?.content ?? {}
      return { name, method: method.toUpperCase() as 'GET', path, parameters, content }
    }),
  )
}

/** The stream of changes never ends. */
const readsText = ({ name, parameters, content }: Operation) =>
  name !== 'GET /changes' &&
  (Object.keys(content).length > 0 || parameters.some((parameter) => parameter.in === 'query'))

/** Makes a body in which each text is `text`, also in lists and objects. */
function filler(schemas: Record<string, Schema>) {
  return function fill(schema: Schema, text: string, depth = 0): unknown {
    if (depth > 5) return text
    const named = schema.$ref ? schemas[schema.$ref.split('/').at(-1)!] : undefined
    if (named) return fill(named, text, depth + 1)
    const parts = schema.allOf ?? []
    const properties = Object.assign({}, schema.properties, ...parts.map((one) => one.properties))
    if (Object.keys(properties).length > 0) {
      return Object.fromEntries(
        Object.entries<Schema>(properties).map(([name, of]) => [name, fill(of, text, depth + 1)]),
      )
    }
    if (schema.items) return [fill(schema.items, text, depth + 1)]
    const other = schema.anyOf?.find((one) => one.type !== 'null')
    return other ? fill(other, text, depth + 1) : text
  }
}
