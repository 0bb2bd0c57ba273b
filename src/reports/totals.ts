import { roundAmount } from '../contract/currency-digits.ts'
import { percent, type Cell, type Column, type Totals } from './report.ts'

/** Passes rows on and sums them meanwhile, so that the totals need no second query. */
export function withTotals(columns: Column[], batches: AsyncIterable<Cell[][]>) {
  const sums = columns.map(() => new Map<string, number>())
  const summed = columns.flatMap(({ total, currencyIn }, i) =>
    total === 'sum'
      ? [{ i, currencyAt: columns.findIndex(({ name }) => name === currencyIn) }]
      : [],
  )
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
      for (const row of batch) {
        for (const { i, currencyAt } of summed) {
          if (row[i] === null) continue
          const key = currencyAt < 0 ? '' : String(row[currencyAt])
          sums[i]!.set(key, (sums[i]!.get(key) ?? 0) + Number(row[i]))
        }
      }
      read += batch.length
      yield batch
    }
    done = true
  }
}

function toTotals(columns: Column[], sums: Map<string, number>[]): Totals {
  const sumOf = (names: string | string[]) =>
    [names]
      .flat()
      .map((name) => sums[columns.findIndex((column) => column.name === name)]?.get('') ?? 0)
      .reduce((a, b) => a + b, 0)
  return Object.fromEntries(
    columns.flatMap(
      ({ name, total, type, currency, currencyIn }, i): [string, Totals[string]][] => {
        if (!total) return []
        if (total !== 'sum') {
          const [part, whole, without = []] = total.percentOf
          return [[name, percent(sumOf(part), sumOf(whole) - sumOf(without))]]
        }
        const bySeveral = columns.some((column) => column.name === currencyIn)
        if (!bySeveral) {
          const sum = sums[i]!.get('') ?? 0
          return [[name, type === 'money' ? roundAmount(sum, currency ?? null) : roundSum(sum)]]
        }
        const amounts = [...sums[i]!].map(([one, sum]) => [one, roundAmount(sum, one)])
        return [[name, Object.fromEntries(amounts.toSorted())]]
      },
    ),
  )
}

/** Removes the rounding errors of binary fractions. */
const roundSum = (sum: number) => Math.round(sum * 100) / 100
