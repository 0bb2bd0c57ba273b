import type { ReportFormat } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { invalid } from '../errors.ts'
import type { Order } from './order.ts'
import { countRows } from './print.ts'

/** More than anybody reads on paper; more than a sheet can hold. */
const MOST_ROWS: Partial<Record<ReportFormat, number>> = {
  pdf: 50_000,
  html: 50_000,
  xlsx: 1_000_000,
}

/** A report that its format cannot hold is refused before it is begun. */
export async function refuseTooLong(
  db: Db,
  order: Order,
  format: ReportFormat,
  limits = MOST_ROWS,
) {
  const most = limits[format]
  if (most === undefined) return
  if ((await countRows(db, order, most + 1)) <= most) return
  const detail = `${format} holds at most ${most.toLocaleString('en')} rows, and these are more: take csv, or a shorter range`
  throw invalid([{ pointer: '?format', detail }])
}
