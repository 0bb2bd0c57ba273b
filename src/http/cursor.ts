import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { invalid } from '../errors.ts'

/** The query of every paged list. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'How many at most.' }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 1_000, description: '`nextCursor` of the page before.' }),
  ),
}

/** Where the page before ended: the values that the list is ordered by. */
export type Position = (string | number)[]

export type Page<Item> = { items: Item[]; nextCursor: string | null }

/**
 * Where to go on. A list is ordered by values that do not change and end in an id, so that a page
 * goes on after the last row of the one before, whatever came or went meanwhile. `list` names the
 * list and its filters, at whatever length: a cursor of another one is refused.
 */
export function readPage(query: { limit?: number; cursor?: string }, list: string) {
  return { limit: query.limit ?? 50, after: readCursor(query.cursor, list) }
}

/** Makes a page of up to `limit` rows from `limit + 1`: the one too many says that there are more. */
export function pageOf<Item>(
  rows: Item[],
  limit: number,
  list: string,
  positionOf: (item: Item) => Position,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const more = rows.length > limit && last !== undefined
  return { items, nextCursor: more ? writeCursor(list, positionOf(last)) : null }
}

const writeCursor = (list: string, position: Position) =>
  Buffer.from(JSON.stringify([markOf(list), ...position])).toString('base64url')

const markOf = (list: string) => hash('sha1', list, 'base64url')

function readCursor(cursor: string | undefined, list: string): Position | undefined {
  if (cursor === undefined) return undefined
  try {
    const [of, ...position] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (of === markOf(list) && position.length > 0 && position.every(isPositionValue))
      return position
  } catch {
    // told below, in the same words
  }
  throw invalid([{ pointer: '?cursor', detail: 'is not a cursor of this list' }])
}

const isPositionValue = (value: unknown) =>
  (typeof value === 'string' && !value.includes('\0') && value.isWellFormed()) ||
  Number.isSafeInteger(value)
