import pg from 'pg'
import { listsIn, toParameters, type Lists } from './parameters.ts'
import type { Sql } from './sql.ts'

/** Statements by text. Each has a name, under which a connection prepares it once. */
const prepared = new Map<string, Prepared>()
const MAX_PREPARED = 2_000

type Prepared = { name?: string; lists: Lists }

export function toQuery({ text, values }: Sql): pg.QueryConfig {
  const { lists, ...named } = prepared.get(text) ?? prepare(text)
  return { ...named, text, values: toParameters(values, lists), types: TYPES }
}

function prepare(text: string): Prepared {
  const lists = listsIn(text)
  if (prepared.size >= MAX_PREPARED) return { lists }
  const statement = { name: `s${prepared.size}`, lists }
  prepared.set(text, statement)
  return statement
}

export const TYPES = { getTypeParser }

export const unnamed = ({ text, values }: Sql): pg.QueryConfig => ({
  text,
  values: toParameters(values, listsIn(text)),
  types: TYPES,
})

const { builtins } = pg.types

/** Timestamps are read as Instants and ids as numbers, also inside arrays. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (format === 'binary') return pg.types.getTypeParser(oid, 'binary')
  return parsers[oid] ?? pg.types.getTypeParser(oid, 'text')
}

/** The server sends `2026-03-02 09:00:00.125+00`. Parsing it here is ten times as fast as `Date.parse`. */
function toInstant(text: string) {
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  const isPlain = text.charCodeAt(4) === DASH && text.endsWith('+00') && !text.startsWith('00')
  return Temporal.Instant.fromEpochMilliseconds(
    isPlain ? plainMs(text) : Date.parse(`${text.slice(0, 10)}T${text.slice(11)}:00`),
  )
}

const DASH = 45

function plainMs(text: string) {
  const digit = (at: number) => text.charCodeAt(at) - 48
  const two = (at: number) => digit(at) * 10 + digit(at + 1)
  // The fraction has up to six digits; milliseconds are the first three.
  const digits = text.length - 3 - 20
  const ms =
    (digits > 0 ? digit(20) * 100 : 0) +
    (digits > 1 ? digit(21) * 10 : 0) +
    (digits > 2 ? digit(22) : 0)
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms)
}

const INT8_ARRAY = 1016
const TIMESTAMPTZ_ARRAY = 1185

const parsers: Record<number, (text: string) => unknown> = {
  [builtins.INT8]: Number,
  [builtins.NUMERIC]: Number,
  [builtins.DATE]: (text) => text,
  [builtins.TIMESTAMPTZ]: toInstant,
  [INT8_ARRAY]: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
  [TIMESTAMPTZ_ARRAY]: (text) =>
    text === '{}' ? [] : text.slice(1, -1).replaceAll('"', '').split(',').map(toInstant),
}
