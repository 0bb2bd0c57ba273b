import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import texts from '../../texts/api/en.json' with { type: 'json' }

type Shape = {
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
  readOnly?: boolean
}

/**
 * Descriptions and examples of the names that mean the same in several schemas and parameters. What the
 * schema of a property says itself has precedence.
 */
export const COMMON_NAMES: Partial<Record<string, { description: string; example?: unknown }>> =
  texts.names

/** A value that the schema describes; its own example if it has one. */
export function exampleOf(schema: TSchema, name = ''): unknown {
  const shape = schema as Shape
  const described = [shape, ...(shape.anyOf ?? [])].find(({ examples }) => examples?.length)
  if (described) return described.examples![0]
  if (shape.const !== undefined) return shape.const
  if (shape.default !== undefined) return shape.default
  if (shape.enum?.length) return shape.enum[0]
  const known = COMMON_NAMES[name]?.example
  if (known !== undefined && Value.Check(schema, known)) return known
  if (shape.anyOf?.length) return exampleOf(shape.anyOf[0] as TSchema, name)
  if (shape.allOf)
    return Object.assign({}, ...shape.allOf.map((part) => exampleOf(part as TSchema)))
  if (shape.type === 'array') return shape.items ? [exampleOf(shape.items as TSchema, name)] : []
  if (shape.type === 'boolean') return true
  if (shape.type === 'integer' || shape.type === 'number') {
    return /(Time|Date|^time|^from|^to)$/.test(name) ? 1_772_442_000_000 : (shape.minimum ?? 1)
  }
  if (shape.type === 'null') return null
  if (shape.type === 'string') return NO_EXAMPLE
  // A request does not send what the service ignores.
  const properties = Object.entries(shape.properties ?? {}).filter(([, { readOnly }]) => !readOnly)
  return Object.fromEntries(
    properties.map(([key, inner]) => [key, exampleOf(inner as TSchema, key)]),
  )
}

/** A property with this example needs one in its schema. */
export const NO_EXAMPLE = 'text'
