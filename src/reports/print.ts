import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { reportObject } from './catalog/catalog.ts'
import type { Chart } from './chart.ts'
import { rangeBefore, type Order } from './order.ts'
import type { Cell, Column, Figures, KpiResult, ReportResult } from './report.ts'
import { totalled } from './totals.ts'

/** Read at once: few where they grow as they are written, more where they stay short. */
const FEW_ROWS = 500
const MANY_ROWS = 1_000

/**
 * Reads a report and hands it to `use` as a stream. Figures, charts and rows come from one
 * snapshot, so that they agree whatever is booked meanwhile.
 */
export function printReport<T>(
  db: Db,
  order: Order,
  use: (result: ReportResult) => Promise<T>,
  { rowsOnly = false, onProgress = () => {}, signal }: Reading = {},
): Promise<T> {
  return db.snapshot(async (snapshot) => {
    const tx = untilAborted(snapshot, signal)
    const { report, scope } = order
    const columns = columnsOf(order)
    // What is drawn from its own rows, or counted from them, has few.
    const isShort =
      !rowsOnly && (report.figuresOf !== undefined || report.charts.some(({ rows }) => !rows))
    const few = isShort ? await tx.query<Row>(report.rows(scope)) : undefined
    const kpis = rowsOnly ? [] : await readKpis(tx, order, few)
    const charts = rowsOnly ? [] : await readCharts(tx, order, few)
    const batches = few
      ? [few]
      : tx.stream<Row>(report.rows(scope), rowsOnly ? MANY_ROWS : FEW_ROWS)
    const { rows, totals } = totalled(columns, toCells(columns, batches, onProgress))

    signal?.throwIfAborted()
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
      narrowedTo: order.narrowedTo,
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

export type Reading = {
  /** For formats that show neither figures nor charts, which cost as much as the rows. */
  rowsOnly?: boolean
  onProgress?: (rowsRead: number) => void
  signal?: AbortSignal
}

/** A statement runs to its end; none starts after the signal has aborted. */
const untilAborted = (tx: Db, signal: AbortSignal | undefined): Db => ({
  ...tx,
  query: async (statement) => {
    signal?.throwIfAborted()
    return tx.query(statement)
  },
  async *stream(statement, batchSize) {
    for await (const batch of tx.stream<never>(statement, batchSize)) {
      signal?.throwIfAborted()
      yield batch
    }
  },
})

/** How many rows the report has, counted no further than `most`. */
export async function countRows(db: Db, { report, scope }: Order, most = 1_000_000_000) {
  const [counted] = await db.query<{ rows: number }>(sql`
    select count(*) as rows from (select from (${report.rows(scope)}) listed limit ${most}) counted`)
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

async function readKpis(tx: Db, { report, scope, currency }: Order, few: Row[] | undefined) {
  const [now] =
    few && report.figuresOf
      ? [report.figuresOf(few)]
      : await tx.query<Figures>(report.figures(scope))
  const [before] = await tx.query<Figures>(report.figures(rangeBefore(scope)))
  return report.kpis.map(({ name, label, unit, definition, better, value }): KpiResult => {
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

async function readCharts(tx: Db, { report, scope }: Order, few: Row[] | undefined) {
  const charts: Chart[] = []
  for (const source of report.charts) {
    const rows = source.rows ? await tx.query(source.rows(scope)) : few!
    charts.push(...source.draw(rows, scope))
  }
  return charts
}

async function* toCells(
  columns: Column[],
  batches: AsyncIterable<Row[]> | Iterable<Row[]>,
  onProgress: (rowsRead: number) => void,
) {
  const names = columns.map(({ name }) => name)
  let read = 0
  for await (const batch of ahead(batches)) {
    const cells = batch.map((row) => names.map((name) => toCell(row[name])))
    onProgress((read += batch.length))
    yield cells
  }
}

/** Asks for the next batch before this one is written: database and writer work side by side. */
async function* ahead<T>(batches: AsyncIterable<T> | Iterable<T>): AsyncIterable<T> {
  const source = Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : undefined
  if (!source) return yield* batches as Iterable<T>
  let next = source.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = source.next()
      // Told when it is awaited; meanwhile it must not pass for unhandled.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await source.return?.()
  }
}

function toCell(value: unknown): Cell {
  if (value === undefined) throw new Error('a report’s statement lacks one of its columns')
  return value instanceof Temporal.Instant ? value.epochMilliseconds : (value as Cell)
}
