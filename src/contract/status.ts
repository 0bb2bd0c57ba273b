import { Type, type Static } from 'typebox'
import { OBJECT_TYPES, type ObjectType } from './event-type.ts'
import { boolean, name, optional, required, type Field } from './fields.ts'
import { kindOfObjectType } from './objects.ts'
import { Maybe, serverOwned } from './schema.ts'

export const Status = Type.Object(
  {
    businessId: Type.Integer(),
    objectType: Type.Enum([...OBJECT_TYPES], {
      title: 'ObjectType',
      description: 'The kind of object that is in it.',
    }),
    status: Type.String({ description: 'The value that objects carry.' }),
    label: Type.String({ description: 'What people read.' }),
    live: Type.Boolean({ description: 'Does a reminder before it still make sense?' }),
    liveAfter: Type.Boolean({ description: 'Does a reminder after it?' }),
    active: Type.Boolean(),
    version: Type.Integer({ description: 'Counts its changes.' }),
    createdDate: Type.Integer(),
    createdUser: Type.String(),
    modifiedDate: Type.Integer(),
    modifiedUser: Type.String(),
  },
  {
    title: 'Status',
    examples: [
      {
        businessId: 1,
        objectType: 'CALENDAR',
        status: 'WAITING_LIST',
        label: 'On the waiting list',
        live: false,
        liveAfter: false,
        active: true,
        version: 1,
        createdDate: 1_789_000_000_000,
        createdUser: 'key:front desk',
        modifiedDate: 1_789_000_000_000,
        modifiedUser: 'key:front desk',
      },
    ],
  },
)
export type Status = Static<typeof Status>

/** The form of a POST. Where the business has the status already, it is an update. */
export const StatusWrite = Type.Object(
  {
    objectType: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
    status: Type.String({ minLength: 1, maxLength: 60 }),
    label: Type.Optional(
      Type.String({ minLength: 1, maxLength: 300, description: 'Required to add one.' }),
    ),
    live: Maybe(Type.Boolean({ description: 'True unless said otherwise.' })),
    liveAfter: Type.Optional(
      Type.Union([Type.Boolean(), Type.Null()], {
        description:
          'As `live` unless said otherwise, and true for COMPLETED appointments and CLOSED classes.',
      }),
    ),
    active: Maybe(Type.Boolean()),
    businessId: Maybe(Type.Integer()),
    ...serverOwned,
  },
  {
    title: 'StatusBody',
    examples: [
      { objectType: 'CALENDAR', status: 'WAITING_LIST', label: 'On the waiting list', live: false },
    ],
  },
)

const objectTypeField: Field = required({
  schema: Type.Enum([...OBJECT_TYPES], { title: 'ObjectType' }),
  sqlType: 'text',
  faults: (value) =>
    OBJECT_TYPES.includes(value as ObjectType)
      ? []
      : [{ detail: `must be one of ${OBJECT_TYPES.join(', ')}` }],
})

/** `*` means any status wherever one is asked for, so none may be called so. */
const nameOfStatus = name(60)
const statusField: Field = required({
  ...nameOfStatus,
  faults: (value) =>
    value === '*' ? [{ detail: 'must not be *, which is any' }] : nameOfStatus.faults(value),
})

/** What names a status, and what is said about it. */
export const STATUS_KEY = { objectType: objectTypeField, status: statusField }

export const STATUS_FIELDS = {
  label: required(name()),
  live: optional(boolean(true)),
  liveAfter: optional(boolean(null)),
  active: optional(boolean(true)),
}

/** A visit that is over may still be followed up. */
export const isFollowedUp = (objectType: ObjectType, status: string, live: boolean) =>
  live ||
  (objectType === 'CALENDAR' && status === 'COMPLETED') ||
  (objectType === 'CLASS_SCHEDULE' && status === 'CLOSED')

/** The status in which an object begins where none is named. */
export const firstStatus = (objectType: ObjectType) =>
  kindOfObjectType(objectType).fields.status!.initially as string
