import { hash } from 'node:crypto'
import type { Page } from '../../contract/page.ts'
import { invalid } from '../../errors.ts'

/** The values that a list can be ordered by, as they are written in its cursor. */
type PositionValues = { id: number; moment: string; text: string }
export type PositionType = keyof PositionValues

/** The values of the last row of a page, in the order of the list. */
export type Position = (string | number)[]

type PositionOf<Types extends readonly PositionType[]> = {
  -readonly [I in keyof Types]: PositionValues[Types[I]]
}

/**
 * Reads where a page starts. A list is ordered by values that do not change and end in an id, so that
 * a page starts after the last row of the page before, whatever was added or removed meanwhile.
 * `list` names the list with its filters: a cursor of another list is refused, and so is one whose
 * values are not of the list's `types`.
 */
export function readPage<const Types extends readonly PositionType[] = ['id']>(
  query: { limit?: number; cursor?: string },
  list: string,
  types: Types = ['id'] as never,
) {
  return { limit: query.limit ?? 50, after: readCursor(query.cursor, list, types) }
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

function readCursor<const Types extends readonly PositionType[]>(
  cursor: string | undefined,
  list: string,
  types: Types,
): PositionOf<Types> | undefined {
  if (cursor === undefined) return undefined
  try {
    const [mark, ...position] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const isOfTypes =
      position.length === types.length && types.every((type, i) => IS_OF_TYPE[type](position[i]))
    if (mark === markOf(list) && isOfTypes) return position
  } catch {
    // Not JSON, or not an array: refused below like any other cursor.
  }
  throw invalid([{ pointer: '?cursor', detail: 'is not a cursor of this list' }])
}

const IS_OF_TYPE: Record<PositionType, (value: unknown) => boolean> = {
  id: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  text: (value) => typeof value === 'string' && !value.includes('\0') && value.isWellFormed(),
  moment: (value) => typeof value === 'string' && isMoment(value),
}

/** As we write it. PostgreSQL knows neither the year 0 nor signs before a year. */
const isMoment = (value: string) =>
  /^\d{4}-/.test(value) &&
  !value.startsWith('0000') &&
  String(Temporal.Instant.from(value)) === value
