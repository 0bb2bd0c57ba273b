import { empty, join, raw, sql, type Sql } from '../../database/sql.ts'
import type { Column, Scope } from '../report.ts'
import { currencyOfPrice, inOrder, joinNames } from './conditions.ts'

/** The shared columns and SQL of reports that list appointments, and other objects with their names. */

const CELLS = {
  date: {
    column: { label: 'Date', type: 'date', width: 10 },
    cell: `to_char(a.local_start, 'YYYY-MM-DD')`,
  },
  time: {
    column: { label: 'Time', type: 'time', width: 5 },
    cell: `to_char(a.local_start, 'HH24:MI')`,
  },
  client: {
    column: { label: 'Client', type: 'text', width: 17 },
    cell: `cl.first_name || ' ' || cl.last_name`,
  },
  phone: { column: { label: 'Phone', type: 'text', width: 14 }, cell: 'cl.phone' },
  emailAddress: {
    column: { label: 'Email', type: 'text', width: 22 },
    cell: 'cl.email_address',
  },
  service: { column: { label: 'Service', type: 'text', width: 15 }, cell: 'r.name' },
  staff: {
    column: { label: 'Staff', type: 'text', width: 15 },
    cell: `p.first_name || ' ' || p.last_name`,
  },
  location: {
    column: { label: 'Location', type: 'text', width: 12, unlessOneLocation: true },
    cell: 'l.name',
  },
  status: {
    column: { label: 'Status', type: 'text', width: 10, fixedWords: 'status' },
    cell: 'coalesce(s.label, a.status)',
  },
  minutes: { column: { label: 'Min', type: 'minutes', width: 5, total: 'sum' }, cell: 'a.minutes' },
} as const

type CellName = keyof typeof CELLS

export const listColumns = (names: readonly CellName[]): Column[] =>
  names.map((name) => ({ name, ...CELLS[name].column }))

/** The cells of these columns; `joinNames` joins their tables. */
export const cellsOf = (names: readonly CellName[]) =>
  join(
    names.map((name) => raw(`${CELLS[name].cell} as "${name}"`)),
    ', ',
  )

/** The price of each appointment, with its total. */
export const priceColumns = (others: Partial<Column> = {}): Column[] => [
  {
    name: 'price',
    label: 'Price',
    type: 'money',
    width: 8,
    total: 'sum',
    currencyIn: 'currency',
    ...others,
  },
  { name: 'currency', label: 'Currency', type: 'text', width: 5, ifSeveralCurrencies: true },
]

type Listed = {
  names: readonly CellName[]
  /** The cells of the report's own columns. */
  others?: Sql
  /** The appointments `a`. */
  from: Sql
  where?: Sql
}

/** One row for each appointment, in the order of their days, with its price and its key. */
export const listAppointments = (
  { names, others, from, where = raw('true') }: Listed,
  scope: Scope,
) => sql`
  select ${cellsOf(names)} ${others ? sql`, ${others}` : empty}, a.price, ${currencyOfPrice}, a.calendar_id as "key_objectId"
  from (${from}) a
  ${joinNames('a', ['client', 'reason', 'professional', 'location'], scope)}
  left join status s on (s.business_id, s.object_type, s.status) = (${scope.businessId}, 'CALENDAR', a.status)
  where ${where}
  order by ${inOrder('a', 'calendar_id', scope)}`
