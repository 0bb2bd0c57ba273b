import pg from 'pg'
import { toParameters } from './parameters.ts'
import type { Sql } from './sql.ts'

/** The names of statements by text: a connection prepares each once. */
const names = new Map<string, string>()
const MAX_PREPARED = 2_000

export function toQuery(statement: Sql): pg.QueryConfig {
  const { text } = statement
  const name = names.get(text) ?? `s${names.size}`
  if (names.size < MAX_PREPARED) names.set(text, name)
  return names.has(text) ? { name, ...unnamed(statement) } : unnamed(statement)
}

export const TYPES = { getTypeParser }

export const unnamed = ({ text, values }: Sql): pg.QueryConfig => ({
  text,
  values: toParameters(values),
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
