import { Type, type TProperties, type TSchema } from 'typebox'
import { inWords, withRule } from './rules.ts'

/** An object whose schema has a name of its own in the API description. */
export const Named = <P extends TProperties>(title: string, properties: P, example?: object) =>
  Type.Object(properties, { title, ...(example && { examples: [example] }) })

/**
 * A schema with a description and an example for the API description. It is a copy with the properties
 * that are not enumerable: TypeBox needs them.
 */
export const about = <S extends TSchema>(schema: S, description: string, example?: unknown): S =>
  Object.defineProperties({} as S, {
    ...Object.getOwnPropertyDescriptors(schema),
    description: { value: description, enumerable: true },
    ...(example === undefined ? {} : { examples: { value: [example], enumerable: true } }),
  })

export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A property of a body that may be left out or be `null`. */
export const Maybe = <T extends TSchema>(schema: T) => Type.Optional(OrNull(schema))

const NOT_AN_ID = 'must be an id: an integer above 0'

/** An id in a body. */
export const IdWith = (options: { description?: string }) =>
  inWords(Type.Integer({ minimum: 1, ...options }), NOT_AN_ID)
export const Id = IdWith({})

/** An id in a body; 0 counts as absent. */
export const IdOrZero = (description: string) =>
  inWords(Type.Integer({ minimum: 0, description }), NOT_AN_ID)

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

/** The same properties in an answer. */
export const stamps = {
  version: Type.Integer(),
  createdDate: Moment,
  createdUser: Type.String(),
  modifiedDate: Moment,
  modifiedUser: Type.String(),
}

export const stampsExample = {
  version: 1,
  createdDate: 1_789_000_000_000,
  createdUser: 'anna',
  modifiedDate: 1_789_000_000_000,
  modifiedUser: 'anna',
}

/** The service accepts times and days of these years: others are mistakes, such as a wrong unit. */
export const MIN_TIME = Date.UTC(2000, 0)
export const MAX_TIME = Date.UTC(2200, 0)

/** A time in a query; 0 is before all others. Dates as text and times in seconds are frequent mistakes. */
export const MomentQuery = (description: string) =>
  withRule(Type.Integer({ minimum: 0, maximum: MAX_TIME, description }), (value) =>
    value === 0 ||
    (Number.isSafeInteger(value) && Number(value) >= MIN_TIME && Number(value) <= MAX_TIME)
      ? []
      : [
          {
            detail:
              'must be a time from 2000 to 2200 in milliseconds since 1970-01-01 UTC, such as 1789000000000, or 0',
          },
        ],
  )

export const MomentFilter = (description: string) => Type.Optional(MomentQuery(description))

export const NOT_A_DAY = 'must be a date, YYYY-MM-DD, from 2000 to 2200'

/** A day as text. */
export const Day = (options: { description?: string; examples?: string[] } = {}) =>
  withRule(Type.String({ format: 'date', ...options }), (value) =>
    readDay(value) ? [] : [{ detail: NOT_A_DAY }],
  )

export function readDay(value: unknown): Temporal.PlainDate | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return undefined
  try {
    const day = Temporal.PlainDate.from(value, { overflow: 'reject' })
    return day.year >= 2000 && day.year <= 2200 ? day : undefined
  } catch {
    return undefined
  }
}

/** A query parameter with one or several of these words. */
export const SeveralOf = (
  words: readonly string[],
  description = `One or several of ${words.join(', ')}, separated by commas.`,
) =>
  inWords(
    Type.String({ pattern: `^(${words.join('|')})(,(${words.join('|')}))*$`, description }),
    `must be one or several of ${words.join(', ')}, separated by commas`,
  )

export const Counts = Type.Record(Type.String(), Type.Integer(), { title: 'Counts' })

/** The body of a route that acts on many objects. */
export const BulkIds = Named('BulkIds', {
  ids: about(
    Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000 }),
    'The ids of the objects.',
    [41, 42],
  ),
})

/** The answer of such a route: a refused id does not stop the others. */
export const BulkResult = Named('BulkResult', {
  done: about(Type.Array(Type.Integer()), 'The ids for which it was done.', [41]),
  refused: about(
    Type.Array(
      Named('RefusedId', {
        id: Type.Integer(),
        status: about(
          Type.Integer(),
          'The status that a request for this id alone would get.',
          409,
        ),
        detail: about(Type.String(), 'Why it was refused.', 'it is COMPLETED'),
      }),
    ),
    'The ids for which it was refused, and why.',
  ),
  approvalId: Type.Optional(
    Type.Integer({
      description:
        'The call would send more mails at once than the business allows: nothing is done until this approval is released.',
    }),
  ),
})
