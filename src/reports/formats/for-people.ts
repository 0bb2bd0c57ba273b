import type { Unit } from '../chart.ts'
import type { Cell, ColumnType, KpiResult, ReportResult } from '../report.ts'

/** How cells and figures are written for people: in HTML, PDF and on the sheets' first page. */
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

/** Signs that turn the direction of what follows could make one name read as another. */
export const withoutTurns = (text: string) =>
  text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')

/** A moment as the wall clock of the zone showed it. */
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

export type Change = { text: string; mood: 'good' | 'bad' | 'even' }

/** How a figure moved since the range of equal length before it. */
export function writeChange({ value, previous, unit, better }: KpiResult): Change {
  if (previous === null) return { text: 'no earlier figure', mood: 'even' }
  if (value === null) return { text: 'nothing to compare', mood: 'even' }
  const delta = Math.round((value - previous) * 10) / 10
  const mood = delta === 0 || !better ? 'even' : delta > 0 === (better === 'more') ? 'good' : 'bad'
  if (delta === 0) return { text: 'as before', mood }
  const sign = delta > 0 ? '+' : '−'
  if (unit === 'percent') {
    return { text: `${sign}${oneDecimal.format(Math.abs(delta))} pt vs. previous period`, mood }
  }
  if (previous === 0) return { text: 'from 0 in the previous period', mood }
  const times = value / previous
  if (times >= 11)
    return { text: `${whole.format(Math.round(times))} times the previous period`, mood }
  const share = oneDecimal.format(Math.abs(100 * (times - 1)))
  return { text: `${sign}${share} % vs. previous period`, mood }
}

/** What a report is about, as it stands in its head. */
export function factsOf(
  result: Pick<ReportResult, 'parameters' | 'locationName' | 'narrowedTo'>,
): [label: string, value: string][] {
  const { parameters, locationName, narrowedTo } = result
  const { startDate, endDate, timeZone, printedTime } = parameters
  return [
    ['Location', locationName ?? 'All locations'],
    ...narrowedTo,
    ['Period', `${startDate} – ${endDate}`],
    ['Time zone', timeZone],
    ['Printed', writeMoment(printedTime, timeZone)],
  ]
}

/** `2026-10-01 08:00 CEST`. */
function writeMoment(epochMs: number, timeZone: string) {
  const names = READERS.map(
    (reader) =>
      new Intl.DateTimeFormat(reader, { timeZone, timeZoneName: 'short' })
        .formatToParts(epochMs)
        .find((part) => part.type === 'timeZoneName')!.value,
  )
  const name = names.find((name) => !/^(?:GMT|UTC)[+−-]/.test(name)) ?? names[0]
  return `${localTime(timeZone)(epochMs).slice(0, 16)} ${name}`
}

/** Each country knows the short names of the zones that it lives in; of the others it counts hours. */
const READERS = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']

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
