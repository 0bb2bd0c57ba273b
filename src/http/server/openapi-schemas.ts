import { isDeepStrictEqual } from 'node:util'

type Json = Record<string, unknown>

/**
 * Moves every schema with a `title` to `components`, so that generated clients have one named type
 * for it. Two schemas with the same title must be equal, except for descriptions and examples.
 */
export function moveSchemasToComponents(document: object) {
  const { paths, components } = document as { paths?: Json; components?: Json }
  const schemas: Record<string, Json> = {}
  const moved = replaceByReferences(paths, schemas)
  const sorted = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    ...document,
    paths: moved,
    components: { ...components, schemas: Object.fromEntries(sorted) },
  }
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
  // What is said of the property is said where it is used.
  return {
    $ref: `#/components/schemas/${title}`,
    ...(description === schemas[title]!.description ? {} : { description }),
    ...(initially === undefined ? {} : { default: initially }),
  }
}

const shapeOf = ({ title: _title, description: _about, examples: _examples, ...shape }: Json) =>
  shape
