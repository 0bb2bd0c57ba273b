import type { Fault } from '../errors.ts'
import { line } from './fields.ts'
import { isPlainObject } from './json.ts'
import type { ObjectKind } from './objects.ts'

/** A body as it was understood. Absent properties are absent; cleared ones are null. */
export type ObjectInput = {
  id: number | string | undefined
  externalId: string | null | undefined
  active: boolean | undefined
  values: Record<string, unknown>
  /** What is referred to by its `externalId`, under the property that its id would have. */
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

/** Reads the body of a POST, or a line of an import: every fault at once, nothing coerced. */
export function readObject(kind: ObjectKind, body: unknown, businessId: number): ObjectInput {
  const input: ObjectInput = {
    id: undefined,
    externalId: undefined,
    active: undefined,
    values: {},
    faults: [],
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
    if (faults.length === 0) input.values[property] = stored(value, field)
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

/** What every kind of object has beside its own properties. */
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
    const good =
      kind.id === 'invitationUUID'
        ? typeof id === 'string' && /^[a-z0-9]{32}$/.test(id)
        : Number.isSafeInteger(id) && (id as number) > 0
    if (good) input.id = id as number | string
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

const stored = (value: unknown, field: { instant: boolean; sqlType: string }) => {
  if (field.instant) return Temporal.Instant.fromEpochMilliseconds(value as number)
  if (field.sqlType === 'bigint[]') return [...new Set(value as number[])]
  // As its column keeps it.
  if (field.sqlType === 'numeric') return Math.round((value as number) * 100) / 100
  return value
}
