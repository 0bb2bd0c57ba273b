import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { reportObject } from './catalog.ts'
import type { Chart } from './chart.ts'
import { rangeBefore, type Order } from './order.ts'
import type { Cell, Column, Figures, KpiResult, ReportResult } from './report.ts'
import { totalled } from './totals.ts'

const ROWS_IN_A_BATCH = 1_000

/**
 * Reads a report and hands it to `use` as a stream. Figures, charts and rows come from one
 * snapshot, so that they agree whatever is booked meanwhile.
 */
export function printReport<T>(
  db: Db,
  order: Order,
  use: (result: ReportResult) => Promise<T>,
  onProgress: (rowsRead: number) => void = () => {},
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query(sql`set transaction isolation level repeatable read, read only`)
    const { report, scope } = order
    const columns = columnsOf(order)
    const kpis = await readKpis(tx, order)
    const charts: Chart[] = []
    let few: Record<string, unknown>[] | undefined
    for (const source of report.charts) {
      const rows = source.rows
        ? await tx.query(source.rows(scope))
        : (few ??= await tx.query(report.rows(scope)))
      charts.push(...source.draw(rows, scope))
    }
    const batches = few ? [few] : tx.stream<Row>(report.rows(scope), ROWS_IN_A_BATCH)
    const { rows, totals } = totalled(columns, toCells(columns, batches, onProgress))

    return use({
      report: reportObject(report, scope.businessId),
      parameters: {
        startDate: scope.startDate.toString(),
        endDate: scope.endDate.toString(),
        timeZone: scope.timeZone,
        locationId: order.locationId,
        printedTime: scope.now.epochMilliseconds,
      },
      businessName: order.businessName,
      locationName: order.locationName,
      currency: order.currency ?? null,
      kpis,
      charts,
      columns,
      rows,
      totals,
    })
  })
}

type Row = Record<string, unknown>

/** How many rows the report has, for those who wait for a long one. */
export async function countRows(db: Db, { report, scope }: Order) {
  const [counted] = await db.query<{ rows: number }>(sql`
    select count(*) as rows from (${report.rows(scope)}) counted`)
  return counted!.rows
}

function columnsOf({ report, locationId, currency }: Order): Column[] {
  return report.columns
    .filter(({ unlessOneLocation }) => !unlessOneLocation || locationId === null)
    .map((column) => (column.type === 'money' ? inCurrency(column, currency) : column))
}

/** Money names its currency; a sum over several currencies would be no sum. */
function inCurrency({ total, ...column }: Column, currency: Order['currency']): Column {
  const label = currency ? `${column.label} (${currency})` : column.label
  return { ...column, label, ...(total && currency !== undefined ? { total } : {}) }
}

async function readKpis(tx: Db, { report, scope, currency }: Order): Promise<KpiResult[]> {
  const [now] = await tx.query<Figures>(report.figures(scope))
  const [before] = await tx.query<Figures>(report.figures(rangeBefore(scope)))
  return report.kpis.map(({ name, label, unit, definition, better, value }) => {
    const cannotAdd = unit === 'money' && currency === undefined
    return {
      name,
      label,
      value: cannotAdd ? null : value(now!),
      previous: cannotAdd ? null : value(before!),
      unit,
      definition: cannotAdd
        ? `${definition} Not shown: prices are in several currencies.`
        : definition,
      better: better ?? null,
    }
  })
}

async function* toCells(
  columns: Column[],
  batches: AsyncIterable<Row[]> | Iterable<Row[]>,
  onProgress: (rowsRead: number) => void,
) {
  const names = columns.map(({ name }) => name)
  let read = 0
  for await (const batch of batches) {
    const cells = batch.map((row) => names.map((name) => toCell(row[name])))
    onProgress((read += batch.length))
    yield cells
  }
}

function toCell(value: unknown): Cell {
  if (value === undefined) throw new Error('a report’s statement lacks one of its columns')
  return value instanceof Temporal.Instant ? value.epochMilliseconds : (value as Cell)
}
