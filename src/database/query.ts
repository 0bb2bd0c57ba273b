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

/** The server sends `2026-03-02 09:00:00.125+00`. `Date` reads it faster than Temporal. */
const toInstant = (text: string) =>
  Temporal.Instant.fromEpochMilliseconds(Date.parse(`${text.slice(0, 10)}T${text.slice(11)}:00`))

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
