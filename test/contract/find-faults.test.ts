import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type, type TSchema } from 'typebox'
import { ApiKeyWrite, UserWrite } from '../../src/contract/credentials.ts'
import { BusinessWrite } from '../../src/contract/business.ts'
import { EventActionBody } from '../../src/contract/event-action.ts'
import { EventDefinitionBody } from '../../src/contract/event-definition.ts'
import { FileWrite } from '../../src/contract/file-library.ts'
import { line, schemaOf } from '../../src/contract/fields.ts'
import { findFaults } from '../../src/contract/find-faults.ts'
import { bodyOf, lineOf } from '../../src/contract/object-body.ts'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { ReportScheduleWrite, ReportViewWrite } from '../../src/contract/report-delivery.ts'
import { withRule } from '../../src/contract/rules.ts'
import { StatusWrite } from '../../src/contract/status.ts'
import { MAX_FAULTS } from '../../src/errors.ts'

const BODIES: [string, TSchema][] = [
  ...OBJECT_KINDS.map((kind): [string, TSchema] => [kind.kind, bodyOf(kind)]),
  ...OBJECT_KINDS.map((kind): [string, TSchema] => [`${kind.kind} line`, lineOf(kind)]),
  ['eventDefinition', EventDefinitionBody],
  ['eventAction', EventActionBody],
  ['business', BusinessWrite],
  ['apiKey', ApiKeyWrite],
  ['user', UserWrite],
  ['status', StatusWrite],
  ['fileLibrary', FileWrite],
  ['reportSchedule', ReportScheduleWrite],
  ['reportView', ReportViewWrite],
]

type Shape = {
  type?: string
  anyOf?: Shape[]
  enum?: unknown[]
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minItems?: number
  maxItems?: number
  items?: Shape
}

/** Values at the limits of a schema, except strings with a pattern or a format. */
function limitsOf(shape: Shape): unknown[] {
  if (shape.anyOf) return shape.anyOf.flatMap(limitsOf)
  if (shape.enum) return shape.enum
  switch (shape.type) {
    case 'null':
      return [null]
    case 'boolean':
      return [true, false]
    case 'integer':
    case 'number':
      return [shape.minimum ?? 1, shape.maximum ?? 2]
    case 'string': {
      // Their examples and descriptions say what is valid.
      const isSpecial = shape.pattern ?? shape.format ?? shape.examples
      const lengths = [Math.max(1, shape.minLength ?? 1), Math.min(shape.maxLength ?? 5, 5_000)]
      return isSpecial ? [] : lengths.map((length) => 'x'.repeat(length))
    }
    case 'array':
      return (shape.minItems ?? 0) === 0 ? [[]] : []
    default:
      return []
  }
}

/** Texts with rules that a schema cannot express. */
const WITH_OTHER_RULES = new Set(['filterTagMapJson', 'timeZone', 'content', 'name'])

test('values at the limits of every published property are accepted', () => {
  const refused: string[] = []
  let tried = 0
  for (const [name, schema] of BODIES) {
    const { properties } = schema as unknown as { properties: Record<string, Shape> }
    for (const [property, shape] of Object.entries(properties)) {
      if (WITH_OTHER_RULES.has(property)) continue
      for (const value of limitsOf(shape)) {
        tried += 1
        const faults = findFaults(schema, { [property]: value }).filter(
          ({ pointer }) => pointer === `/${property}`,
        )
        for (const { detail } of faults) {
          refused.push(`${name}.${property} = ${JSON.stringify(value)?.slice(0, 40)}: ${detail}`)
        }
      }
    }
  }
  assert.deepEqual(refused, [])
  assert.ok(tried > 500, String(tried))
})

test('every published property that is not ignored refuses a value of another type', () => {
  const accepted: string[] = []
  for (const [name, schema] of BODIES) {
    const { properties } = schema as unknown as { properties: Record<string, Shape> }
    for (const [property, shape] of Object.entries(properties)) {
      if (shape.type === undefined && !shape.anyOf && !shape.enum) continue
      // No property accepts lists of lists of lists.
      if (findFaults(schema, { [property]: [[[1]]] }).length === 0) {
        accepted.push(`${name}.${property}`)
      }
    }
  }
  assert.deepEqual(accepted, [])
})

test('faults of rules, types, choices and unknown names are reported at once, in plain words', () => {
  const schema = Type.Object({
    text: schemaOf(line(3)),
    list: Type.Array(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]), { maxItems: 3 }),
    either: Type.Union([Type.Integer(), Type.String()]),
    none: Type.Optional(schemaOf(line(3))),
  })
  const body = { text: 'a\nb', list: [1, null, 0], either: true, none: null, lst: 1 }
  assert.deepEqual(findFaults(schema, body), [
    { pointer: '/text', detail: 'must be one line without control characters' },
    { pointer: '/list/2', detail: 'must be above 0' },
    { pointer: '/either', detail: 'must be an integer or a string' },
    { pointer: '/none', detail: 'is required' },
    { pointer: '/lst', detail: 'unknown property; did you mean list?' },
  ])
  assert.deepEqual(findFaults(schema, { text: 'ab', list: [], either: 'x' }), [])
  const many = { text: 'a', either: 1, list: [1, 2, 3, 4] }
  assert.deepEqual(findFaults(schema, many), [
    { pointer: '/list', detail: 'must hold at most 3 entries' },
  ])
  const long = Type.Object({ ids: Type.Array(Type.Integer()) })
  assert.equal(findFaults(long, { ids: Array.from({ length: 900 }, () => 'x') }).length, MAX_FAULTS)
})

test('no body gets more than 100 faults, whatever finds them', () => {
  const kinds = new Map(OBJECT_KINDS.map((kind) => [kind.kind, bodyOf(kind)]))
  const bodies: [TSchema, object][] = [
    [kinds.get('classSchedule')!, { clientIdList: Array.from({ length: 5_000 }, () => 'x') }],
    [kinds.get('classSchedule')!, { attendance: Array.from({ length: 5_000 }, () => ({})) }],
    [kinds.get('client')!, Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`x${i}`, i]))],
  ]
  for (const [schema, body] of bodies) assert.equal(findFaults(schema, body).length, MAX_FAULTS)
})

test('lengths count characters as the published schema does, also outside the basic plane', () => {
  const schema = Type.Object({
    ruled: schemaOf(line(3)),
    plain: Type.String({ minLength: 2, maxLength: 3 }),
    number: Type.Integer(),
  })
  assert.deepEqual(findFaults(schema, { ruled: '😀😀😀', plain: '😀😀😀', number: 1 }), [])
  assert.deepEqual(findFaults(schema, { ruled: '😀😀😀', plain: '😀😀😀', number: 'x' }), [
    { pointer: '/number', detail: 'must be an integer' },
  ])
  assert.deepEqual(findFaults(schema, { ruled: '😀😀😀😀', plain: '😀', number: 1 }), [
    { pointer: '/ruled', detail: 'must be at most 3 characters' },
    { pointer: '/plain', detail: 'must be at least 2 characters' },
  ])
})

test('null in a list is refused with what to send; names are escaped in pointers', () => {
  assert.deepEqual(findFaults(EventDefinitionBody, { locationIdList: [null], 'a/b~c': 1 }), [
    { pointer: '/locationIdList/0', detail: 'must be an id: an integer above 0' },
    { pointer: '/a~1b~0c', detail: 'unknown property' },
  ])
})

test('a value in place of the object around it is refused with an example', () => {
  assert.deepEqual(findFaults(EventDefinitionBody, { eventType: 'APPT_REMINDER' }), [
    { pointer: '/eventType', detail: 'must be an object, such as {"eventType":"APPT_REMINDER"}' },
  ])
  assert.deepEqual(findFaults(EventActionBody, { recipient: 'client' }), [
    { pointer: '/recipient', detail: 'must be an object, such as {"value":"client"}' },
  ])
})

test('names of prototypes are unknown properties', () => {
  const body: unknown = JSON.parse(
    '{ "__proto__": { "active": true }, "constructor": 1, "toString": 2, "hasOwnProperty": 3 }',
  )
  assert.deepEqual(
    findFaults(EventDefinitionBody, body).map(({ pointer }) => pointer),
    ['/__proto__', '/constructor', '/toString', '/hasOwnProperty'],
  )
})

test('a list that is too long is refused before its entries are checked', () => {
  let checked = 0
  const entry = withRule(Type.Object({ name: Type.Optional(Type.String()) }), () => {
    checked += 1
    return []
  })
  const schema = Type.Object({
    list: Type.Union([Type.Array(entry, { maxItems: 2 }), Type.Null()]),
  })
  const faults = findFaults(schema, { list: [{}, {}, {}], lst: 1 })
  assert.deepEqual(faults, [
    { pointer: '/list', detail: 'must hold at most 2 entries' },
    { pointer: '/lst', detail: 'unknown property; did you mean list?' },
  ])
  assert.equal(checked, 0)
})
