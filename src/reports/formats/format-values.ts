import type { Unit } from '../chart.ts'
import type { Cell, ColumnType, KpiResult, ReportResult } from '../report.ts'

/** Formats cells for HTML and PDF. */
export function cellWriter({ parameters }: Pick<ReportResult, 'parameters'>) {
  const local = localTime(parameters.timeZone)
  return (type: ColumnType, cell: Cell): string => {
    if (cell === null) return ''
    if (typeof cell === 'string') return cell
    switch (type) {
      case 'dateTime':
        return local(cell)
      case 'money':
        return twoDecimals.format(cell)
      case 'percent':
        return `${oneDecimal.format(cell)} %`
      default:
        return whole.format(cell)
    }
  }
}

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

/** How a figure changed since the previous range of the same length. */
export function writeChange({ value, previous, unit, better }: KpiResult): Change {
  if (previous === null) return { text: 'no earlier figure', trend: 'even' }
  if (value === null) return { text: 'nothing to compare', trend: 'even' }
  const delta = Math.round((value - previous) * 10) / 10
  const trend = delta === 0 || !better ? 'even' : delta > 0 === (better === 'more') ? 'good' : 'bad'
  if (delta === 0) return { text: 'as before', trend }
  const sign = delta > 0 ? '+' : '−'
  if (unit === 'percent') {
    return { text: `${sign}${oneDecimal.format(Math.abs(delta))} pt vs. previous period`, trend }
  }
  if (previous === 0) return { text: 'from 0 in the previous period', trend }
  const times = value / previous
  if (times >= 11)
    return { text: `${whole.format(Math.round(times))} times the previous period`, trend }
  const share = oneDecimal.format(Math.abs(100 * (times - 1)))
  return { text: `${sign}${share} % vs. previous period`, trend }
}

/** Location, filters, period and time zone, for the head of a report. */
export function describeScope(
  result: Pick<ReportResult, 'parameters' | 'locationName' | 'appliedFilters'>,
): [label: string, value: string][] {
  const { parameters, locationName, appliedFilters } = result
  const { startDate, endDate, timeZone, printedTime } = parameters
  return [
    ['Location', locationName ?? 'All locations'],
    ...appliedFilters,
    ['Period', `${startDate} – ${endDate}`],
    ['Time zone', timeZone],
    ['Printed', writeMoment(printedTime, timeZone)],
  ]
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
const twoDecimals = new Intl.NumberFormat('en', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})

function writeMoney(value: number, currency: string | null) {
  const wholeUnits = { maximumFractionDigits: 0 }
  if (!currency) return new Intl.NumberFormat('en', wholeUnits).format(value)
  return new Intl.NumberFormat('en', { style: 'currency', currency, ...wholeUnits }).format(value)
}

/** Spreadsheets execute a text that starts like this, some also after blanks. */
export const looksLikeFormula = (text: string) => /^\s*[=+\-@＝＋－＠]|^[\t\r]/.test(text)
