import { Type, type TSchema } from 'typebox'
import { OrNull } from './schema.ts'

/** The query of every paged list. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'Page size.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 1_000, description: '`nextCursor` of the previous page.' }),
  ),
}

/** A page of a list. `title` names its schema. */
export const PageOf = <T extends TSchema>(item: T, title: string) =>
  Type.Object(
    {
      items: Type.Array(item, {
        description: 'The objects of this page, in the order of the list.',
      }),
      nextCursor: OrNull(
        Type.String({
          description: 'Send it as `cursor` to read the next page; null on the last page.',
          examples: ['WyJxMnMiLDQyXQ'],
        }),
      ),
    },
    { title },
  )

export type Page<T> = { items: T[]; nextCursor: string | null }
