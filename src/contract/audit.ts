import { Type } from 'typebox'
import { Named, about } from './schema.ts'

const Row = Type.Record(Type.String(), Type.Unknown(), {
  title: 'AuditedObject',
  description: 'The properties of the object.',
})

export const AuditEntry = Named(
  'AuditEntry',
  {
    time: Type.Integer({ description: 'The time of the change, in ms.' }),
    user: Type.String({ description: 'A username, `key:<name>`, `OPERATOR` or `SYSTEM`.' }),
    object: Type.String({ description: 'The kind of object.' }),
    id: Type.Union([Type.Integer(), Type.String()]),
    change: Type.Enum(['CREATED', 'CHANGED', 'DELETED'], { title: 'AuditChange' }),
    before: about(
      Type.Union([Row, Type.Null()]),
      'The object before the change; null if it was created.',
    ),
    after: Row,
  },
  {
    time: 1_789_000_000_000,
    user: 'anna',
    object: 'location',
    id: 4,
    change: 'CHANGED',
    before: { locationId: 4, name: 'Bahnhofstrasse' },
    after: { locationId: 4, name: 'Seestrasse' },
  },
)
