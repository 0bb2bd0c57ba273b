import type { Unit } from '../chart.ts'
import type {
  Cell,
  Column,
  ColumnType,
  Comparison,
  KpiResult,
  ReportResult,
  Totals,
} from '../report.ts'

/** Formats the cells of a row for HTML and PDF: one function for each column. */
export function cellWriters({ parameters, columns }: Pick<ReportResult, 'parameters' | 'columns'>) {
  const local = localTime(parameters.timeZone)
  return columns.map(({ type, currency, currencyIn }) => {
    const currencyAt = columns.findIndex(({ name }) => name === currencyIn)
    return (cell: Cell, row: Cell[]): string => {
      if (type === 'dateTime' && typeof cell === 'number') return local(cell)
      const own = currencyAt < 0 ? currency : String(row[currencyAt])
      return writeCell(type, cell, own ?? null)
    }
  })
}

function writeCell(type: ColumnType, cell: Cell, currency: string | null): string {
  if (cell === null) return ''
  if (typeof cell === 'string') return cell
  if (type === 'money') return decimalsOf(currency).format(cell)
  return type === 'percent' ? `${oneDecimal.format(cell)} %` : whole.format(cell)
}

/** The total of a column. Amounts in several currencies are listed, not added. */
export function writeTotal({ type, currency }: Column, total: Totals[string] | undefined): string {
  if (total === null || typeof total !== 'object') {
    return writeCell(type, total ?? null, currency ?? null)
  }
  return Object.entries(total)
    .map(([one, amount]) => `${one} ${decimalsOf(one).format(amount)}`)
    .join(', ')
}

/** Numbers with the decimals of a currency: two for CHF, none for JPY. */
function decimalsOf(currency: string | null) {
  const key = currency ?? ''
  let format = amounts.get(key)
  if (!format) {
    const digits =
      currency === null
        ? 2
        : new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
            .maximumFractionDigits
    format = new Intl.NumberFormat('en', {
      minimumFractionDigits: digits ?? 2,
      maximumFractionDigits: digits ?? 2,
    })
    amounts.set(key, format)
  }
  return format
}
const amounts = new Map<string, Intl.NumberFormat>()

/** Removes characters that change the direction of text: they can make one name look like another. */
export const removeBidiControls = (text: string) =>
  text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')

/** Formats instants as local time: `2026-10-01 08:00:00`. */
export function localTime(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  return (epochMs: number) => {
    const parts = Object.fromEntries(format.formatToParts(epochMs).map((p) => [p.type, p.value]))
    return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`
  }
}

export function writeFigure(value: number | null, unit: Unit, currency: string | null): string {
  if (value === null) return '–'
  if (unit === 'percent') return `${oneDecimal.format(value)} %`
  if (unit === 'money') return writeMoney(value, currency)
  if (unit === 'minutes') return `${whole.format(Math.round(value / 60))} h`
  return whole.format(value)
}

export type Change = { text: string; trend: 'good' | 'bad' | 'even' }

/** How a figure changed since the range that it is compared with. */
export function writeChange(kpi: KpiResult, comparison: Comparison | null): Change {
  const { valueToDate: value, previous, unit, better } = kpi
  if (!comparison) return { text: 'in the future', trend: 'even' }
  const soFar = value === kpi.value ? '' : `${writeFigure(value, unit, kpi.currency)} so far, `
  if (previous === null || !comparison.isLikeForLike) {
    return { text: `${soFar}no earlier figure`, trend: 'even' }
  }
  if (value === null) return { text: 'nothing to compare', trend: 'even' }
  const before = comparison.until ? 'the same point before' : 'the period before'
  const delta = Math.round((value - previous) * 10) / 10
  const trend = delta === 0 || !better ? 'even' : delta > 0 === (better === 'more') ? 'good' : 'bad'
  if (delta === 0) return { text: `${soFar}as before`, trend }
  const sign = delta > 0 ? '+' : '−'
  if (unit === 'percent') {
    return { text: `${soFar}${sign}${oneDecimal.format(Math.abs(delta))} pt vs. ${before}`, trend }
  }
  if (previous === 0) return { text: `${soFar}from 0 in ${before}`, trend }
  const times = value / previous
  if (times >= 11)
    return { text: `${soFar}${whole.format(Math.round(times))} times ${before}`, trend }
  const share = oneDecimal.format(Math.abs(100 * (times - 1)))
  return { text: `${soFar}${sign}${share} % vs. ${before}`, trend }
}

type Head = Pick<
  ReportResult,
  'parameters' | 'timeZones' | 'locationName' | 'appliedFilters' | 'comparison' | 'notes'
>

/** Location, filters, period, comparison and time zone, for the head of a report. */
export function describeScope(result: Head): [label: string, value: string][] {
  const { parameters, timeZones, locationName, appliedFilters, comparison, notes } = result
  const { startDate, endDate, timeZone, printedTime } = parameters
  return [
    ['Location', locationName ?? 'All locations'],
    ...appliedFilters,
    ['Period', `${startDate} – ${endDate}`],
    ...(comparison ? [describeComparison(comparison)] : []),
    [
      'Time zone',
      timeZones.length > 1 ? `that of each location (${timeZones.join(', ')})` : timeZone,
    ],
    ['Printed', writeMoment(printedTime, timeZone)],
    ...notes.map((note): [string, string] => ['Note', note]),
  ]
}

function describeComparison({ startDate, endDate, until, note }: Comparison): [string, string] {
  if (note !== null) return ['Compared with', note]
  const end = until === null ? endDate : `${until}, the same point`
  return ['Compared with', startDate === end ? startDate : `${startDate} – ${end}`]
}

/** `2026-10-01 08:00 CEST`. */
function writeMoment(epochMs: number, timeZone: string) {
  const names = LOCALES.map(
    (locale) =>
      new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })
        .formatToParts(epochMs)
        .find((part) => part.type === 'timeZoneName')!.value,
  )
  const name = names.find((name) => !/^(?:GMT|UTC)[+−-]/.test(name)) ?? names[0]
  return `${localTime(timeZone)(epochMs).slice(0, 16)} ${name}`
}

/** A locale has short names only for the time zones of its country; the others are offsets. */
const LOCALES = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const oneDecimal = new Intl.NumberFormat('en', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})

const writeMoney = (value: number, currency: string | null) =>
  currency && currency !== NO_CURRENCY
    ? new Intl.NumberFormat('en', { style: 'currency', currency }).format(value)
    : decimalsOf(null).format(value)

/** A price that was stored without a currency. */
const NO_CURRENCY = 'XXX'

/** Spreadsheets execute a text that starts like this, some also after blanks. */
export const looksLikeFormula = (text: string) =>
  /^\s*[=+\-@＝＋－＠]|^[\t\r]/.test(text) && !isPhoneNumber(text)

/**
 * A phone number is not a formula if it has no operators, or if two of its numbers are separated by a
 * blank only. `+1-2` is calculated.
 */
const isPhoneNumber = (text: string) =>
  /^\+\d[\d .()/-]*$/.test(text) && (!/[/-]/.test(text) || /\d\)? \(?\d/.test(text))
