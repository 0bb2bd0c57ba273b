/** Writes dates and local times of ISO form for a reader. Other texts are not changed. */
export type WriteDate = (iso: string) => string

/**
 * Dates in the format of the language, for sentences and charts: `19 November 2025`, `01.09.2026` in German.
 * The same for months, days without a year and local times.
 */
export const dateWriter = (locale: string, language: string): WriteDate =>
  language === 'en' ? writeEnglish : cellDateWriter(locale, language)

/** Dates in the cells of a table. English keeps ISO dates, which all its regions understand. */
export function cellDateWriter(locale: string, language: string): WriteDate {
  if (language === 'en') return (iso) => iso
  const parts = new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    timeZone: 'UTC',
  }).formatToParts(0)
  const isDayFirst = parts[0]!.type === 'day'
  const separator = parts.find(({ type }) => type === 'literal')?.value ?? '.'
  if (!isDayFirst) return (iso) => iso
  // A German day without its year ends with a point.
  const end = separator === '.' ? '.' : ''
  return (iso) => {
    const found = ISO.exec(iso)
    if (!found) return iso
    const { year, month, day, time = '' } = found.groups!
    if (day === undefined) return `${month}${separator}${year}`
    if (year === undefined) return `${day}${separator}${month}${end}`
    return `${day}${separator}${month}${separator}${year} ${time}`.trimEnd()
  }
}

function writeEnglish(iso: string) {
  const found = ISO.exec(iso)
  if (!found) return iso
  const { year, month, day, time } = found.groups!
  const isWhole = year !== undefined && day !== undefined
  const name = MONTHS[isWhole ? 'long' : 'short'][Number(month) - 1]
  const date = [day && Number(day), name, year].filter(Boolean).join(' ')
  return time ? `${date}, ${time}` : date
}

/** English writes the day before the month. */
const monthNames = (month: 'long' | 'short') =>
  Array.from({ length: 12 }, (_, i) =>
    new Temporal.PlainDate(2026, i + 1, 1).toLocaleString('en-GB', { month }),
  )

const MONTHS = { long: monthNames('long'), short: monthNames('short') }

/** Whether a text is a date of `dateWriter` without a year or without a day, or a number. */
export const isShortDate = (text: string) =>
  /^[\d.:/-]+$/.test(text) || MONTHS.short.includes(text.replace(/^\d{1,2} | \d{4}$/, ''))

const ISO =
  /^(?:(?<year>\d{4})-(?<month>\d\d)(?:-(?<day>\d\d)(?: (?<time>\d\d:\d\d(?::\d\d)?))?)?|(?<month>\d\d)-(?<day>\d\d))$/
