import { hash } from 'node:crypto'
import type { Page } from '../../contract/page.ts'
import { invalid } from '../../errors.ts'

/** The types of values that a list can be ordered by, as written in its cursor. */
type PositionValues = { id: number; moment: string; text: string; transaction: string }
export type PositionType = keyof PositionValues

/** The values of the last row of a page, in the order of the list. */
export type Position = (string | number)[]

type PositionOf<Types extends readonly PositionType[]> = {
  -readonly [I in keyof Types]: PositionValues[Types[I]]
}

type Query = { limit?: number; cursor?: string }

/**
 * Reads where a page starts: after the last row of the previous page. `list` names the list with its
 * filters; a cursor of another list, or with values of other `types`, is refused.
 */
export function readPage(query: Query, list: string): Start<['id']>
export function readPage<const Types extends readonly PositionType[]>(
  query: Query,
  list: string,
  types: Types,
): Start<Types>
export function readPage(query: Query, list: string, types: readonly PositionType[] = ['id']) {
  return { limit: query.limit ?? 50, after: readCursor(query.cursor, list, types) }
}

type Start<Types extends readonly PositionType[]> = {
  limit: number
  after: PositionOf<Types> | undefined
}

/** Makes a page of up to `limit` rows. Callers read `limit + 1` rows: the last one shows that there are more. */
export function pageOf<Item>(
  rows: Item[],
  limit: number,
  list: string,
  positionOf: (item: Item) => Position,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { items, nextCursor: hasMore ? writeCursor(list, positionOf(last)) : null }
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

type IsOfType = { [Type in PositionType]: (value: unknown) => value is PositionValues[Type] }

export const IS_OF_TYPE: IsOfType = {
  id: (value): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  text: (value): value is string =>
    typeof value === 'string' && !value.includes('\0') && value.isWellFormed(),
  moment: (value): value is string => typeof value === 'string' && isMoment(value),
  transaction: (value): value is string => typeof value === 'string' && isTransactionId(value),
}

/** An `xid8` of PostgreSQL, without those that no server reaches. */
const isTransactionId = (value: string) => /^\d{1,18}$/.test(value)

/** The format that `writeCursor` writes. PostgreSQL accepts neither year 0 nor a signed year. */
const isMoment = (value: string) =>
  /^\d{4}-/.test(value) &&
  !value.startsWith('0000') &&
  String(Temporal.Instant.from(value)) === value
