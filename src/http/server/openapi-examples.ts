import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { textOf } from './openapi-properties.ts'

type Shape = {
  title?: string
  type?: string
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
  allOf?: Shape[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  minimum?: number
}

/** A value that the schema describes; its own example if it has one. */
export function exampleOf(schema: TSchema, name = '', title = ''): unknown {
  const shape = schema as Shape
  if (shape.examples?.length) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.default !== undefined) return shape.default
  if (shape.enum?.length) return shape.enum[0]
  const [, known] = textOf(title, name)
  if (known !== undefined && Value.Check(schema, known)) return known
  if (shape.anyOf?.length) return exampleOf(shape.anyOf[0] as TSchema, name, title)
  if (shape.allOf)
    return Object.assign({}, ...shape.allOf.map((part) => exampleOf(part as TSchema)))
  if (shape.type === 'array')
    return shape.items ? [exampleOf(shape.items as TSchema, name, title)] : []
  if (shape.type === 'boolean') return true
  if (shape.type === 'integer' || shape.type === 'number') {
    return /(Time|Date|^time|^from|^to)$/.test(name) ? 1_772_442_000_000 : (shape.minimum ?? 1)
  }
  if (shape.type === 'null') return null
  if (shape.type === 'string') return NO_EXAMPLE
  const properties = Object.entries(shape.properties ?? {})
  return Object.fromEntries(
    properties.map(([key, inner]) => [key, exampleOf(inner as TSchema, key, shape.title ?? title)]),
  )
}

/** A property with this example needs a text in openapi-properties.ts. */
export const NO_EXAMPLE = 'text'
