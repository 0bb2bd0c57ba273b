type Json = Record<string, unknown>

/**
 * Moves every schema with a `title` to the components of the document, so that generated clients
 * have one named type for it. Two schemas of one title must be the same, but for their examples.
 */
export function nameSchemas(document: Json): Json {
  const schemas: Record<string, Json> = {}
  const paths = moved(document.paths, schemas)
  const { components = {} } = document as { components?: Json }
  return { ...document, paths, components: { ...components, schemas: sorted(schemas) } }
}

function moved(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const inside: Json = {}
  for (const [key, inner] of Object.entries(value)) {
    // Examples are data, in which a title is a property like any other.
    inside[key] = key === 'examples' || key === 'example' ? inner : moved(inner, schemas)
  }
  if (typeof inside.title !== 'string' || inside.type !== 'object') return inside
  const { title } = inside
  const known = schemas[title]
  if (known && text(known) !== text(inside)) {
    throw new Error(`two schemas of the API description are called ${title}`)
  }
  if (!known?.examples) schemas[title] = inside
  return { $ref: `#/components/schemas/${title}` }
}

const text = ({ examples: _examples, ...schema }: Json) => JSON.stringify(schema)

const sorted = (schemas: Record<string, Json>) =>
  Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)))
