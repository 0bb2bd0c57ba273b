import { Type } from 'typebox'
import { about, Counts, Moment, OrNull, SeveralOf } from './schema.ts'

/** The properties that `expand=names` adds to a trigger or an email. */
export const ObjectNames = {
  clientId: Type.Optional(OrNull(Type.Integer())),
  clientName: Type.Optional(OrNull(Type.String())),
  professionalName: Type.Optional(OrNull(Type.String())),
  reasonName: Type.Optional(OrNull(Type.String({ description: 'The name of the service.' }))),
  locationId: Type.Optional(OrNull(Type.Integer())),
  locationName: Type.Optional(OrNull(Type.String())),
  objectName: Type.Optional(
    OrNull(Type.String({ description: 'The name of the class, campaign or form.' })),
  ),
  objectTime: Type.Optional(
    OrNull({ ...Moment, description: 'When the object starts, is due or expires, in ms.' }),
  ),
  objectStatus: Type.Optional(OrNull(Type.String())),
}

export const ExpandNames = Type.Optional(
  Type.Enum(['names'], {
    title: 'ExpandNames',
    description: '`names` adds the names of client, staff, service and location.',
  }),
)

/** The properties that `expand=names` and `expand=messages` add to an object of a list. */
export const ExpandedObject = {
  clientName: ObjectNames.clientName,
  professionalName: ObjectNames.professionalName,
  reasonName: ObjectNames.reasonName,
  locationName: ObjectNames.locationName,
  messages: Type.Optional(
    about(Counts, 'The number of triggers of the object by status.', {
      SCHEDULED: 2,
      COMPLETED: 1,
    }),
  ),
}

export const ExpandObject = Type.Optional(
  SeveralOf(
    ['names', 'messages'],
    '`names` adds the names of client, staff, service and location; `messages` counts the triggers of each object by status.',
  ),
)
