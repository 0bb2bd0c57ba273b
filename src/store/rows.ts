import type { Field } from '../contract/fields.ts'
import { toColumn } from '../contract/objects.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'

/** A row of these properties: its times are not milliseconds, as in answers. */
export type Stored<T> = {
  [P in keyof T]: P extends 'time' | `${string}Time` | 'createdDate' | 'modifiedDate'
    ? Temporal.Instant | Extract<T[P], null>
    : T[P]
}

/** A column that many rows are written to, and the property that its values are read from. */
export type Column<Row> = { property: keyof Row & string; column: string; sqlType: string }

/** Columns by property, with their types: `{ objectId: 'bigint' }` is the column `object_id`. */
export const columnsFor = <Row>(types: { [Property in keyof Row & string]?: string }) =>
  Object.entries<string | undefined>(types).map(([property, sqlType]) => ({
    property: property as keyof Row & string,
    column: toColumn(property),
    sqlType: sqlType!,
  }))

/** The columns of the fields of a contract. */
export const columnsOf = <Fields extends Record<string, Field>>(fields: Fields) =>
  columnsFor<{ [Property in keyof Fields]: unknown }>(
    Object.fromEntries(
      Object.entries(fields).map(([property, { sqlType }]) => [property, sqlType]),
    ) as { [Property in keyof Fields]: string },
  )

/**
 * The one way to write many rows: as a table `r` with these columns, to insert, update or join.
 * One array for each column; as JSON if a column is an array itself, which `unnest` would flatten.
 */
export function rowTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Sql {
  if (columns.some(({ sqlType }) => sqlType.endsWith('[]'))) {
    const types = columns.map(({ column, sqlType }) => `${column} ${sqlType}`)
    const records = rows.map((row) =>
      Object.fromEntries(columns.map(({ property, column }) => [column, row[property]])),
    )
    return sql`json_to_recordset(${JSON.stringify(records)}::json) as r (${raw(types.join(', '))})`
  }
  const arrays = columns.map(
    ({ property, sqlType }) =>
      sql`${rows.map((row) => valueOf(row[property], sqlType))}::${raw(sqlType)}[]`,
  )
  return sql`unnest(${join(arrays, ', ')}) as r (${columnList(columns)})`
}

export const insertRows = <Row>(
  table: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
) => sql`
  insert into ${raw(table)} (${columnList(columns)})
  select ${columnList(columns)} from ${rowTable(columns, rows)}`

/** Finds rows by their key, and sets all other columns. */
export function updateRows<Row>(
  table: string,
  key: readonly string[],
  columns: readonly Column<Row>[],
  rows: readonly Row[],
) {
  const set = columns.filter(({ column }) => !key.includes(column))
  return sql`
    update ${raw(table)} t
    set ${raw(set.map(({ column }) => `${column} = r.${column}`).join(', '))}
    from ${rowTable(columns, rows)}
    where ${raw(key.map((column) => `t.${column} = r.${column}`).join(' and '))}`
}

/** Who changes data, and when. */
export type By = { user: string; now: Temporal.Instant }

/** The columns of `t`, for `select` and `returning`. */
export const selectList = (columns: readonly { property: string; column: string }[]) =>
  raw(columns.map(({ property, column }) => `t.${column} as "${property}"`).join(', '))

/** The same of every row that people save. */
export const SAVED_COLUMNS = raw(`
  t.version, t.created_date as "createdDate", t.created_user as "createdUser",
  t.modified_date as "modifiedDate", t.modified_user as "modifiedUser"`)

/** Inserts a row that people save. */
export const insertSaved = <Row>(
  table: string,
  columns: readonly Column<Row>[],
  row: Row,
  { user, now }: By,
) => sql`
  insert into ${raw(table)} as t (${columnList(columns)}, created_date, created_user, modified_date, modified_user)
  select ${columnList(columns)}, ${now}, ${user}, ${now}, ${user} from ${rowTable(columns, [row])}`

/** Sets the columns of a row that people save, and `more`; the caller adds the condition. */
export const updateSaved = <Row>(
  table: string,
  columns: readonly Column<Row>[],
  row: Row,
  { user, now }: By,
  more = empty,
) => sql`
  update ${raw(table)} t
  set ${raw(columns.map(({ column }) => `${column} = r.${column}`).join(', '))},
      version = t.version + 1, modified_date = ${now}, modified_user = ${user} ${more}
  from ${rowTable(columns, [row])}`

const columnList = (columns: readonly { column: string }[]) =>
  raw(columns.map(({ column }) => column).join(', '))

function valueOf(value: unknown, sqlType: string) {
  if (sqlType === 'jsonb' && value != null) return JSON.stringify(value)
  return value instanceof Buffer ? `\\x${value.toString('hex')}` : value
}
