import { Type } from 'typebox'
import { Moment, OrNull } from './schema.ts'

/** Added to a row about an object by `expand=names`. */
export const ObjectNames = {
  clientId: Type.Optional(OrNull(Type.Integer())),
  clientName: Type.Optional(OrNull(Type.String())),
  professionalName: Type.Optional(OrNull(Type.String())),
  reasonName: Type.Optional(OrNull(Type.String({ description: 'Of the service.' }))),
  locationId: Type.Optional(OrNull(Type.Integer())),
  locationName: Type.Optional(OrNull(Type.String())),
  objectName: Type.Optional(OrNull(Type.String({ description: 'Of a class, campaign or form.' }))),
  objectTime: Type.Optional(
    OrNull({ ...Moment, description: 'When the object starts, is due or expires, in ms.' }),
  ),
  objectStatus: Type.Optional(OrNull(Type.String())),
}

/** The query parameter that asks for them. */
export const ExpandNames = Type.Optional(
  Type.Enum(['names'], {
    title: 'ExpandNames',
    description: '`names` adds the words that people know a row by.',
  }),
)

/** Added to an object of a list by `expand=names` and `expand=messages`. */
export const ExpandedObject = {
  clientName: ObjectNames.clientName,
  professionalName: ObjectNames.professionalName,
  reasonName: ObjectNames.reasonName,
  locationName: ObjectNames.locationName,
  messages: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      title: 'Counts',
      description: 'How many triggers of the object have each status.',
      examples: [{ SCHEDULED: 2, COMPLETED: 1 }],
    }),
  ),
}

/** The query parameter of a list of objects that asks for them. */
export const ExpandObject = Type.Optional(
  Type.String({
    pattern: '^(names|messages)(,(names|messages))*$',
    description:
      '`names` adds the names of client, staff, service and location; `messages` counts the triggers of each object by status.',
  }),
)
