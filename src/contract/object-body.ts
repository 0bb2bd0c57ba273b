import { Type, type TSchema } from 'typebox'
import type { Fault } from '../errors.ts'
import { bodyProperties as bodyOfFields, orNull, Text, Uuid } from './fields.ts'
import { foreignBusiness, readGiven } from './read-fields.ts'
import { isPlainObject } from './json.ts'
import { ExpandedObject } from './object-names.ts'
import type { ObjectKind } from './objects.ts'
import { Id, Ignored, Maybe, serverOwned, ServerOwned } from './schema.ts'

/** The values of a body. Absent properties are absent; cleared ones are null. */
export type ObjectInput = {
  id: number | string | undefined
  externalId: string | null | undefined
  active: boolean | undefined
  values: Record<string, unknown>
  /** References by `externalId`, under the name of the property for the id. */
  externals?: Record<string, string | string[]>
  faults: Fault[]
}

/** `clientId` → `clientExternalId`, `clientIdList` → `clientExternalIdList`. */
export function externalName(property: string) {
  let name = externalNames.get(property)
  if (name === undefined) {
    name = property.replace(/(?:Id|UUID)(List)?$/, 'ExternalId$1')
    externalNames.set(property, name)
  }
  return name
}
const externalNames = new Map<string, string>()

export const idOf = (kind: ObjectKind): TSchema =>
  kind.id === 'invitationUUID' ? Uuid('UUID of an invitation') : Id

/** `member of staff` → `MemberOfStaff`: for names of schemas and operations. */
export const pascalCase = (words: string) =>
  words
    .split(/[\s-]+/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')

export const withArticle = (title: string) => `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title}`

/** The body of a POST. It accepts every property of an answer, so that answers can be sent back. */
export function bodyOf(kind: ObjectKind): TSchema {
  let schema = bodies.get(kind)
  if (!schema) {
    schema = Type.Object(bodyProperties(kind), {
      title: `${pascalCase(kind.title)}Body`,
      examples: [{ ...kind.example, externalId: 'A-4711' }],
    })
    bodies.set(kind, schema)
  }
  return schema
}
const bodies = new Map<ObjectKind, TSchema>()

/** A line of an import: a body with its kind, a `ref` of its own, refs to other lines and an `origin`. */
export function lineOf(kind: ObjectKind): TSchema {
  let schema = lines.get(kind)
  if (!schema) {
    const refs = [
      ...kind.references.map(({ property }) => refName(property)),
      ...Object.keys(kind.fields)
        .filter((name) => kind.fields[name]!.textRefersTo)
        .map(textRefName),
    ]
    schema = Type.Object({
      ...bodyProperties(kind),
      kind: Ignored,
      ref: Ignored,
      origin: Ignored,
      ...Object.fromEntries(refs.map((name) => [name, Ignored])),
    })
    lines.set(kind, schema)
  }
  return schema
}
const lines = new Map<ObjectKind, TSchema>()

/** `clientId` → `clientRef`, `clientIdList` → `clientRefList`. */
export const refName = (property: string) => property.replace(/Id(List)?$/, 'Ref$1')

/** `location` → `locationRef`, for a text that is an id. */
export const textRefName = (property: string) => `${property}Ref`

function bodyProperties(kind: ObjectKind): Record<string, TSchema> {
  const external = kind.references.map(({ property }) => [
    externalName(property),
    Type.Optional(externalIds(property)),
  ])
  return {
    [kind.id]: Type.Optional(orNull(idOf(kind))),
    ...bodyOfFields(kind.fields),
    ...Object.fromEntries(external),
    externalId: Maybe(externalId('The id of the object in another system.')),
    active: Maybe(Type.Boolean()),
    businessId: Maybe(Id),
    ...serverOwned,
    ...(kind.objectType ? EXPANDED : {}),
    ...(kind.kind === 'emailTemplate' ? { emailCategory: CategoryOfTemplate, ...WARNED } : {}),
  }
}

/** The same limit as for ids; see `references`. */
const MAX_EXTERNAL_IDS = 5_000

const externalIds = (property: string) => {
  const description = `The \`externalId\` of what \`${property}\` refers to: send one of the two.`
  return orNull(
    property.endsWith('List')
      ? Type.Array(externalId(), { maxItems: MAX_EXTERNAL_IDS, description })
      : externalId(description),
  )
}

const externalId = (description?: string) =>
  Text({ minLength: 1, maxLength: 200, examples: ['A-4711'], ...(description && { description }) })

const CategoryOfTemplate = Type.Optional(
  Type.Union(
    [
      Type.Object({}, { title: 'EmailCategoryOfTemplate', additionalProperties: true }),
      Type.Null(),
    ],
    {
      description: 'Its `emailCategoryId` is used if the template has no `emailCategoryId`.',
    },
  ),
)
const WARNED = { warnings: ServerOwned }

/** The properties that `expand` adds to an object of a list. */
const EXPANDED = Object.fromEntries(
  Object.keys(ExpandedObject).map((property) => [property, ServerOwned]),
)

/** Reads the body of a POST or a line of an import. `schema` is that of the body or of the line. */
export function readObject(
  kind: ObjectKind,
  body: unknown,
  businessId: number,
  schema: TSchema = bodyOf(kind),
): ObjectInput {
  const { given, faults } = readGiven({ schema, fields: kind.fields }, body)
  faults.push(...foreignBusiness(body, businessId))
  const input: ObjectInput = {
    id: undefined,
    externalId: undefined,
    active: undefined,
    values: given,
    faults,
  }
  if (!isPlainObject(body)) return input
  const isFaulty = (name: string) =>
    faults.some(({ pointer }) => `${pointer}/`.startsWith(`/${name}/`))
  const valid = <T>(name: string) =>
    isFaulty(name) ? undefined : (body[name] as T | null | undefined)
  input.id = valid<number | string>(kind.id) ?? undefined
  input.externalId = valid<string>('externalId')
  input.active = valid<boolean>('active') ?? undefined
  for (const { property } of kind.references) {
    const name = externalName(property)
    const isNamed = (body[property] ?? null) === null && (body[name] ?? null) !== null
    if (isNamed && !isFaulty(name))
      (input.externals ??= {})[property] = body[name] as string | string[]
  }
  return input
}
