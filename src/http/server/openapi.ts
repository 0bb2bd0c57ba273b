import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { PROBLEMS } from '../../contract/problem-codes.ts'
import { about, Named } from '../../contract/schema.ts'
import { exampleOf } from './openapi-examples.ts'
import { moveSchemasToComponents, OPTIONAL_BODY } from './openapi-schemas.ts'
import { operation, type Routes } from './services.ts'
import texts from '../../texts/api/en.json' with { type: 'json' }
import { VERSION } from '../../version.ts'

/** Everything that a developer needs to get from a key to a sent mail; ids in it are examples. */
export const INTRODUCTION = readFileSync(
  new URL('../../texts/api/introduction.md', import.meta.url),
  'utf8',
).trimEnd()

/** Collects the descriptions of all routes that are registered after it. */
export async function describeRoutes(app: FastifyInstance) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bellwether',
        version: VERSION,
        description: INTRODUCTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(texts.tags).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'The API key of a business, or the operator’s key.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'bellwether_session',
            description: 'The session of the console, from `POST /session`.',
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

/** Serves the API description. It is built at the first request, when all routes are registered. */
export const openapi: Routes = async (app) => {
  let document: ReturnType<typeof buildDocument> | undefined
  app.get(
    '/openapi.json',
    operation('getDescription', 'The OpenAPI description of this service', {
      config: { open: true, unlimited: true },
      tags: ['Operation'],
      headers: Type.Object({ 'If-None-Match': Type.Optional(IfNoneMatch) }),
      response: { 200: Type.Unknown({ description: 'OpenAPI 3.1.' }) },
    }),
    async (request, reply: FastifyReply) => {
      document ??= buildDocument(app)
      const { text, zipped, etag } = await document
      reply
        .type('application/json; charset=utf-8')
        .header('cache-control', 'public, max-age=300')
        .header('etag', etag)
        .header('vary', 'Accept-Encoding, Origin')
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
      const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
      return takesGzip ? reply.header('content-encoding', 'gzip').send(zipped) : reply.send(text)
    },
  )
}

async function buildDocument(app: FastifyInstance) {
  const text = JSON.stringify(moveSchemasToComponents(app.swagger()))
  const zipped = await promisify(gzip)(text)
  return { text, zipped, etag: `"${hash('sha256', text).slice(0, 32)}"` }
}

type Described = {
  hide?: boolean
  summary?: string
  tags?: string[]
  description?: string
  security?: { [scheme: string]: string[] }[]
  headers?: TSchema
  body?: TSchema
  consumes?: string[]
  response?: Record<string, TSchema | MediaTypes>
}

/** An answer that is not JSON, or a problem. */
type MediaTypes = { description?: string; content: Record<string, { schema: TSchema }> }

const Problem = Named(
  'Problem',
  {
    type: Type.String({ description: 'The URL of a page about this kind of problem.' }),
    code: Type.Enum(Object.keys(PROBLEMS), {
      title: 'ProblemCode',
      description: 'Stable: clients may depend on it.',
    }),
    title: about(Type.String(), 'A short title of the kind of problem.'),
    status: about(Type.Integer(), 'The HTTP status.'),
    detail: about(Type.String(), 'What is wrong with this request.'),
    instance: about(Type.String(), 'The path of the request.'),
    errors: about(
      Type.Optional(
        Type.Array(
          Named('Fault', {
            pointer: about(
              Type.String(),
              'A JSON pointer into the body, or `?name` of the query.',
              '/name',
            ),
            detail: about(Type.String(), 'What is wrong there, and what to send.', 'is required'),
          }),
        ),
      ),
      'Every fault of the input.',
    ),
  },
  {
    type: '/problems/invalid-input',
    code: 'invalid-input',
    title: PROBLEMS['invalid-input'].title,
    status: 422,
    detail: '/name: is required',
    instance: '/location',
    errors: [{ pointer: '/name', detail: 'is required' }],
  },
)

/** Adds what all routes have in common: headers, security, examples and the error answer. */
function describe(schema: Described | undefined, route: RouteOptions): Described {
  if (schema?.hide) return schema
  const { config = {} } = route
  const given = schema?.headers as { properties?: Record<string, TSchema> } | undefined
  const headers = {
    ...(config.idempotent ? { 'Idempotency-Key': Type.Optional(IdempotencyKey) } : {}),
    ...(config.etag && route.method === 'GET'
      ? { 'If-None-Match': Type.Optional(IfNoneMatch) }
      : {}),
    ...(config.etag && route.method !== 'GET' ? { 'If-Match': Type.Optional(IfMatch) } : {}),
    ...given?.properties,
  }
  // A stream has no schema of its own, because its lines are read one by one.
  const stream = STREAMS[schema?.consumes?.[0] ?? '']
  return {
    ...schema,
    ...(schema?.tags ? { tags: schema.tags.map(capitalize) } : {}),
    security: config.open ? [] : [{ key: [] }, ...(config.metrics ? [] : [{ session: [] }])],
    ...(schema?.body ? { body: withExample(refuseUnknown(schema.body)) } : {}),
    ...(stream ? { body: stream } : {}),
    ...(config.emptyBody ? { [OPTIONAL_BODY]: true } : {}),
    ...(Object.keys(headers).length > 0 ? { headers: Type.Object(headers) } : {}),
    response: {
      ...withExamples(schema?.response),
      ...('If-None-Match' in headers ? { 304: NotModified } : {}),
      '4XX': {
        description: 'The request is refused.',
        content: { 'application/problem+json': { schema: Problem } },
      },
      '5XX': {
        description: 'The service failed, or is not available; try again.',
        content: { 'application/problem+json': { schema: Problem } },
      },
    },
  }
}

const capitalize = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

const STREAMS: Record<string, TSchema> = {
  'application/x-ndjson': Type.String({
    description: 'One JSON object on each line: the body of its POST, with its `kind`.',
    examples: [
      '{"kind":"client","externalId":"C1","firstName":"Anna","lastName":"Müller"}\n{"kind":"location","externalId":"L1","name":"Seestrasse"}\n',
    ],
  }),
  'text/csv': Type.String({
    description: 'A CSV file. The first row names the columns.',
    examples: ['externalId,firstName,lastName\nC1,Anna,Müller\n'],
  }),
}

/** Unknown properties are refused in every object that names its properties. */
function refuseUnknown(schema: TSchema): TSchema {
  const { properties, items, anyOf, ...rest } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    anyOf?: TSchema[]
    additionalProperties?: unknown
  }
  const inner = Object.entries(properties ?? {}).map(([name, each]) => [name, refuseUnknown(each)])
  return {
    ...rest,
    ...(properties ? { properties: Object.fromEntries(inner) } : {}),
    ...(properties && rest.additionalProperties === undefined
      ? { additionalProperties: false }
      : {}),
    ...(items ? { items: refuseUnknown(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(refuseUnknown) } : {}),
  } as TSchema
}

const IdempotencyKey = Type.String({
  maxLength: 255,
  description:
    'A request with the same key and body within 24 h gets the first answer again; nothing is done twice.',
})

const IfNoneMatch = Type.String({
  description: 'The `ETag` of an earlier answer. The answer is 304 if the object has not changed.',
})

const NotModified = Type.Null({ description: 'The answer is still the one with this `ETag`.' })

const IfMatch = Type.String({
  description:
    'The `ETag` of an earlier answer. The answer is 412 if the object has changed since.',
})

function withExamples(responses: Described['response'] = {}) {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => [
      status,
      isMediaTypes(schema) ? schema : withExample(schema),
    ]),
  )
}

const isMediaTypes = (schema: TSchema | MediaTypes): schema is MediaTypes => 'content' in schema

const withExample = (schema: TSchema): TSchema =>
  'examples' in schema ? schema : Object.assign({}, schema, { examples: [exampleOf(schema)] })
