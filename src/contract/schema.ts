import { Type, type TProperties, type TSchema } from 'typebox'
import { isId } from './json.ts'
import { withRule } from './rules.ts'

/** An object whose schema has a name of its own in the API description. */
export const Named = <P extends TProperties>(title: string, properties: P, example?: object) =>
  Type.Object(properties, { title, ...(example && { examples: [example] }) })

export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A property of a body that may be left out or be `null`. */
export const Maybe = <T extends TSchema>(schema: T) => Type.Optional(OrNull(schema))

/** An id in a body. */
export const IdWith = (options: { description?: string }) =>
  withRule(Type.Integer({ minimum: 1, ...options }), (value) =>
    isId(value) ? [] : [{ detail: 'must be an id: an integer above 0' }],
  )
export const Id = IdWith({})

/** The id of the object that a body updates. */
export const UpdatedId = Maybe(IdWith({ description: 'Send it to update an object.' }))

export const Ignored = Type.Optional(
  Type.Unknown({ readOnly: true, description: 'Accepted and ignored.' }),
)

/** A property that only the service sets. A body may hold it, so that an answer can be sent back. */
export const ServerOwned = Type.Optional(
  Type.Unknown({ readOnly: true, description: 'Set by the service; ignored in a body.' }),
)

/** The properties that every object of an answer has. */
export const serverOwned = {
  version: ServerOwned,
  createdDate: ServerOwned,
  createdUser: ServerOwned,
  modifiedDate: ServerOwned,
  modifiedUser: ServerOwned,
}

export const MOMENT_UNIT = 'Milliseconds since 1970-01-01 00:00:00 UTC.'
export const Moment = Type.Integer({ description: MOMENT_UNIT })

/** A time in a query. Dates as text and times in seconds are frequent mistakes. */
export const MomentQuery = (range: { minimum: number; maximum: number; description: string }) =>
  withRule(Type.Integer(range), (value) =>
    Number.isSafeInteger(value) && Number(value) >= range.minimum && Number(value) <= range.maximum
      ? []
      : [{ detail: 'must be a time in milliseconds since 1970-01-01 UTC, such as 1789000000000' }],
  )

/** A time in a query, in the years 0001 to 9999. */
export const MomentFilter = (description: string) =>
  Type.Optional(
    MomentQuery({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_999, description }),
  )

/** A query parameter with one or several of these words. */
export const SeveralOf = (
  words: readonly string[],
  description = `One or several of ${words.join(', ')}, separated by commas.`,
) =>
  withRule(
    Type.String({ pattern: `^(${words.join('|')})(,(${words.join('|')}))*$`, description }),
    (value) => {
      const given = typeof value === 'string' ? value.split(',') : []
      return given.length > 0 && given.every((word) => words.includes(word))
        ? []
        : [{ detail: `must be one or several of ${words.join(', ')}, separated by commas` }]
    },
  )

/** The body of a route that acts on many objects. */
export const BulkIds = Named('BulkIds', {
  ids: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000 }),
})

/** The answer of such a route: a refused id does not stop the others. */
export const BulkResult = Named('BulkResult', {
  done: Type.Array(Type.Integer()),
  refused: Type.Array(
    Named('RefusedId', { id: Type.Integer(), status: Type.Integer(), detail: Type.String() }),
  ),
  approvalId: Type.Optional(
    Type.Integer({
      description:
        'The call would send more mails at once than the business allows: nothing is done until this approval is released.',
    }),
  ),
})
