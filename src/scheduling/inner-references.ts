import type { ObjectInput } from '../contract/object-body.ts'
import { refName } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { isPlainObject } from '../contract/json.ts'
import type { Fault } from '../errors.ts'
import type { StoredObject } from '../store/objects.ts'

/** Ids inside the items of a list: the students of `attendance`, the locations of `workingHours`. */
type Item = Record<string, unknown>
type InnerReference = { property: string; refersTo: string }

/** Replaces ids by the refs of an export. */
export const withItemRefs = (
  { property }: InnerReference,
  items: unknown,
  refOf: (id: unknown) => string,
) =>
  (items as Item[]).map(({ [property]: id, ...item }) =>
    (id ?? null) === null ? item : { [refName(property)]: refOf(id), ...item },
  )

/** Replaces the refs of an import by ids; returns a fault if no earlier line has the ref. */
export function fillItemRefs(
  kind: ObjectKind,
  body: Record<string, unknown>,
  idOf: (kind: string, ref: string) => number | string | undefined,
): string | undefined {
  for (const [property, { itemsReferTo }] of Object.entries(kind.fields)) {
    const items = body[property]
    if (!itemsReferTo || !Array.isArray(items)) continue
    const name = refName(itemsReferTo.property)
    for (const [i, item] of items.entries()) {
      if (!isPlainObject(item) || !Object.hasOwn(item, name)) continue
      const { [name]: ref, ...others } = item
      const id = idOf(itemsReferTo.refersTo, String(ref))
      if (id === undefined) return `/${property}/${i}/${name}: no line before this one has it`
      items[i] = { [itemsReferTo.property]: id, ...others }
    }
  }
  return undefined
}

/** Removes students who left a class from its attendance. */
export function withAttendance(input: ObjectInput, base: StoredObject): ObjectInput {
  const { clientIdList, attendance } = input.values
  if (!Array.isArray(clientIdList) || attendance !== undefined) return input
  const present = (base.attendance as Item[]).filter(({ clientId }) =>
    clientIdList.includes(clientId),
  )
  return { ...input, values: { ...input.values, attendance: present } }
}

export const strayStudents = ({ clientIdList, attendance }: StoredObject): Fault[] =>
  strayItems('attendance', attendance, 'clientId', clientIdList as number[])

export const strayLocations = (object: StoredObject): Fault[] =>
  ['workingHours', 'workingExceptions'].flatMap((property) =>
    strayItems(property, object[property], 'locationId', object.locationIdList as number[]),
  )

const strayItems = (property: string, items: unknown, id: string, known: number[]): Fault[] =>
  (items as Item[]).flatMap(({ [id]: given }, i) =>
    (given ?? null) === null || known.includes(given as number)
      ? []
      : [{ pointer: `/${property}/${i}/${id}`, detail: `must be one of ${id}List` }],
  )
