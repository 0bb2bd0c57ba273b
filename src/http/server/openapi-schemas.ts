import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import { MOMENT_UNIT } from '../../contract/schema.ts'
import { COMMON_NAMES, exampleOf } from './openapi-examples.ts'
import { addAnswerHeaders, ANSWER_HEADERS } from './openapi-headers.ts'

type Json = Record<string, unknown>

/** Marks an operation that can be called without a body. The generator declares every body as required. */
export const OPTIONAL_BODY = 'x-optional-body'

/**
 * Moves every schema with a `title` to `components`, so that generated clients have one named type
 * for it. Two schemas with the same title must be equal, except for descriptions and examples.
 */
export function moveSchemasToComponents(document: object) {
  const { paths, components } = document as { paths?: Json; components?: Json }
  const schemas: Record<string, Json> = {}
  returnExamples(paths)
  const moved = replaceByReferences(paths, schemas)
  for (const schema of Object.values(schemas)) completeProperties(schema)
  for (const schema of Object.values(schemas)) {
    if (schema.properties) schema.examples ??= [exampleOf(withoutReferences(schema, schemas))]
  }
  completePaths(moved as Paths)
  const sorted = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...document,
    paths: moved,
    components: {
      ...components,
      headers: ANSWER_HEADERS,
      schemas: Object.fromEntries(sorted),
    },
  }
}

/** The generator moves the example of a schema to its media type. The properties need it in the schema. */
function returnExamples(value: unknown) {
  if (typeof value !== 'object' || value === null) return
  const { schema, example } = value as { schema?: Json; example?: unknown }
  if (schema?.title && example !== undefined) schema.examples ??= [example]
  for (const [key, inner] of Object.entries(value)) if (key !== 'examples') returnExamples(inner)
}

function replaceByReferences(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceByReferences(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const copy: Json = {}
  for (const [key, inner] of Object.entries(value)) {
    // Examples are data: a `title` in them does not name a schema.
    const isExample = key === 'examples' || key === 'example'
    copy[key] = isExample ? inner : replaceByReferences(inner, schemas)
  }
  if (typeof copy.title !== 'string' || !(copy.type === 'object' || copy.enum)) return copy
  const { title, description, default: initially, ...rest } = copy
  const known = schemas[title]
  if (known && !isDeepStrictEqual(shapeOf(known), shapeOf(rest))) {
    throw new Error(`two different schemas of the API description have the title ${title}`)
  }
  if (!known?.examples) schemas[title] = { title, ...rest, ...(copy.enum ? {} : { description }) }
  // A description that differs from that of the schema stays with the reference.
  return {
    $ref: `#/components/schemas/${title}`,
    ...(description === schemas[title]!.description ? {} : { description }),
    ...(initially === undefined ? {} : { default: initially }),
  }
}

const shapeOf = ({ title: _title, description: _about, examples: _examples, ...shape }: Json) =>
  shape

type Property = Json & {
  description?: string
  examples?: unknown[]
  anyOf?: Property[]
  items?: Property
  properties?: Record<string, Property>
}

/** Adds the description and an example to every property that has none of its own. */
function completeProperties(schema: Property, parentExample?: unknown) {
  const example = (schema.examples?.[0] ?? parentExample ?? {}) as Json
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const description = COMMON_NAMES[name]?.description
    const own =
      property.description ?? property.anyOf?.find((each) => each.description)?.description
    const text = own === MOMENT_UNIT ? (description ?? own) : (own ?? description)
    if (text !== undefined) property.description = text
    if (!refersToSchema(property) && !property.examples && !property.readOnly) {
      property.examples = [example[name] ?? exampleOf(property as TSchema, name)]
    }
    completeInner(property, example[name])
  }
}

/** A named schema has an example of its own. */
const refersToSchema = ({ $ref, items, anyOf = [] }: Property): boolean =>
  $ref !== undefined ||
  [items ?? {}, ...anyOf].some(
    (inner) => '$ref' in inner || ('items' in inner && refersToSchema(inner)),
  )

function withoutReferences(value: unknown, schemas: Record<string, Json>): TSchema {
  const resolve = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(resolve)
    if (typeof inner !== 'object' || inner === null) return inner
    const { $ref } = inner as { $ref?: string }
    if ($ref) return resolve(schemas[$ref.replace('#/components/schemas/', '')])
    return Object.fromEntries(
      Object.entries(inner).map(([key, each]) => [key, key === 'examples' ? each : resolve(each)]),
    )
  }
  return resolve(value) as TSchema
}

function completeInner(schema: Property, example: unknown) {
  if (schema.properties) completeProperties(schema, example)
  for (const each of schema.anyOf ?? []) completeInner(each, example)
  if (schema.items) completeInner(schema.items, Array.isArray(example) ? example[0] : {})
}

type Content = Record<string, { schema?: Property }>
type Paths = Record<
  string,
  Record<
    string,
    {
      operationId?: string
      parameters?: { in: string; name: string; description?: string }[]
      requestBody?: { content?: Content; required?: boolean }
      [OPTIONAL_BODY]?: true
      responses?: Record<string, { content?: Content; headers?: Json }>
    }
  >
>

function completePaths(paths: Paths) {
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { parameters = [], requestBody, responses = {} } = operation
    addAnswerHeaders(operation)
    if (requestBody && operation[OPTIONAL_BODY]) requestBody.required = false
    delete operation[OPTIONAL_BODY]
    for (const parameter of parameters) {
      const text = parameter.description ?? COMMON_NAMES[parameter.name]?.description
      if (text !== undefined) parameter.description = text
    }
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      if (schema) completeInner(schema, schema.examples?.[0])
    }
    for (const { schema } of Object.values(responses).flatMap(({ content = {} }) =>
      Object.values(content),
    )) {
      if (schema) completeInner(schema, schema.examples?.[0])
    }
  }
}
