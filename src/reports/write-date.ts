/** Writes dates and local times of ISO form for a reader. */
export type WriteDate = (iso: string) => string

/**
 * Dates in the format of the language: `01.09.2026` in German. The same for months, days without a year and
 * local times; other texts are not changed. English keeps ISO dates, which all its regions understand.
 */
export function dateWriter(locale: string, language: string): WriteDate {
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
    return `${day}${separator}${month}${separator}${year}${time}`
  }
}

const ISO =
  /^(?:(?<year>\d{4})-(?<month>\d\d)(?:-(?<day>\d\d)(?<time> \d\d:\d\d(?::\d\d)?)?)?|(?<month>\d\d)-(?<day>\d\d))$/
