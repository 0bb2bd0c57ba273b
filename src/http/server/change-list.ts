import { hash } from 'node:crypto'
import type { ChangesPage } from '../../contract/page.ts'
import type { Db } from '../../database/database.ts'
import { invalid, RequestError } from '../../errors.ts'
import {
  readHorizon,
  type ChangePosition,
  type Changes,
  type Horizon,
} from '../../store/change-positions.ts'
import type { SeenChanges } from '../../store/changes.ts'
import type { Visibility } from '../../store/visibility.ts'
import { IS_OF_TYPE, pageOf, readPage, type Position, type PositionType } from './cursor.ts'

/** The part of the data that a caller sees. The operator has no business and sees all of them. */
type Seen = { businessId?: number; visibility?: Visibility }

/** A list that can also be read by changes. */
type ChangeList<Row> = {
  kind: string
  /** The list with its filters. */
  name: string
  seen: Seen
  /** The types of the values that the list is ordered by; the last one is the id. */
  types: readonly PositionType[]
  positionOf(row: Row): Position
  /** With `changes` it reads in the order of the changes, and also returns `changedIn` of each row. */
  read(page: ListStart): Promise<(Row & { changedIn?: string })[]>
}

export type ListStart = {
  after: Position | undefined
  changes: Changes | undefined
  limit: number
}

type Query = { limit?: number; cursor?: string; changedSince?: string }

/** Reads a page of a list, and where a list of later changes begins. */
export function readList<Row extends object>(
  db: Db,
  query: Query,
  list: ChangeList<Row>,
): Promise<ChangesPage<Row>> {
  const { changedSince } = query
  return changedSince === undefined
    ? readWhole(db, query, list)
    : readChanges(db, query, changedSince, list)
}

/** All pages have the position of the first one: later changes may be of objects of earlier pages. */
async function readWhole<Row extends object>(db: Db, query: Query, list: ChangeList<Row>) {
  const { name, types, positionOf } = list
  const { limit, after } = readPage(query, name, [...types, 'text'])
  // It is read before the rows: a change in between is listed twice, and not left out.
  const nextPosition = after
    ? String(after.at(-1))
    : writePosition(list.seen, await readHorizon(db))
  const start = { after: after?.slice(0, -1), changes: undefined, limit: limit + 1 }
  const rows = await list.read(start)
  const page = pageOf<Row>(rows, limit, name, (row) => [...positionOf(row), nextPosition])
  return { ...page, nextPosition }
}

async function readChanges<Row extends object>(
  db: Db,
  query: Query,
  changedSince: string,
  list: ChangeList<Row>,
) {
  const { kind, seen, types, positionOf } = list
  const name = JSON.stringify([list.name, changedSince])
  const idType = types.at(-1)!
  const { limit, after } = readPage(query, name, ['transaction', idType])
  const horizon = await readHorizon(db)
  const given = withinList(readPosition(changedSince, seen, horizon), kind, idType)
  const since = after ? { transaction: after[0], afterId: after[1] } : given
  const rows = await list.read({
    after: undefined,
    changes: { since, until: horizon.transaction },
    limit: limit + 1,
  })
  const idOf = (row: Row) => positionOf(row).at(-1)!
  const page = pageOf(rows, limit, name, (row) => [row.changedIn!, idOf(row)])
  const last = page.nextCursor === null ? undefined : page.items.at(-1)
  return {
    items: page.items.map(({ changedIn: _changedIn, ...item }) => item as unknown as Row),
    nextCursor: page.nextCursor,
    nextPosition: last
      ? writePosition(seen, horizon, kind, { transaction: last.changedIn!, afterId: idOf(last) })
      : writePosition(seen, horizon),
  }
}

/** A position that the lists of all kinds take, or one within the list of a kind. */
export const writePosition = (
  seen: Seen,
  horizon: Horizon,
  kind?: string,
  { transaction, afterId }: ChangePosition = horizon,
) =>
  Buffer.from(
    JSON.stringify([epochOf(seen, horizon), transaction, ...(kind ? [kind, afterId] : [])]),
  ).toString('base64url')

/** Objects come into view without a change if the caller's visibility changes: that begins an epoch too. */
const epochOf = ({ businessId, visibility = null }: Seen, { epoch }: Horizon) =>
  hash('sha1', JSON.stringify([epoch, businessId, visibility]), 'base64url').slice(0, 12)

/** Where a stream of changes after a position begins. It repeats what a page of a list had already. */
export async function readSeenUntil(
  db: Db,
  seen: Seen,
  changedSince: string,
): Promise<SeenChanges> {
  const horizon = await readHorizon(db)
  const { transaction } = readPosition(changedSince, seen, horizon)
  return { epoch: horizon.epoch, next: transaction, open: [] }
}

type ReadPosition = { transaction: string; kindOfId: unknown; afterId: unknown }

function readPosition(text: string, seen: Seen, horizon: Horizon): ReadPosition {
  const [epoch, transaction, kindOfId, afterId] = parsePosition(text)
  if (typeof epoch !== 'string' || !IS_OF_TYPE.transaction(transaction)) throw NOT_A_POSITION
  const isAhead = BigInt(transaction) > BigInt(horizon.transaction)
  if (epoch !== epochOf(seen, horizon) || isAhead) throw STALE
  return { transaction, kindOfId, afterId }
}

function withinList(
  { transaction, kindOfId, afterId }: ReadPosition,
  kind: string,
  idType: PositionType,
): ChangePosition {
  if (kindOfId === undefined) return { transaction }
  if (kindOfId !== kind) {
    throw invalid([{ pointer: POINTER, detail: 'is a position within another list' }])
  }
  if (!IS_OF_TYPE[idType](afterId)) throw NOT_A_POSITION
  return { transaction, afterId }
}

const POINTER = '?changedSince'

const NOT_A_POSITION = invalid([{ pointer: POINTER, detail: 'is not a position' }])

const STALE = new RequestError(
  410,
  'The position in changedSince is of no use any more. Read the whole list again without changedSince.',
  undefined,
  {},
  'stale-position',
)

function parsePosition(text: string): unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}
