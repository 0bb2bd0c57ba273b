import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { PROBLEMS } from '../../contract/problem-codes.ts'
import { moveSchemasToComponents } from './openapi-schemas.ts'
import { exampleOf } from './examples.ts'
import { operationIdOf } from './operation-ids.ts'
import type { Routes } from './services.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string }

/** Gathers the description of every route that is registered after it. */
export async function describeRoutes(app: FastifyInstance) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bellwether',
        version,
        description: INTRODUCTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'A business’s key, or the operator’s.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'bellwether_session',
            description: 'The console’s, from `POST /session`.',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: describe(schema as Described | undefined, route),
      url,
    }),
  })
}

/** Serves the description; made when it is first asked for, when every route is there. */
export const openapi: Routes = async (app) => {
  let made: Promise<{ text: string; zipped: Buffer; etag: string }> | undefined
  app.get(
    '/openapi.json',
    {
      config: { open: true, unlimited: true },
      schema: {
        tags: ['Operation'],
        summary: 'This description',
        response: { 200: Type.Unknown({ description: 'OpenAPI 3.1.' }) },
      },
    },
    async (request, reply) => {
      made ??= makeText(app)
      const { text, zipped, etag } = await made
      reply
        .type('application/json; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .header('etag', etag)
        .header('vary', 'Accept-Encoding')
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304 as never).send()
      const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
      return takesGzip ? reply.header('content-encoding', 'gzip').send(zipped) : reply.send(text)
    },
  )
}

/** 300 KB that are the same until the service is started again. */
async function makeText(app: FastifyInstance) {
  const text = JSON.stringify(moveSchemasToComponents(app.swagger()))
  const zipped = await promisify(gzip)(text)
  return { text, zipped, etag: `"${hash('sha256', text).slice(0, 32)}"` }
}

const INTRODUCTION = `Automatic messages around appointments, and the reports beside them.

Send \`Authorization: Bearer <key>\`. Moments are milliseconds since 1970-01-01 00:00 UTC, days are
\`YYYY-MM-DD\`. Every error is \`application/problem+json\`; what is wrong with an input stands in
\`errors\`, all of it at once, each with a JSON pointer.`

type Described = {
  hide?: boolean
  summary?: string
  tags?: string[]
  description?: string
  security?: { [scheme: string]: string[] }[]
  headers?: TSchema
  body?: TSchema
  response?: Record<string, TSchema>
}

const Problem = Type.Object(
  {
    type: Type.String({ description: 'The page about this kind of problem.' }),
    code: Type.Enum(Object.keys(PROBLEMS), { description: 'Stable; clients may depend on it.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    errors: Type.Optional(
      Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() })),
    ),
  },
  {
    title: 'Problem',
    examples: [
      {
        type: '/problems/invalid-input',
        code: 'invalid-input',
        title: PROBLEMS['invalid-input'].title,
        status: 422,
        detail: '/name: is required',
        instance: '/location',
        errors: [{ pointer: '/name', detail: 'is required' }],
      },
    ],
  },
)

/** What is the same for all routes is said once, here. */
function describe(schema: Described | undefined, route: RouteOptions): Described {
  if (schema?.hide) return schema
  const { config = {} } = route
  const headers = {
    ...(config.idempotent ? { 'Idempotency-Key': Type.Optional(IdempotencyKey) } : {}),
    ...(config.etag && route.method === 'GET' ? { 'If-None-Match': Type.Optional(Seen) } : {}),
    ...(config.etag && route.method !== 'GET' ? { 'If-Match': Type.Optional(Unchanged) } : {}),
  }
  const operationId = operationIdOf(String(route.method), route.url)
  const given = (schema?.headers as { properties?: Record<string, TSchema> } | undefined)
    ?.properties
  return {
    ...schema,
    ...(operationId ? { operationId } : {}),
    summary: schema?.summary ?? summaryOf(route, schema?.tags?.[0] ?? 'object'),
    security: config.open ? [] : [{ key: [] }, ...(config.metrics ? [] : [{ session: [] }])],
    ...(schema?.body ? { body: withExample(closed(schema.body)) } : {}),
    ...(Object.keys({ ...headers, ...given }).length > 0
      ? { headers: Type.Object({ ...headers, ...given }) }
      : {}),
    response: {
      ...withExamples(schema?.response),
      '4XX': {
        description: 'Refused.',
        content: { 'application/problem+json': { schema: Problem } },
      },
    } as never,
  }
}

/** As bodies are read: an object whose properties are named takes no others. */
function closed(schema: TSchema): TSchema {
  const { properties, items, anyOf, ...rest } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
    additionalProperties?: unknown
  }
  const inner = Object.entries(properties ?? {}).map(([name, each]) => [name, closed(each)])
  return {
    ...rest,
    ...(properties ? { properties: Object.fromEntries(inner) } : {}),
    ...(properties && rest.additionalProperties === undefined
      ? { additionalProperties: false }
      : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(closed) } : {}),
  } as TSchema
}

/** The habit that all objects follow; a route that does something else says what. */
function summaryOf({ method, url }: RouteOptions, thing: string) {
  const one = `${/^[aeiou]/i.test(thing) ? 'an' : 'a'} ${thing}`
  const [, , by = '', more] = url.split('/')
  if (method === 'POST') return `Create or change ${one}`
  if (method === 'DELETE') return `Delete ${one}: it stays, inactive`
  if (more !== undefined) return `List: ${thing}, by ${by}`
  return by === '' ? `List: ${thing}` : `Read ${one}`
}

const IdempotencyKey = Type.String({
  maxLength: 255,
  description:
    'The same key and body within 24 h get the first answer again; nothing is done twice.',
})

const Seen = Type.String({
  description: 'The `ETag` that was last seen; 304 where it still is so.',
})

const Unchanged = Type.String({
  description: 'The `ETag` that was last seen; 412 where the object has changed since.',
})

function withExamples(responses: Record<string, TSchema> = {}) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      'content' in schema ? schema : withExample(schema),
    ]),
  )
}

const withExample = (schema: TSchema): TSchema =>
  'examples' in schema ? schema : Object.assign({}, schema, { examples: [exampleOf(schema)] })
