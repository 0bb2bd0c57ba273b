import { Type, type Static } from 'typebox'
import { OBJECT_TYPES, type ObjectType } from './event-type.ts'
import { bodyProperties, boolean, name, oneOf, optional, required } from './fields.ts'
import { alsoWithRule } from './rules.ts'
import { kindOfObjectType } from './objects.ts'
import { Named, about, Id, Maybe, serverOwned, stamps } from './schema.ts'

/** PENDING: not decided yet, also if its time has passed. LATE_CANCELLED: cancelled, but too late. */
export const OUTCOMES = ['PENDING', 'KEPT', 'MISSED', 'CANCELLED', 'LATE_CANCELLED'] as const
export type StatusOutcome = (typeof OUTCOMES)[number]

export const Status = Named(
  'Status',
  {
    businessId: Type.Integer(),
    objectType: Type.Enum([...OBJECT_TYPES], {
      title: 'ObjectType',
      description: 'The type of objects that can have this status.',
    }),
    status: Type.String({ description: 'The value of the property `status` of objects.' }),
    label: Type.String({ description: 'The name to show.' }),
    outcome: Type.Enum([...OUTCOMES], {
      title: 'StatusOutcome',
      description: 'What reports count an object with this status as.',
    }),
    live: Type.Boolean({ description: 'Whether reminders before the appointment are still sent.' }),
    liveAfter: Type.Boolean({ description: 'Whether reminders after the appointment are sent.' }),
    active: Type.Boolean(),
    ...stamps,
  },
  {
    businessId: 1,
    objectType: 'CALENDAR',
    status: 'WAITING_LIST',
    label: 'On the waiting list',
    outcome: 'PENDING',
    live: false,
    liveAfter: false,
    active: true,
    version: 1,
    createdDate: 1_789_000_000_000,
    createdUser: 'key:front desk',
    modifiedDate: 1_789_000_000_000,
    modifiedUser: 'key:front desk',
  },
)
export type Status = Static<typeof Status>

/** `*` means any status in definitions, so it cannot be the name of one. */
const nameOfStatus = () => {
  const { schema, ...shape } = name(60)
  return { ...shape, schema: alsoWithRule(schema, refuseAny) }
}

const refuseAny = (value: unknown) =>
  value === '*' ? [{ detail: 'must not be *, which means any status' }] : []

const STATUS_KEY = {
  objectType: required(oneOf(OBJECT_TYPES, 'ObjectType')),
  status: required(nameOfStatus()),
}

const OTHER_FIELDS = {
  label: required(name(), 'The name to show.'),
  outcome: optional(
    oneOf(OUTCOMES, 'StatusOutcome'),
    'What reports count it as. Default: by the name of the status, else PENDING.',
  ),
  live: optional(
    boolean(true),
    'Whether reminders before the appointment are still sent. Default: true.',
  ),
  liveAfter: optional(
    boolean(null),
    'Whether reminders after the appointment are sent. Default: the value of `live`; true for COMPLETED appointments and CLOSED classes.',
  ),
  active: optional(boolean(true)),
}

/** The body of a POST. It is an update if the business has the status already. */
export const StatusWrite = Named(
  'StatusBody',
  {
    objectType: STATUS_KEY.objectType.schema,
    status: about(STATUS_KEY.status.schema, 'The value of the property `status` of objects.'),
    ...bodyProperties(OTHER_FIELDS),
    businessId: Maybe(Id),
    ...serverOwned,
  },
  { objectType: 'CALENDAR', status: 'WAITING_LIST', label: 'On the waiting list', live: false },
)

export const STATUS_BODY = { schema: StatusWrite, fields: { ...STATUS_KEY, ...OTHER_FIELDS } }

/** The default of `liveAfter`: follow-ups are sent after a visit that took place. */
export const isFollowedUp = (objectType: ObjectType, status: string, live: boolean) =>
  live ||
  (objectType === 'CALENDAR' && status === 'COMPLETED') ||
  (objectType === 'CLASS_SCHEDULE' && status === 'CLOSED')

type NamedStatus = { objectType: ObjectType; status: string; live: boolean; liveAfter: boolean }

const NEGATED_END =
  /(^|[^a-z])((not|never|non)[^a-z]+|un)(cancel|storn|annul|no.?show|missed|absent|expired)/gi

/** The default of `outcome`, stored when the status is saved. */
export function defaultOutcome({
  objectType,
  status,
  live,
  liveAfter,
}: NamedStatus): StatusOutcome {
  if (objectType === 'DISCLAIMER' && status === 'SIGNED') return 'KEPT'
  if (objectType === 'DISCLAIMER' && status === 'WAIVED') return 'CANCELLED'
  const name = status.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2') // NotAttended is Not_Attended
  const affirmed = name.replaceAll(NEGATED_END, '')
  if (/(^|[^a-z])not[^a-z]+yet([^a-z]|$)/i.test(name)) return 'PENDING'
  if (/cancel|storn|annul/i.test(affirmed)) return 'CANCELLED'
  if (/no.?show|missed|absent|expired/i.test(affirmed)) return 'MISSED'
  if (/(^|[^a-z])((not|never|non)[^a-z]+|un)attend/i.test(name)) return 'MISSED'
  if (/(^|[^a-z])((not|never|non)[^a-z]+|un|in)(complete|closed)/i.test(name)) return 'PENDING'
  if (/complete|closed|attended/i.test(name)) return 'KEPT'
  return liveAfter && !live ? 'KEPT' : 'PENDING'
}

/** The status of an object whose body names none. */
export const firstStatus = (objectType: ObjectType) =>
  kindOfObjectType(objectType).fields.status!.initially as string
