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
import { wordsOf, type Words } from '../words.ts'

/** Formats the cells of a row for HTML and PDF: one function for each column. */
export function cellWriters({
  parameters,
  columns,
  locale,
}: Pick<ReportResult, 'parameters' | 'columns' | 'locale'>) {
  const local = localTime(parameters.timeZone)
  const words = wordsOf(locale)
  return columns.map(({ type, currency, currencyIn, fixedWords, isDate }) => {
    const currencyAt = columns.findIndex(({ name }) => name === currencyIn)
    return (cell: Cell, row: Cell[]): string => {
      if (type === 'dateTime' && typeof cell === 'number') return words.writeDate(local(cell))
      if (typeof cell === 'string' && (type === 'date' || isDate)) return words.writeDate(cell)
      if (typeof cell === 'string') return sayCell(cell, fixedWords, words)
      const own = currencyAt < 0 ? currency : String(row[currencyAt])
      return writeCell(type, cell, own ?? null, words.locale)
    }
  })
}

/** A text of a column with these `fixedWords`. */
export function sayCell(cell: string, fixedWords: Column['fixedWords'], words: Words) {
  if (fixedWords === 'status') return words.sayStatus(cell)
  if (fixedWords === 'reason') return words.sayReason(cell)
  if (fixedWords === true) return words.sayState(cell)
  if (!fixedWords) return cell
  const [, count = '', word = cell] = /^(\d+ )(.+)$/.exec(cell) ?? []
  return fixedWords.includes(word) ? count + words.say(word) : cell
}

function writeCell(type: ColumnType, cell: Cell, currency: string | null, locale: string): string {
  if (cell === null) return ''
  if (typeof cell === 'string') return cell
  if (type === 'money') return decimalsOf(currency, locale).format(cell)
  return type === 'percent' ? `${oneDecimal(locale).format(cell)} %` : whole(locale).format(cell)
}

/** The total of a column. Amounts in several currencies are listed, not added. */
export function writeTotal(
  { type, currency }: Column,
  total: Totals[string] | undefined,
  locale: string,
): string {
  if (total === null || typeof total !== 'object') {
    return writeCell(type, total ?? null, currency ?? null, locale)
  }
  return Object.entries(total)
    .map(([one, amount]) => `${one}\u00a0${decimalsOf(one, locale).format(amount)}`)
    .join(', ')
}

/** Numbers with the decimals of a currency: two for CHF, none for JPY. */
function decimalsOf(currency: string | null, locale: string) {
  const key = `${locale} ${currency ?? ''}`
  let format = amounts.get(key)
  if (!format) {
    const digits = countDecimals(currency)
    format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    })
    amounts.set(key, format)
  }
  return format
}
const amounts = new Map<string, Intl.NumberFormat>()

/** Cached for long lists. */
export function countDecimals(currency: string | null) {
  if (currency === null) return 2
  let decimals = decimalsKnown.get(currency)
  if (decimals === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    decimals = format.resolvedOptions().maximumFractionDigits ?? 2
    decimalsKnown.set(currency, decimals)
  }
  return decimals
}
const decimalsKnown = new Map<string, number>()

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

type Figure = Pick<KpiResult, 'value' | 'unit' | 'currency' | 'words'>

/** A figure for its tile, or its own text if it has one. */
export function writeFigure({ value, unit, currency, words: own }: Figure, words: Words): string {
  if (own) return own
  if (value === null) return '–'
  if (unit === 'percent') return `${oneDecimal(words.locale).format(value)} %`
  if (unit === 'money') return writeMoney(value, currency, words.locale)
  if (unit === 'minutes') return writeDuration(value, words.locale)
  return whole(words.locale).format(value)
}

/** From ten hours on, minutes are rounded away. */
function writeDuration(exactMinutes: number, locale: string) {
  const minutes = Math.round(exactMinutes)
  if (minutes >= 600) return `${whole(locale).format(Math.round(minutes / 60))} h`
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

export type Change = { text: string; trend: 'good' | 'bad' | 'even' }

/** How a figure changed since the range that it is compared with. */
export function writeChange(kpi: KpiResult, comparison: Comparison | null, words: Words): Change {
  const { valueToDate: value, previous, unit, better } = kpi
  const { say } = words
  if (!comparison) return { text: say('in the future'), trend: 'even' }
  const isSame = value === kpi.value || kpi.words !== undefined
  const soFar = isSame
    ? ''
    : `${say('{figure} so far', { figure: writeFigure({ ...kpi, value }, words) })}, `
  if (previous === null || !comparison.isLikeForLike) {
    return { text: `${soFar}${say('no earlier figure')}`, trend: 'even' }
  }
  if (value === null) return { text: say('nothing to compare'), trend: 'even' }
  const delta = Math.round((value - previous) * 10) / 10
  const trend = delta === 0 || !better ? 'even' : delta > 0 === (better === 'more') ? 'good' : 'bad'
  if (delta === 0) return { text: `${soFar}${say('as before')}`, trend }
  const phrases = CHANGES[comparison.until ? 'point' : 'period']
  const change = describeChange({ value, previous, delta, unit }, phrases, words)
  return { text: `${soFar}${change}`, trend }
}

type Phrases = Record<'points' | 'fromNothing' | 'times' | 'share', string>

/** Complete phrases, because their grammar differs between languages. */
export const CHANGES: Record<'period' | 'point', Phrases> = {
  period: {
    points: '{change} pt vs. the period before',
    fromNothing: 'from 0 in the period before',
    times: '{times} times the period before',
    share: '{change} % vs. the period before',
  },
  point: {
    points: '{change} pt vs. the same point before',
    fromNothing: 'from 0 at the same point before',
    times: '{times} times the same point before',
    share: '{change} % vs. the same point before',
  },
}

type Delta = { value: number; previous: number; delta: number; unit: Unit }

function describeChange(change: Delta, phrases: Phrases, { say, locale }: Words) {
  const { value, previous, delta, unit } = change
  const sign = delta > 0 ? '+' : '−'
  if (unit === 'percent') {
    const points = oneDecimal(locale).format(Math.abs(delta))
    return say(phrases.points, { change: `${sign}${points}` })
  }
  if (previous === 0) return say(phrases.fromNothing)
  const times = value / previous
  if (times >= 11) {
    return say(phrases.times, { times: whole(locale).format(Math.round(times)) })
  }
  const share = oneDecimal(locale).format(Math.abs(100 * (times - 1)))
  return say(phrases.share, { change: `${sign}${share}` })
}

type Head = Pick<
  ReportResult,
  | 'parameters'
  | 'timeZones'
  | 'locationName'
  | 'appliedFilters'
  | 'comparison'
  | 'kpis'
  | 'notes'
  | 'locale'
>

/** Location, filters, period, comparison and time zone, for the head of a report. */
export function describeScope(result: Head): [label: string, value: string][] {
  const { parameters, timeZones, locationName, appliedFilters, comparison, kpis, notes } = result
  const { startDate, endDate, timeZone, printedTime } = parameters
  const words = wordsOf(result.locale)
  const { say } = words
  // Without an earlier figure the dates would mislead.
  const isCompared =
    comparison && (comparison.note !== null || kpis.some(({ previous }) => previous !== null))
  return [
    [say('Location'), locationName ?? say('All locations')],
    ...appliedFilters,
    [say('Period'), writePeriod({ startDate, endDate }, words)],
    ...(isCompared ? [describeComparison(comparison, words)] : []),
    [
      say('Time zone'),
      timeZones.length > 1
        ? say('that of each location ({zones})', { zones: timeZones.join(', ') })
        : timeZone,
    ],
    [say('Printed'), writeMoment(printedTime, timeZone, words)],
    ...notes.map((note): [string, string] => [say('Note'), note]),
  ]
}

function describeComparison(
  { startDate, endDate, until, note }: Comparison,
  { say, writeDate }: Words,
): [string, string] {
  const label = say('Compared with')
  if (note !== null) return [label, note]
  const begin = writeDate(startDate)
  const end =
    until === null
      ? writeDate(endDate)
      : say('{until}, the same point', { until: writeDate(until) })
  return [label, begin === end ? begin : `${begin} – ${end}`]
}

/** Both days of a period. */
export const writePeriod = (
  { startDate, endDate }: { startDate: string; endDate: string },
  { writeDate }: Words,
) => `${writeDate(startDate)} – ${writeDate(endDate)}`

/** `2026-10-01 08:00 CEST`. */
function writeMoment(epochMs: number, timeZone: string, { writeDate }: Words) {
  const names = LOCALES.map(
    (locale) =>
      new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' })
        .formatToParts(epochMs)
        .find((part) => part.type === 'timeZoneName')!.value,
  )
  const name = names.find((name) => !/^(?:GMT|UTC)[+−-]/.test(name)) ?? names[0]
  return `${writeDate(localTime(timeZone)(epochMs).slice(0, 16))} ${name}`
}

/** A locale has short names only for the time zones of its country; the others are offsets. */
const LOCALES = ['en-GB', 'en-US', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA']

const formats = new Map<string, Intl.NumberFormat>()

function numbersIn(locale: string, decimals: 'whole' | 'one') {
  const key = `${locale} ${decimals}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.NumberFormat(
      locale,
      decimals === 'one'
        ? { minimumFractionDigits: 1, maximumFractionDigits: 1 }
        : { maximumFractionDigits: 2 },
    )
    formats.set(key, format)
  }
  return format
}
const whole = (locale: string) => numbersIn(locale, 'whole')
const oneDecimal = (locale: string) => numbersIn(locale, 'one')

/** How many rows a report has. */
export const writeRowCount = (rows: number, { say, locale }: Words) =>
  rows === 1 ? say('1 row.') : say('{count} rows.', { count: whole(locale).format(rows) })

const writeMoney = (value: number, currency: string | null, locale: string) =>
  currency && currency !== NO_CURRENCY
    ? new Intl.NumberFormat(locale, { style: 'currency', currency }).format(value)
    : decimalsOf(null, locale).format(value)

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
