import type { ObjectInput } from '../contract/object-body.ts'
import { refName } from '../contract/object-body.ts'
import type { ObjectKind } from '../contract/objects.ts'
import { isPlainObject, nameOf } from '../contract/json.ts'
import type { Fault } from '../errors.ts'
import type { ClassSchedule, Professional } from '../store/objects.ts'

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
    const given = body[property]
    if (!itemsReferTo || !Array.isArray(given)) continue
    const items = [...given]
    body[property] = items
    const name = refName(itemsReferTo.property)
    for (const [i, item] of items.entries()) {
      if (!isPlainObject(item) || !Object.hasOwn(item, name)) continue
      const { [name]: ref, ...others } = item
      const id = idOf(itemsReferTo.refersTo, nameOf(ref))
      if (id === undefined) return `/${property}/${i}/${name}: no line before this one has it`
      items[i] = { [itemsReferTo.property]: id, ...others }
    }
  }
  return undefined
}

/** Removes students who left a class from its attendance and from those who confirmed. */
export function withAttendance(input: ObjectInput, base: ClassSchedule): ObjectInput {
  const { clientIdList, attendance, confirmedClientIdList } = input.values
  if (!Array.isArray(clientIdList)) return input
  const values = { ...input.values }
  if (attendance === undefined) {
    values.attendance = base.attendance.filter(({ clientId }) => clientIdList.includes(clientId))
  }
  if (confirmedClientIdList === undefined) {
    values.confirmedClientIdList = base.confirmedClientIdList.filter((id) =>
      clientIdList.includes(id),
    )
  }
  return { ...input, values }
}

export const strayStudents = ({ clientIdList, attendance }: ClassSchedule): Fault[] =>
  attendance.flatMap(({ clientId }, i) =>
    clientIdList.includes(clientId) ? [] : strayItem('attendance', i, 'clientId'),
  )

export const strayLocations = (staff: Professional): Fault[] =>
  (['workingHours', 'workingExceptions'] as const).flatMap((property) =>
    staff[property].flatMap(({ locationId = null }, i) =>
      locationId === null || staff.locationIdList.includes(locationId)
        ? []
        : strayItem(property, i, 'locationId'),
    ),
  )

const strayItem = (property: string, i: number, id: string): Fault => ({
  pointer: `/${property}/${i}/${id}`,
  detail: `must be one of ${id}List`,
})
