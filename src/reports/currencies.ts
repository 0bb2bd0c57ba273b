import { roundAmount } from '../contract/currency-digits.ts'
import type { Db } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { appointmentRows, NO_CURRENCY } from './catalog/conditions.ts'
import { trendOf } from './chance.ts'
import type { Chart } from './chart.ts'
import { inCurrency } from './measures.ts'
import type { Words } from './words.ts'
import type { ChartSource, Column, Figures, Kpi, KpiResult, Report, Scope } from './report.ts'

/** The currencies of the prices in these ranges, in the order of their names. */
export async function findCurrencies(
  db: Db,
  { prices = appointmentRows }: Pick<Report, 'prices'>,
  scopes: Scope[],
): Promise<string[]> {
  const found = new Set<string>()
  for (const scope of scopes) {
    const currencies = await db.query<{ currency: string }>(sql`
      select distinct a.currency from (${prices(scope)}) a where a.price is not null`)
    for (const { currency } of currencies) found.add(currency)
  }
  return [...found].toSorted()
}

/** The currency of all prices; null if there are several, or none is named. */
export const onlyCurrency = (currencies: string[]) =>
  currencies.length === 1 && currencies[0] !== NO_CURRENCY ? currencies[0]! : null

/** Prices in several currencies are never added: a column of sums becomes one for each. */
export function splitColumns(columns: Column[], currencies: string[]): Column[] {
  const only = onlyCurrency(currencies)
  return columns.flatMap((column) => {
    if (column.ifSeveralCurrencies) return currencies.length > 1 ? [column] : []
    if (column.type !== 'money') return [column]
    if (currencies.length > 1) {
      if (column.perCurrency) return currencies.map((currency) => partOf(column, currency))
      return [column.currencyIn ? { ...column, emptyAs: UNKNOWN } : column]
    }
    const { currencyIn, ...whole } = column
    // Without any price, an empty column says enough.
    const price = currencyIn && currencies.length > 0 ? { ...whole, emptyAs: UNKNOWN } : whole
    return [only ? { ...price, label: `${column.label} (${only})`, currency: only } : price]
  })
}

/** A price that is not known: the appointment was imported without one, or its service has none. */
const UNKNOWN = 'unknown'

const partOf = (column: Column, currency: string): Column => ({
  ...column,
  name: `${column.name}${currency}`,
  label: `${column.label} (${currency})`,
  currency,
  partOf: column.name,
})

export type KpiFigures = {
  current: Figures
  toDate: Figures | undefined
  previous: Figures | undefined
}

/** The results of a figure: one, or one for each currency. */
export function kpiResults(
  kpi: Kpi,
  figures: KpiFigures,
  { currencies, ...scope }: Scope,
  words: Words,
  days: { now: number; before: number },
) {
  const { name, label, unit, definition, better } = kpi
  const isAhead = Temporal.Instant.compare(scope.from, scope.now) > 0
  const described = kpi.describe?.(figures.current, words)
  const resultOf = (currency: string | null): KpiResult => {
    const read = (source: Figures | undefined) => {
      if (!source) return null
      const isSplit = unit === 'money' && currencies.length > 1
      const value = kpi.value(isSplit ? inCurrency(source, currency!, currencies) : source)
      return value !== null && unit === 'money' ? roundAmount(value, currency) : value
    }
    const isUnknown = kpi.tense === 'past' && isAhead
    const value = isUnknown ? null : read(figures.current)
    return {
      name,
      label: currency && currencies.length > 1 ? `${label} (${currency})` : label,
      value,
      // In a past range nothing is booked ahead, so there is no value to compare with.
      previous: kpi.tense === 'future' || kpi.isNotComparable ? null : read(figures.previous),
      unit,
      valueToDate: figures.toDate && kpi.tense !== 'future' ? read(figures.toDate) : value,
      currency,
      definition,
      better: better ?? null,
      trend: trendIn(currency),
      ...(described === undefined ? {} : { words: described }),
    }
  }
  /** How many prices are in one of several currencies is not known, so sums of them have no trend. */
  const trendIn = (currency: string | null) => {
    const { current, toDate = current, previous } = figures
    const isSplit = unit === 'money' && currencies.length > 1
    if (!previous || kpi.isNotComparable || kpi.tense === 'future' || isAhead) return null
    if (!isSplit) return trendOf(kpi, { now: toDate, before: previous, days })
    if (kpi.measure) return null
    const [now, before] = [toDate, previous].map((one) => inCurrency(one, currency!, currencies))
    return trendOf(kpi, { now: now!, before: before!, days })
  }
  if (unit !== 'money') return [resultOf(null)]
  return currencies.length > 1 ? currencies.map(resultOf) : [resultOf(onlyCurrency(currencies))]
}

/** Draws a chart of money once for each currency. */
export function drawInCurrencies(
  { draw }: ChartSource,
  rows: Record<string, unknown>[],
  scope: Scope,
): Chart[] {
  const { currencies } = scope
  const only = onlyCurrency(currencies)
  if (currencies.length < 2) {
    return draw(rows, scope).map((chart) =>
      only && isOfMoney(chart) ? { ...chart, currency: only } : chart,
    )
  }
  const others = draw(rows, scope).filter((chart) => !isOfMoney(chart))
  const ofMoney = currencies.flatMap((currency) =>
    draw(
      rows.map((row) => inCurrency(row, currency, currencies)),
      scope,
    )
      .filter(isOfMoney)
      .map((chart) => ({
        ...chart,
        name: `${chart.name}${currency}`,
        title: `${chart.title} (${currency})`,
        currency,
      })),
  )
  return [...others, ...ofMoney]
}

export const isOfMoney = (chart: Chart) => chart.kind !== 'heatmap' && chart.unit === 'money'
