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

export const ChangedSince = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, description }))

/** The query of a list that can also be read by changes: see docs/changes.md. */
export const ChangesQuery = {
  ...PageQuery,
  changedSince: ChangedSince(
    'A position: `nextPosition` of an earlier page, or the answer of `GET /changes/position`. Lists all objects that were changed after it, in the order of the changes, also deleted ones. No change is missed.',
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

/** A position in the order of the changes. */
export const ChangePosition = (description: string) =>
  Type.String({ description, examples: ['WyI5ZjJjNGUiLCI4MTIzIl0'] })

/** A page of a list that can also be read by changes. */
export const ChangesPageOf = <T extends TSchema>(item: T, title: string) =>
  Type.Object(
    {
      ...PageOf(item, title).properties,
      nextPosition: ChangePosition(
        'After the last page, send it as `changedSince` to list what was changed since this list was read. With `changedSince`, the next page can also be read by it.',
      ),
    },
    { title },
  )

export type ChangesPage<T> = Page<T> & { nextPosition: string }
