import { Type, type TProperties, type TSchema } from 'typebox'

/** An object whose schema has a name of its own in the API description. */
export const Named = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { title })

export const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A property of a body that may be left out or be `null`. */
export const Maybe = <T extends TSchema>(schema: T) => Type.Optional(OrNull(schema))

export const Ignored = Type.Optional(
  Type.Unknown({ readOnly: true, description: 'accepted and ignored' }),
)

/** A property that answers carry and only the service sets, so that an answer can be sent back. */
export const ServerOwned = Type.Optional(
  Type.Unknown({ readOnly: true, description: 'set by the service; ignored in a body' }),
)

/** What every object of an answer carries. */
export const serverOwned = {
  version: ServerOwned,
  createdDate: ServerOwned,
  createdUser: ServerOwned,
  modifiedDate: ServerOwned,
  modifiedUser: ServerOwned,
}

export const Moment = Type.Integer({ description: 'milliseconds since 1970-01-01 00:00:00 UTC' })

/** A moment in a query: any that a calendar of four-digit years has. */
export const MomentFilter = (description: string) =>
  Type.Optional(
    Type.Integer({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_999, description }),
  )

/** A filter of a query that takes one or several of these words. */
export const SeveralOf = (words: readonly string[]) =>
  Type.String({
    pattern: `^(${words.join('|')})(,(${words.join('|')}))*$`,
    description: `One or several of ${words.join(', ')}, separated by commas.`,
  })
