import { Type, type TSchema } from 'typebox'
import type { Fault } from '../errors.ts'
import { line } from './fields.ts'
import { isPlainObject } from './json.ts'
import type { ObjectKind } from './objects.ts'
import { Ignored, serverOwned, ServerOwned } from './schema.ts'
import { unknownProperties } from './unknown-properties.ts'

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
    name = property.replace(/Id(List)?$/, 'ExternalId$1')
    externalNames.set(property, name)
  }
  return name
}
const externalNames = new Map<string, string>()

export const idOf = (kind: ObjectKind): TSchema =>
  kind.id === 'invitationUUID'
    ? Type.String({ pattern: '^[a-z0-9]{32}$' })
    : Type.Integer({ minimum: 1 })

export const orNull = (schema: TSchema) => {
  const { description } = schema as { description?: string }
  return Type.Union([schema, Type.Null()], description ? { description } : {})
}

/** `member of staff` → `MemberOfStaff`: for names of schemas and operations. */
export const pascalCase = (words: string) =>
  words
    .split(/[\s-]+/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')

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

/** A line of an import: a body with its kind, a `ref` of its own and refs to other lines. */
export function lineOf(kind: ObjectKind): TSchema {
  let schema = lines.get(kind)
  if (!schema) {
    const refs = kind.references.map(({ property }) => [refName(property), Ignored])
    schema = Type.Object({
      ...bodyProperties(kind),
      kind: Ignored,
      ref: Ignored,
      ...Object.fromEntries(refs),
    })
    lines.set(kind, schema)
  }
  return schema
}
const lines = new Map<ObjectKind, TSchema>()

/** `clientId` → `clientRef`, `clientIdList` → `clientRefList`. */
export const refName = (property: string) => property.replace(/Id(List)?$/, 'Ref$1')

function bodyProperties(kind: ObjectKind): Record<string, TSchema> {
  const own = Object.entries(kind.fields).map(([property, { schema, required }]) => [
    property,
    required ? Type.Optional(schema) : Type.Optional(orNull(schema)),
  ])
  const external = kind.references.map(({ property, refersTo }) => [
    externalName(property),
    Type.Optional(externalIds(property, refersTo)),
  ])
  return {
    [kind.id]: Type.Optional(orNull(idOf(kind))),
    ...Object.fromEntries(own),
    ...Object.fromEntries(external),
    externalId: Type.Optional(
      orNull(
        Type.String({ maxLength: 200, description: 'The id of the object in another system.' }),
      ),
    ),
    active: Type.Optional(orNull(Type.Boolean())),
    businessId: Type.Optional(orNull(Type.Integer())),
    ...serverOwned,
    ...(kind.kind === 'emailTemplate' ? { emailCategory: CategoryOfTemplate, ...WARNED } : {}),
  }
}

const externalIds = (property: string, refersTo: string) => {
  const one = Type.String({ maxLength: 200 })
  const description = `The externalId of the ${refersTo}, in place of \`${property}\`.`
  return orNull(
    property.endsWith('List')
      ? Type.Array(one, { description })
      : Type.String({ maxLength: 200, description }),
  )
}

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

/**
 * Reads the body of a POST or a line of an import without coercion and collects all faults. `schema`
 * lists the allowed properties.
 */
export function readObject(
  kind: ObjectKind,
  body: unknown,
  businessId: number,
  schema: TSchema = bodyOf(kind),
): ObjectInput {
  const input: ObjectInput = {
    id: undefined,
    externalId: undefined,
    active: undefined,
    values: {},
    faults: unknownProperties(schema, body),
  }
  if (!isPlainObject(body)) {
    input.faults.push({ pointer: '', detail: 'must be an object' })
    return input
  }
  readEnvelope(input, kind, body, businessId)
  for (const property in kind.fields) {
    const field = kind.fields[property]!
    const value = Object.hasOwn(body, property) ? body[property] : undefined
    if (field.refersTo && (value ?? null) === null) readExternal(input, property, body)
    if (value === undefined) continue
    if (value === null) {
      if (field.required) input.faults.push({ pointer: `/${property}`, detail: 'is required' })
      else input.values[property] = field.initially
      continue
    }
    const faults = field.faults(value)
    for (const { at = '', detail } of faults) {
      input.faults.push({ pointer: `/${property}${at}`, detail })
    }
    if (faults.length === 0) input.values[property] = toStored(value, field)
  }
  return input
}

function readExternal(input: ObjectInput, property: string, body: Record<string, unknown>) {
  const name = externalName(property)
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (value === undefined || value === null) return
  const isList = property.endsWith('List')
  if (!isList && typeof value === 'string') {
    const detail = externalIdFault(value)
    if (detail) input.faults.push({ pointer: `/${name}`, detail })
    else (input.externals ??= {})[property] = value
    return
  }
  if (isList !== Array.isArray(value)) {
    const detail = isList ? 'must be a list of externalIds' : 'must be an externalId'
    input.faults.push({ pointer: `/${name}`, detail })
    return
  }
  const fault = [value].flat().map(externalIdFault).find(Boolean)
  if (fault) input.faults.push({ pointer: `/${name}`, detail: fault })
  else (input.externals ??= {})[property] = value as string | string[]
}

const EXTERNAL_ID = line(200)

const externalIdFault = (value: unknown) =>
  value === '' ? 'must not be empty' : EXTERNAL_ID.faults(value)[0]?.detail

/** Reads the properties that all kinds of objects have. */
function readEnvelope(
  input: ObjectInput,
  kind: ObjectKind,
  body: Record<string, unknown>,
  businessId: number,
) {
  const fault = (property: string, detail: string) =>
    input.faults.push({ pointer: `/${property}`, detail })
  const { [kind.id]: id, externalId, active } = body

  if (body.businessId !== undefined && body.businessId !== null && body.businessId !== businessId) {
    fault('businessId', 'must be your own business')
  }
  if (id !== undefined && id !== null) {
    const isId =
      kind.id === 'invitationUUID'
        ? typeof id === 'string' && /^[a-z0-9]{32}$/.test(id)
        : Number.isSafeInteger(id) && (id as number) > 0
    if (isId) input.id = id as number | string
    else fault(kind.id, 'must be an id')
  }
  if (externalId === null) input.externalId = null
  else if (externalId !== undefined) {
    const detail = externalIdFault(externalId)
    if (detail) fault('externalId', detail)
    else input.externalId = externalId as string
  }
  if (typeof active === 'boolean') input.active = active
  else if (active !== undefined && active !== null) fault('active', 'must be true or false')
}

const toStored = (value: unknown, field: { instant: boolean; sqlType: string }) => {
  if (field.instant) return Temporal.Instant.fromEpochMilliseconds(value as number)
  if (field.sqlType === 'bigint[]') return [...new Set(value as number[])]
  // The column has two decimals.
  if (field.sqlType === 'numeric') return Math.round((value as number) * 100) / 100
  return value
}
