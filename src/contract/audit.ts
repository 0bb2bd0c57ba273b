import { Type } from 'typebox'

const Row = Type.Record(Type.String(), Type.Unknown(), { title: 'AuditedObject' })

export const AuditEntry = Type.Object(
  {
    time: Type.Integer({ description: 'The time of the change, in ms.' }),
    user: Type.String({ description: 'A username, `key:<name>`, `OPERATOR` or `SYSTEM`.' }),
    object: Type.String({ description: 'The kind of object.' }),
    id: Type.Union([Type.Integer(), Type.String()]),
    change: Type.Enum(['CREATED', 'CHANGED', 'DELETED'], { title: 'AuditChange' }),
    before: Type.Union([Row, Type.Null()]),
    after: Row,
  },
  {
    title: 'AuditEntry',
    examples: [
      {
        time: 1_789_000_000_000,
        user: 'anna',
        object: 'location',
        id: 4,
        change: 'CHANGED',
        before: { locationId: 4, name: 'Bahnhofstrasse' },
        after: { locationId: 4, name: 'Seestrasse' },
      },
    ],
  },
)
