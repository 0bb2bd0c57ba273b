import type { DimensionName } from '../contract/report.ts'
import { empty, join, raw, sql, type Sql } from '../database/sql.ts'
import { appointmentRows, classRows } from './catalog/conditions.ts'
import { MEASURES, measureColumn, selectCells, selectMeasures } from './measures.ts'
import type { Column, Groups, MeasureName, Report, ReportSubject, Scope } from './report.ts'
import { currentStep, stepsOf, type Step } from './time-steps.ts'

/** A property that lines can be grouped by: a key of the rows, and the columns that show it. */
type Dimension = {
  columns: Column[]
  /** The key in terms of `appointmentRows` or `classRows`, as text. */
  key: string
  /** The table with the name of the key. */
  join?: (key: string, scope: Scope) => Sql
  /** One expression for each column. */
  select: (key: string) => string[]
  order: (key: string) => string
  /** All keys of the range, so that a step without appointments has a line too. */
  keys?: (scope: Scope) => string[]
}

/** The line of objects without staff, location, service or client. */
const NO_NAME = 'None'

const named = (
  name: string,
  label: string,
  { table, id, person = false }: { table: string; id: string; person?: boolean },
): Dimension => {
  const alias = `by_${table}`
  return {
    columns: [{ name, label, type: 'text', width: 20, fixedWords: [NO_NAME] }],
    key: `f.${id}::text`,
    join: (key, { businessId }) => sql`
      left join ${raw(table)} ${raw(alias)}
        on ${raw(alias)}.business_id = ${businessId} and ${raw(alias)}.${raw(id)} = ${raw(key)}::bigint`,
    select: () => [
      person
        ? `coalesce(${alias}.first_name || ' ' || ${alias}.last_name, '${NO_NAME}')`
        : `coalesce(${alias}.name, '${NO_NAME}')`,
    ],
    order: (key) =>
      person
        ? `${alias}.last_name collate name_order, ${alias}.first_name collate name_order, ${key}::bigint`
        : `${alias}.name collate name_order, ${key}::bigint`,
  }
}

const stepped = (
  step: 'day' | 'week' | 'month',
  columns: Column[],
  select: Dimension['select'],
) => ({
  columns,
  key: `to_char(date_trunc('${step}', f.local_start), 'YYYY-MM-DD')`,
  select,
  order: (key: string) => key,
  keys: (scope: Scope) => stepsOf(scope, step).map(String),
})

const DIMENSIONS: Record<DimensionName, Dimension> = {
  staff: named('staff', 'Staff', { table: 'professional', id: 'professional_id', person: true }),
  location: named('location', 'Location', { table: 'location', id: 'location_id' }),
  service: named('service', 'Service', { table: 'reason', id: 'reason_id' }),
  client: named('client', 'Client', { table: 'client', id: 'client_id', person: true }),
  day: stepped(
    'day',
    [
      { name: 'date', label: 'Date', type: 'date', width: 10 },
      { name: 'weekday', label: 'Weekday', type: 'text', width: 7, fixedWords: true },
    ],
    (key) => [key, `to_char(${key}::date, 'Dy')`],
  ),
  week: stepped('week', [{ name: 'week', label: 'Week from', type: 'date', width: 10 }], (key) => [
    key,
  ]),
  month: stepped(
    'month',
    [{ name: 'month', label: 'Month', type: 'text', width: 8, isDate: true }],
    (key) => [`left(${key}, 7)`],
  ),
  weekday: {
    columns: [{ name: 'weekday', label: 'Weekday', type: 'text', width: 10, fixedWords: true }],
    key: `extract(isodow from f.local_start)::text`,
    // 1 January 2024 is a Monday.
    select: (key) => [`trim(to_char(date '2023-12-31' + ${key}::int, 'Day'))`],
    order: (key) => key,
    keys: () => ['1', '2', '3', '4', '5', '6', '7'],
  },
}

/** Classes have several clients, and invitations belong to no location, staff or service. */
const UNGROUPED: Partial<Record<ReportSubject, DimensionName[]>> = {
  classes: ['client'],
  invitations: ['location', 'staff', 'service'],
}

export const canGroupBy = ({ about, measures, groups }: Report, dimension: DimensionName) =>
  (measures !== undefined || groups !== undefined) && !UNGROUPED[about]?.includes(dimension)

/** The same report with one line for each group. Its figures and charts stay. */
export function groupReport(report: Report, dimensions: DimensionName[]): Report {
  const { newPageFor: _, drillDown, ...rest } = report
  return {
    ...rest,
    columns: groupedColumns(dimensions, report),
    rows: (scope) => groupedRows(scope, report, dimensions),
    charts: report.charts.filter(({ rows }) => rows),
    ...(drillDown ? { drillDown: { ...drillDown, keys: () => dimensions } } : {}),
  }
}

/** A day also has a weekday column, which must not be repeated. */
export function groupedColumns(
  dimensions: DimensionName[],
  { measures = [], groups }: Pick<Report, 'measures' | 'groups'>,
): Column[] {
  const keys = dimensions.flatMap((name) => DIMENSIONS[name].columns)
  const unique = keys.filter(({ name }, i) => keys.findIndex((key) => key.name === name) === i)
  return [...unique, ...(groups?.columns ?? measures.map((measure) => measureColumn(measure)))]
}

/** One line for each group, from the rows that the report is about. */
export function groupedRows(
  scope: Scope,
  { about, measures = [], groups }: Pick<Report, 'about' | 'measures' | 'groups'>,
  dimensions: DimensionName[],
): Sql {
  if (groups) return ownLines(scope, groups, dimensions)
  const keys = dimensions.map((_, i) => `g${i + 1}`)
  const all = dimensions.map((name) => DIMENSIONS[name])
  const { shown, joins, order } = showKeys(scope, all, keys)
  const steps = all.length === 1 ? all[0]!.keys?.(scope) : undefined
  const source = steps
    ? sql`unnest(${steps}::text[]) as s (g1) left join grouped using (g1)`
    : sql`grouped`
  return sql`
    with counted as (${countedBy(scope, about, all)}),
    grouped as (
      select ${raw(keys.join(', '))}, ${selectMeasures(measures, scope)}
      from counted group by ${raw(keys.join(', '))}
    )
    select ${shown}, ${join(cellsOf(measures, dimensions, scope), ', ')}, ${lineKeys(dimensions, keys)}
    from ${source} ${joins}
    order by ${order}`
}

/** One line for each group, with the cells that the report calculates itself. */
function ownLines(scope: Scope, { rows, cells }: Groups, dimensions: DimensionName[]): Sql {
  const keys = dimensions.map((_, i) => `g${i + 1}`)
  const all = dimensions.map((name) => DIMENSIONS[name])
  const { shown, joins, order } = showKeys(scope, all, keys)
  const steps = all.length === 1 ? stepsUntilNow(scope, dimensions[0]!) : undefined
  const source = steps
    ? sql`unnest(${steps}::text[]) as s (g1) left join counted f using (g1)`
    : sql`counted f`
  return sql`
    with counted as (
      select ${raw(all.map(({ key }, i) => `${key} as ${keys[i]}`).join(', '))}, f.*
      from (${rows(scope)}) f
    ),
    grouped as (
      select ${raw(keys.join(', '))}, ${cells(scope)}
      from ${source} group by ${raw(keys.join(', '))}
    )
    select ${shown}, grouped.*, ${lineKeys(dimensions, keys)} from grouped ${joins}
    order by ${order}`
}

/** The keys of a line, for its objects. */
const lineKeys = (dimensions: DimensionName[], keys: string[]) =>
  raw(dimensions.map((name, i) => `${keys[i]} as "key_${name}"`).join(', '))

/** Such a report counts past events, so future steps have no line. */
function stepsUntilNow(scope: Scope, name: DimensionName) {
  const keys = DIMENSIONS[name].keys?.(scope)
  if (!isStep(name)) return keys
  const current = currentStep(scope, name).toString()
  return keys?.filter((key) => key <= current)
}

/** The SQL that shows the keys of groups: columns, joins and order. */
function showKeys(scope: Scope, dimensions: Dimension[], keys: string[]) {
  const shown = dimensions.flatMap((dimension, i) =>
    dimension.select(keys[i]!).map((text, at) => `${text} as "${dimension.columns[at]!.name}"`),
  )
  return {
    shown: raw([...new Set(shown)].join(', ')),
    joins: join(
      dimensions.map((dimension, i) => dimension.join?.(keys[i]!, scope) ?? empty),
      ' ',
    ),
    order: raw(dimensions.map((dimension, i) => dimension.order(keys[i]!)).join(', ')),
  }
}

/** Appointments with equal outcome and price are counted first: cheaper than adding all prices. */
function countedBy(scope: Scope, about: Report['about'], dimensions: Dimension[]): Sql {
  const keys = raw(dimensions.map(({ key }, i) => `${key} as g${i + 1}`).join(', '))
  if (about === 'classes') return sql`select ${keys}, f.* from (${classRows(scope)}) f`
  const places = Array.from({ length: dimensions.length + 3 }, (_, i) => i + 1).join(', ')
  return sql`
    select ${keys}, f.outcome, f.price, f.currency, count(*) as n, sum(f.minutes) as minutes
    from (${appointmentRows(scope)}) f
    group by ${raw(places)}`
}

/** A future step has no revenue, and a past step has nothing ahead: such cells are empty, not zero. */
function cellsOf(measures: MeasureName[], dimensions: DimensionName[], scope: Scope): Sql[] {
  const step = dimensions.find(isStep)
  if (!step) return selectCells(measures, scope)
  const key = raw(`g${dimensions.indexOf(step) + 1}`)
  const current = currentStep(scope, step).toString()
  return selectCells(measures, scope, (value, measure) => {
    const { tense } = MEASURES[measure]
    if (!tense) return value
    const isUnknown = tense === 'past' ? sql`${key} > ${current}` : sql`${key} < ${current}`
    return sql`case when ${isUnknown} then nullif(${value}, 0) else ${value} end`
  })
}

const isStep = (name: DimensionName): name is Step =>
  name === 'day' || name === 'week' || name === 'month'
