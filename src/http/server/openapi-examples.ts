import type { TSchema } from 'typebox'

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
}

/** A value that the schema describes; its own example if it has one. */
export function exampleOf(schema: TSchema, name = ''): unknown {
  const shape = schema as Shape
  if (shape.examples?.length) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.default !== undefined) return shape.default
  if (shape.enum?.length) return shape.enum[0]
  if (shape.anyOf?.length) return exampleOf(shape.anyOf[0] as TSchema, name)
  if (shape.allOf)
    return Object.assign({}, ...shape.allOf.map((part) => exampleOf(part as TSchema)))
  if (shape.type === 'array') return shape.items ? [exampleOf(shape.items as TSchema, name)] : []
  if (shape.type === 'boolean') return true
  if (shape.type === 'integer' || shape.type === 'number') {
    return /(Time|Date|^time|^from|^to)$/.test(name) ? 1_772_442_000_000 : (shape.minimum ?? 1)
  }
  if (shape.type === 'null') return null
  if (shape.type === 'string') return exampleText(name)
  const properties = Object.entries(shape.properties ?? {})
  return Object.fromEntries(
    properties.map(([key, inner]) => [key, exampleOf(inner as TSchema, key)]),
  )
}

function exampleText(name: string) {
  const [, text] = TEXTS.find(([pattern]) => pattern.test(name)) ?? []
  return text ?? 'text'
}

const TEXTS: [RegExp, string][] = [
  [/^(startDate|endDate)$/, '2026-03-02'],
  [/timeZone/, 'Europe/Paris'],
  [/address$/i, 'grace@example.com'],
  [/^firstName$/, 'Grace'],
  [/^lastName$/, 'Hopper'],
  [/user/i, 'grace'],
  [/name$/i, 'First visit'],
  [/url$/i, 'https://example.com'],
  [/language/, 'en'],
  [/subject/, 'Your appointment'],
  [/uuid/i, '0123456789abcdef0123456789abcdef'],
]
