import { countDecimals, roundAmount } from '../../contract/currency-digits.ts'
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
  return columns.map(
    ({ type, currency, currencyIn, fixedWords, isDate, emptyAs, labelInHours }) => {
      const currencyAt = columns.findIndex(({ name }) => name === currencyIn)
      return (cell: Cell, row: Cell[]): string => {
        if (type === 'dateTime' && typeof cell === 'number') return words.writeCellDate(local(cell))
        if (typeof cell === 'string' && (type === 'date' || isDate))
          return words.writeCellDate(cell)
        if (cell === null && emptyAs) return words.say(emptyAs)
        if (typeof cell === 'string') return sayCell(cell, fixedWords, words)
        if (labelInHours && cell !== null) return writeMinutes(cell, words.locale)
        const own = currencyAt < 0 ? currency : String(row[currencyAt])
        return writeCell(type, cell, own ?? null, words.locale)
      }
    },
  )
}

/** The columns with the labels for hours and minutes. */
export const labelledInHours = (columns: Column[]): Column[] =>
  columns.map((column) => ({ ...column, label: column.labelInHours ?? column.label }))

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
  if (type === 'decimal') return oneDecimal(locale).format(cell)
  return type === 'percent' ? `${oneDecimal(locale).format(cell)} %` : whole(locale).format(cell)
}

/** The total of a column. Amounts in several currencies are listed, each on a line, not added. */
export function writeTotal(
  { type, currency, labelInHours }: Column,
  total: Totals[string] | undefined,
  locale: string,
): string {
  if (labelInHours && typeof total === 'number') return writeMinutes(total, locale)
  if (total === null || typeof total !== 'object') {
    return writeCell(type, total ?? null, currency ?? null, locale)
  }
  return Object.entries(total)
    .map(([one, amount]) => `${one}\u00a0${decimalsOf(one, locale).format(amount)}`)
    .join('\n')
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

/** `168 h 27 min`: hours and minutes, which do not wrap. */
function writeMinutes(exactMinutes: number, locale: string) {
  const minutes = Math.round(exactMinutes)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest}\u00a0min`
  const written = `${whole(locale).format(hours)}\u00a0h`
  return rest === 0 ? written : `${written}\u00a0${rest}\u00a0min`
}

/** From ten hours on, minutes are rounded away. */
function writeDuration(exactMinutes: number, locale: string) {
  const minutes = Math.round(exactMinutes)
  if (minutes >= 600) return `${whole(locale).format(Math.round(minutes / 60))} h`
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

export type ChangeText = { text: string; trend: 'good' | 'bad' | 'even' }

/** How a figure changed since the range that it is compared with. */
export function writeChange(
  kpi: KpiResult,
  { comparison, compareWith }: Pick<ReportResult, 'comparison' | 'compareWith'>,
  words: Words,
): ChangeText {
  const { valueToDate: value, previous, unit } = kpi
  const { say } = words
  if (compareWith === 'NONE') return { text: '', trend: 'even' }
  if (!comparison) return { text: say('in the future'), trend: 'even' }
  const isSame = value === kpi.value || kpi.words !== undefined
  const soFar = isSame
    ? ''
    : `${say('{figure} so far', { figure: writeFigure({ ...kpi, value }, words) })}, `
  if (previous === null || !comparison.isLikeForLike) {
    return { text: `${soFar}${say('no earlier figure')}`, trend: 'even' }
  }
  if (value === null) return { text: say('nothing to compare'), trend: 'even' }
  const delta = differenceOf(value, previous, kpi)
  const trend = delta === 0 || !kpi.trend ? 'even' : kpi.trend === 'better' ? 'good' : 'bad'
  if (delta === 0) return { text: `${soFar}${say('as before')}`, trend }
  const phrases = CHANGES[comparison.until ? 'point' : 'period']
  const period = namePeriod(comparison, words)
  const change = describeChange({ value, previous, delta, unit, period }, phrases, words)
  return { text: `${soFar}${change}`, trend }
}

/** Amounts of money have the digits of their currency, other figures one digit. */
export const differenceOf = (
  value: number,
  previous: number,
  { unit, currency }: Pick<KpiResult, 'unit' | 'currency'>,
) =>
  unit === 'money'
    ? roundAmount(value - previous, currency)
    : Math.round((value - previous) * 10) / 10

type Phrases = Record<'points' | 'fromNothing' | 'times' | 'share', string>

/** Complete phrases, because their grammar differs between languages. */
export const CHANGES: Record<'period' | 'point', Phrases> = {
  period: {
    points: '{change} pt vs. {period}',
    fromNothing: 'from 0 in {period}',
    times: '{times} times {period}',
    share: '{change} % vs. {period}',
  },
  point: {
    points: '{change} pt vs. {period} to the same point',
    fromNothing: 'from 0 in {period} to the same point',
    times: '{times} times {period} to the same point',
    share: '{change} % vs. {period} to the same point',
  },
}

type Delta = { value: number; previous: number; delta: number; unit: Unit; period: string }

function describeChange(change: Delta, phrases: Phrases, { say, locale }: Words) {
  const { value, previous, delta, unit, period } = change
  const sign = delta > 0 ? '+' : '−'
  if (unit === 'percent') {
    const points = oneDecimal(locale).format(Math.abs(delta))
    return say(phrases.points, { change: `${sign}${points}`, period })
  }
  if (previous === 0) return say(phrases.fromNothing, { period })
  const times = value / previous
  if (times >= 11) {
    return say(phrases.times, { times: whole(locale).format(Math.round(times)), period })
  }
  const share = oneDecimal(locale).format(Math.abs(100 * (times - 1)))
  return say(phrases.share, { change: `${sign}${share}`, period })
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
  words: Words,
): [string, string] {
  const { say, writeDate } = words
  const label = say('Compared with')
  if (note !== null) return [label, note]
  const period = writePeriod({ startDate, endDate }, words)
  return [
    label,
    until === null
      ? period
      : say('{period}, to the same point ({until})', { period, until: writeDate(until) }),
  ]
}

type Period = { startDate: string; endDate: string }

/** `1–31 October 2026`, as the language writes it. */
export const writePeriod = (period: Period, words: Words) =>
  formatRange(period, words, { day: 'numeric', month: 'long', year: 'numeric' })

/** A month or a year by its name, other days as short as possible: `October 2026`, `5–11 Oct`. */
export function namePeriod({ startDate, endDate }: Period, words: Words) {
  const [first, next] = [startDate, Temporal.PlainDate.from(endDate).add({ days: 1 }).toString()]
  const begin = Temporal.PlainDate.from(first)
  if (next === begin.add({ months: 1 }).toString() && begin.day === 1) {
    return begin.toLocaleString(dateLocale(words), { month: 'long', year: 'numeric' })
  }
  if (next === begin.add({ years: 1 }).toString() && begin.dayOfYear === 1)
    return String(begin.year)
  return formatRange({ startDate, endDate }, words, { day: 'numeric', month: 'short' })
}

function formatRange(
  { startDate, endDate }: Period,
  words: Words,
  options: Intl.DateTimeFormatOptions,
) {
  const format = new Intl.DateTimeFormat(dateLocale(words), { ...options, timeZone: 'UTC' })
  const [begin, end] = [startDate, endDate].map((day) => Date.parse(`${day}T00:00:00Z`))
  // Thin spaces are in no font of the PDF, and days of one month need none: `1–31 October 2026`.
  return format
    .formatRange(begin!, end!)
    .replaceAll(/[\u2009\u202f]/g, ' ')
    .replace(/^(\d{1,2}\.?) – (?=\d)/, '$1–')
}

/** English writes the day before the month, as all its regions understand it. */
const dateLocale = ({ language, locale }: Words) => (language === 'en' ? 'en-GB' : locale)

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
