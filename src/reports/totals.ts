import { percent, type Cell, type Column, type Totals } from './report.ts'

/** Passes rows on and sums them meanwhile, so that the totals need no second query. */
export function withTotals(columns: Column[], batches: AsyncIterable<Cell[][]>) {
  const sums = columns.map(() => 0)
  const summed = columns.flatMap((column, i) => (column.total === 'sum' ? [i] : []))
  let read = 0
  let done = false

  return {
    rows: pass(),
    rowsRead: () => read,
    totals: () => {
      if (!done) throw new Error('totals are available only after all rows have been read')
      return toTotals(columns, sums)
    },
  }

  async function* pass() {
    for await (const batch of batches) {
      for (const row of batch) for (const i of summed) sums[i]! += Number(row[i] ?? 0)
      read += batch.length
      yield batch
    }
    done = true
  }
}

function toTotals(columns: Column[], sums: number[]): Totals {
  const sumOf = (name: string) => sums[columns.findIndex((column) => column.name === name)]
  return Object.fromEntries(
    columns.flatMap(({ name, total }, i): [string, number | null][] => {
      if (!total) return []
      if (total === 'sum') return [[name, toCents(sums[i]!)]]
      return [[name, percent(sumOf(total.percentOf[0]), sumOf(total.percentOf[1]))]]
    }),
  )
}

/** Removes the rounding errors of binary fractions. */
const toCents = (sum: number) => Math.round(sum * 100) / 100
