import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { NO_EXAMPLE } from '../../src/http/server/openapi-examples.ts'
import { noDatabase, startApp } from '../support/app.ts'

const { app } = await startApp({ after }, { database: noDatabase })
const answer = await app.inject('/openapi.json')
/** The description as served, with $refs. `description` has them resolved. */
const served = answer.json()
const description = withoutRefs(served, served) as typeof served

function withoutRefs(value: unknown, { components }: typeof served): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutRefs(item, { components }))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...siblings } = value as { $ref?: string }
  if ($ref !== undefined) {
    const [, , section, name] = $ref.split('/')
    const referred = components[section!]?.[name!]
    assert.ok(referred, $ref)
    return { ...(withoutRefs(referred, { components }) as object), ...siblings }
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withoutRefs(inner, { components })]),
  )
}

type Content = Record<string, { schema: object; example?: unknown }>
type Operation = {
  tags?: string[]
  summary?: string
  operationId?: string
  security?: object[]
  parameters?: { in: string; name: string }[]
  requestBody?: { content: Content; required?: boolean }
  responses: Record<string, { content?: Content }>
}
const operations = Object.entries<Record<string, Operation>>(description.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
)

test('an independent validator accepts the description as OpenAPI 3.1', async () => {
  assert.equal(answer.statusCode, 200)
  assert.match(description.openapi, /^3\.1\./)
  const { valid, errors } = await new Validator().validate(structuredClone(served))
  assert.ok(valid, JSON.stringify(errors, null, 2))
})

test('the description is served compressed, and as 304 to a client that has it', async () => {
  const zipped = await app.inject({
    url: '/openapi.json',
    headers: { 'accept-encoding': 'gzip, br' },
  })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), answer.body)
  assert.match(String(zipped.headers['cache-control']), /max-age=/)
  const etag = String(answer.headers.etag)
  const again = await app.inject({ url: '/openapi.json', headers: { 'if-none-match': etag } })
  assert.deepEqual([again.statusCode, again.body], [304, ''])
})

test('every operation has a unique id, and objects are named schemas', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  const nameless = operations.filter(({ operation }) => operation.operationId === undefined)
  assert.deepEqual(
    nameless.map(({ name }) => name),
    [],
  )
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ['createAppointment', 'listAppointments', 'listEventDefinitions']) {
    assert.ok(ids.includes(id), id)
  }
  for (const name of ['Appointment', 'AppointmentBody', 'EventDefinition', 'Problem']) {
    assert.equal(served.components.schemas[name]?.type, 'object', name)
  }
})

test('every JSON body sets additionalProperties to false', () => {
  const open = operations
    .filter(({ operation }) => operation.requestBody?.content['application/json'])
    .filter(({ operation }) => {
      const { schema } = operation.requestBody!.content['application/json']!
      return (schema as { additionalProperties?: boolean }).additionalProperties !== false
    })
    .map(({ name }) => name)
  assert.deepEqual(open, [])
})

test('the description contains exactly the routes of the routing table', () => {
  // Pages and their files are not part of the API.
  const pages = /^\/$|^\/(console|docs)($|\/)/
  const routes = [...app.methodsByPath]
    .filter(([path]) => !pages.test(path))
    .flatMap(([path, methods]) =>
      [...methods]
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    )
  assert.deepEqual(operations.map(({ name }) => name).toSorted(), routes.toSorted())
})

test('every operation has a summary, a tag and an answer', () => {
  const wrong = operations
    .filter(({ operation: { tags, summary, responses } }) => {
      if (!/^[A-Z]/.test(tags?.[0] ?? '') || !/^(?!List:)[A-Z]/.test(summary ?? '')) return true
      const answers = Object.keys(responses).filter((status) => /^[23]/.test(status))
      return !tags?.length || !summary || answers.length === 0
    })
    .map(({ name }) => name)
  assert.deepEqual(wrong, [])
})

test('every body and every answer has an example that fits its own schema', () => {
  const wrong: string[] = []
  for (const { name, operation } of operations) {
    const { requestBody, responses } = operation
    const parts = { body: requestBody, ...responses }
    for (const [part, described] of Object.entries(parts)) {
      const json = described?.content?.['application/json']
      if (!json) continue
      const { examples = [] } = json.schema as { examples?: unknown[] }
      const all = json.example === undefined ? examples : [json.example, ...examples]
      if (all.length === 0) wrong.push(`${name} ${part}: no example`)
      const validator = Compile(json.schema as never)
      for (const example of all) {
        if (validator.Check(example)) continue
        const faults = validator.Errors(example).map((e) => `${e.instancePath} ${e.message}`)
        wrong.push(`${name} ${part}: ${faults.join('; ')}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

const takes = (operation: Operation, header: string) =>
  operation.parameters?.some((one) => one.in === 'header' && one.name === header) ?? false

test('every POST that writes takes an Idempotency-Key', () => {
  const missing = operations
    .filter(({ name }) => name.startsWith('POST ') && !NOT_REPEATED.has(name))
    .filter(({ operation }) => !takes(operation, 'Idempotency-Key'))
    .map(({ name }) => name)
  assert.deepEqual(missing, [])
})

/** These only read, are public, concern a password or a session, or erase, which can be repeated. */
const NOT_REPEATED = new Set([
  'POST /user/language',
  'POST /user/password',
  'POST /session',
  ...[
    'eventDefinition',
    'calendar',
    'classSchedule',
    'invitation',
    'recall',
    'disclaimer',
    'client',
    'location',
    'invitationCampaign',
    'emailTemplate',
    'status',
    'business',
  ].map((kind) => `POST /${kind}/plan`),
  'POST /user/password/forgotten',
  'POST /user/password/link',
  'POST /user/password/set',
  'POST /eventDefinition/backtest',
  'POST /emailTemplate/{emailTemplateId}/preview',
  'POST /emailTemplate/{emailTemplateId}/check',
  'POST /unsubscribe/{token}',
  'POST /feed/hook/{token}',
  'POST /report/stop/{token}',
  'POST /mail/retry',
  'POST /tag/plan',
  'POST /client/{clientId}/erase',
  'POST /business/{businessId}/erase',
  'POST /answer/{token}',
  'POST /feed/test',
  'POST /feed/{feedId}/dryRun',
  'POST /feed/{feedId}/pull',
  'POST /feed/{feedId}/reconcile',
])

test('every GET of an object by id has an ETag, and its POST takes If-Match', () => {
  const isOneObject = ({ responses }: Operation) => {
    const schema = responses['200']?.content?.['application/json']?.schema as
      | { properties?: Record<string, unknown> }
      | undefined
    return schema?.properties?.modifiedDate !== undefined
  }
  const missing = operations
    .filter(({ operation }) => isOneObject(operation))
    // The object that this returns does not contain the password.
    .filter(({ name }) => name !== 'POST /user/password')
    .filter(({ name, operation }) => !name.startsWith('POST') || operation.requestBody)
    .filter(({ name, operation }) => {
      return !takes(operation, name.startsWith('GET') ? 'If-None-Match' : 'If-Match')
    })
    .map(({ name }) => name)
  assert.deepEqual(missing, [])
})

test('only public routes are described as needing no credential', () => {
  const open = operations
    .filter(({ operation }) => operation.security?.length === 0)
    .map(({ name }) => name)
  assert.deepEqual(open.toSorted(), [
    'GET /addToCalendar/{token}',
    'GET /answer/{token}',
    'GET /healthz',
    'GET /openapi.json',
    'GET /problems',
    'GET /problems/{code}',
    'GET /readyz',
    'GET /report/link/{token}',
    'GET /report/stop/{token}',
    'GET /unsubscribe/{token}',
    'POST /answer/{token}',
    'POST /feed/hook/{token}',
    'POST /report/stop/{token}',
    'POST /session',
    'POST /unsubscribe/{token}',
    'POST /user/password/forgotten',
    'POST /user/password/link',
    'POST /user/password/set',
  ])
})

type Schema = {
  $ref?: string
  description?: string
  examples?: unknown[]
  readOnly?: boolean
  enum?: unknown[]
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  items?: Schema
}

/** Every property below a schema, with its path. */
function propertiesOf(schema: Schema, place: string): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const below: [string, Schema][] = propertiesOf(property, `${place}.${name}`)
    return [[`${place}.${name}`, property] as [string, Schema], ...below]
  })
  const others = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]
  return [...own, ...others.flatMap((other) => propertiesOf(other, place))]
}

/** All properties by path: those of named schemas, and those of bodies and answers. */
const properties = new Map([
  ...Object.entries<Schema>(served.components.schemas).flatMap(([name, schema]) =>
    propertiesOf(schema, name),
  ),
  ...Object.entries<Record<string, Operation>>(served.paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((part) =>
        Object.values(part?.content ?? {}).flatMap(({ schema }) => propertiesOf(schema, path)),
      ),
    ),
  ),
])

/** A named schema has its own description and example. */
const isNamed = (schema: Schema): boolean =>
  schema.$ref !== undefined || [...(schema.anyOf ?? []), schema.items ?? {}].some(isNamedInside)
const isNamedInside = (schema: Schema) =>
  schema.$ref !== undefined || (schema.items !== undefined && isNamed(schema))

test('every property and every parameter has a description', () => {
  const wrong = [...properties].filter(
    ([, property]) => !property.description && !isDescribed(property),
  )
  assert.deepEqual(
    wrong.map(([place]) => place),
    [],
  )
  const parameters = operations.flatMap(({ name, operation }) =>
    (operation.parameters ?? [])
      .filter((one) => !(one as { description?: string }).description)
      .map((one) => `${name} ${one.name}`),
  )
  assert.deepEqual(parameters, [])
})

const isDescribed = ({ $ref }: Schema) =>
  served.components.schemas[$ref?.split('/').at(-1) ?? '']?.description !== undefined

test('every property that a caller can send or read has an example that fits it', () => {
  assert.ok(properties.size > 500, 'the properties were not found')
  const wrong = [...properties].filter(([, property]) => {
    if (property.readOnly || property.enum || isNamed(property)) return false
    const { examples = [] } = property
    return examples.length === 0 || !examples.every((one) => Value.Check(property as never, one))
  })
  assert.deepEqual(
    wrong.map(([place, { examples }]) => `${place}: ${JSON.stringify(examples)}`),
    [],
  )
})

test('no example is a placeholder, and every description is a sentence about the property', () => {
  assert.doesNotMatch(JSON.stringify(served), new RegExp(`"examples?":\\[?"${NO_EXAMPLE}"`))
  const wrong = [...properties].flatMap(([place, { description: text = '', examples = [] }]) => {
    const isSentence = text === '' || /^[^a-z].*[.?!)]$/s.test(text)
    const isAboutUnit = text.startsWith('Milliseconds') || text.startsWith('Required to create one')
    const isPlaceholder = JSON.stringify(examples).includes(`"${NO_EXAMPLE}"`)
    return isSentence && !isAboutUnit && !isPlaceholder ? [] : `${place}: ${text}`
  })
  assert.deepEqual(wrong, [])
})

test('the description of a POST names what is required to create an object', () => {
  const { description: text } = served.paths['/calendar'].post
  assert.match(text, /Required to create one: `clientId`, `professionalId`, .*`endTime`\./)
})

test('a body that can be left out is not declared as required', () => {
  const optional = operations
    .filter(({ operation }) => operation.requestBody?.required === false)
    .map(({ name }) => name)
  assert.ok(optional.includes('POST /report/print/file'), optional.join())
  assert.ok(!optional.includes('POST /calendar'))
  for (const { operation } of operations) assert.ok(!('x-optional-body' in operation))
})

test('answers declare their headers, errors and streams', () => {
  const answerOf = (name: string, status: string) => {
    const { operation } = operations.find((one) => one.name === name)!
    return Object.keys(
      (operation.responses[status] as { headers?: object } | undefined)?.headers ?? {},
    )
  }
  assert.deepEqual(answerOf('POST /calendar', '201'), [
    'ETag',
    'Location',
    'RateLimit',
    'RateLimit-Policy',
  ])
  assert.ok(answerOf('GET /emails/client/{clientId}', '200').includes('Link'))
  assert.ok(answerOf('POST /session', '201').includes('Set-Cookie'))
  for (const { name, operation } of operations) {
    assert.ok(answerOf(name, '4XX').includes('Retry-After'), name)
    for (const status of ['4XX', '5XX']) {
      assert.ok(answerOf(name, status).includes('X-Request-Id'), name)
      assert.ok(operation.responses[status]?.content?.['application/problem+json'], name)
    }
  }
  const { operation } = operations.find(({ name }) => name === 'POST /import')!
  assert.deepEqual(Object.keys(operation.requestBody!.content), ['application/x-ndjson'])
})

test('every GET that compares If-None-Match declares 304 with an ETag and without a body', () => {
  const conditional = operations.filter(({ operation }) => takes(operation, 'If-None-Match'))
  assert.ok(conditional.some(({ name }) => name === 'GET /openapi.json'))
  const wrong = conditional.filter(({ operation }) => {
    const { content, headers } = (operation.responses['304'] ?? {}) as {
      content?: Content
      headers?: Record<string, object>
    }
    return content !== undefined || headers?.ETag === undefined
  })
  assert.deepEqual(
    wrong.map(({ name }) => name),
    [],
  )
})

test('files are declared with the media types that they are sent with', () => {
  const typesOf = (name: string) => {
    const { operation } = operations.find((one) => one.name === name)!
    return Object.keys(operation.responses['200']!.content!)
  }
  const ofLibrary = typesOf('GET /fileLibrary/{fileUUId}/content')
  assert.deepEqual(
    ['application/pdf', 'image/png', 'text/calendar'].filter((type) => !ofLibrary.includes(type)),
    [],
  )
  const printed = typesOf('POST /report/print/file')
  assert.deepEqual(typesOf('GET /report/run/{runId}/file'), printed)
  assert.deepEqual(typesOf('GET /report/link/{token}'), printed)
  assert.ok(!ofLibrary.includes('application/octet-stream'))
})

test('no example of a request has a property that is ignored', () => {
  const wrong = operations.flatMap(({ name, operation }) =>
    Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema, example }) =>
      [...examplesOf(schema), example].flatMap((one) => ignoredIn(schema, one, name)),
    ),
  )
  assert.deepEqual(wrong, [])
})

const examplesOf = (schema: Schema) => schema.examples ?? []

/** The read-only properties in a value and in the examples of the properties, with their places. */
function ignoredIn(schema: Schema, value: unknown, place: string): string[] {
  if (Array.isArray(value)) {
    return schema.items ? value.flatMap((item) => ignoredIn(schema.items!, item, place)) : []
  }
  const inAny = (schema.anyOf ?? []).flatMap((one) => ignoredIn(one, value, place))
  const inProperties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = (value as Record<string, unknown> | null | undefined)?.[name]
    if (inner !== undefined && property.readOnly) return [`${place}.${name}`]
    return [inner, ...examplesOf(property)].flatMap((one) =>
      ignoredIn(property, one, `${place}.${name}`),
    )
  })
  return [...inAny, ...inProperties]
}

test('the tags of the operations are declared, each with a description', () => {
  const declared = served.tags as { name: string; description?: string }[]
  const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []))
  assert.deepEqual(declared.map(({ name }) => name).toSorted(), [...used].toSorted())
  assert.ok(declared.every(({ description: about = '' }) => /^[A-Z].*\.$/.test(about)))
})

test('fields that choose the variant of a template are not called unused', () => {
  for (const name of ['EmailTemplate', 'EmailTemplateBody', 'SavedEmailTemplate']) {
    for (const property of ['level', 'location', 'sortOrder', 'reasonIdList', 'language']) {
      const { description: about } = served.components.schemas[name].properties[property]
      assert.doesNotMatch(about, /not used/, `${name}.${property}`)
    }
  }
})
