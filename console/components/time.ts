import { useSession } from '../api/session.ts'
import { currentLocale, textOr } from '../texts/translate.ts'
import { useChosenTimeZone } from './chosen-time-zone.ts'
import { addDays, clockAt, dayAt, startOfDay } from './days.ts'

/** Formats moments in one time zone. */
export type TimeFormat = ReturnType<typeof createFormat>

/** In the time zone of the business, unless the user has chosen another one. */
export function useTimeFormat(): TimeFormat {
  const { timeZone } = useSession().business
  return formatIn(useChosenTimeZone() ?? timeZone)
}

/** For days as the service counts them. */
export const useBusinessTimeFormat = () => formatIn(useSession().business.timeZone)

const formats = new Map<string, TimeFormat>()

/** Cached by language and time zone, because every row of a list calls it. */
export function formatIn(timeZone: string): TimeFormat {
  const key = `${currentLocale()} ${timeZone}`
  let format = formats.get(key)
  if (!format) formats.set(key, (format = createFormat(timeZone, currentLocale())))
  return format
}

/** Creating a formatter takes about a millisecond, so the first call does it. */
function lazyFormat(locale: string, options: Intl.DateTimeFormatOptions) {
  let formatter: Intl.DateTimeFormat | undefined
  return (ms: number) => (formatter ??= new Intl.DateTimeFormat(locale, options)).format(ms)
}

const QUARTER_MS = 900_000
const MAX_CACHED = 10_000

/** Formatting is slow in a long list, and every time zone changes its day at a quarter of an hour. */
function cacheDays(format: (ms: number) => string) {
  const days = new Map<number, string>()
  return (ms: number) => {
    const quarter = Math.floor(ms / QUARTER_MS)
    let day = days.get(quarter)
    if (day === undefined) {
      if (days.size === MAX_CACHED) days.clear()
      days.set(quarter, (day = format(ms)))
    }
    return day
  }
}

function createFormat(timeZone: string, locale: string) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    lazyFormat(locale, { timeZone, ...options })
  const time = format({ hour: '2-digit', minute: '2-digit' })
  const timeWithSeconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const dayMonth = cacheDays(format({ weekday: 'short', day: 'numeric', month: 'short' }))
  const dayMonthYear = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const longDay = format({ weekday: 'long', day: 'numeric', month: 'long' })
  const isoDay = cacheDays((ms) => dayAt(ms, timeZone))
  const weekday = format({ weekday: 'short' })

  const day = (ms: number, now = Date.now()) => {
    const isThisYear = isoDay(ms).slice(0, 4) === isoDay(now).slice(0, 4)
    return (isThisYear ? dayMonth : dayMonthYear)(ms).replace(/,/g, '')
  }
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const [today, tomorrow] = [relative.format(0, 'day'), relative.format(1, 'day')]
  const nearDay = (ms: number, now = Date.now()) => {
    if (isoDay(ms) === isoDay(now)) return today
    return isoDay(ms) === addDays(isoDay(now), 1) ? tomorrow : undefined
  }
  // English has no comma inside a sentence, German does.
  const isEnglish = locale.startsWith('en')
  const wholeDay = (ms: number) => (isEnglish ? longDay(ms).replace(/,/g, '') : longDay(ms))
  return {
    timeZone,
    /** "14:00" */
    time,
    /** "14:00:05" */
    timeWithSeconds,
    /** "Thu 19 Nov"; with the year if it is another one. */
    day,
    /** "tomorrow", "Thu 19 Nov" */
    nearDay: (ms: number, now = Date.now()) => nearDay(ms, now) ?? day(ms, now),
    /** "Thursday, 19 November", as a heading. */
    longDay: (ms: number) =>
      capitalized(isEnglish ? wholeDay(ms).replace(' ', ', ') : wholeDay(ms)),
    /** "Today, Thursday 19 November"; with the year if it is another one. */
    headingDay: (ms: number, now = Date.now()) => {
      const year = isoDay(ms).slice(0, 4)
      const near = nearDay(ms, now)
      return [
        near && `${capitalized(near)},`,
        wholeDay(ms),
        year === isoDay(now).slice(0, 4) ? undefined : year,
      ]
        .filter((word) => word !== undefined)
        .join(' ')
    },
    /** "Thu" */
    weekday,
    /** "2026-11-19" */
    isoDay,
    /** The first moment of the day "2026-11-19". */
    startOfDay: (day: string) => startOfDay(day, timeZone),
    /** The first moment of the day after that of this moment. */
    startOfNextDay: (ms: number) => startOfDay(addDays(isoDay(ms), 1), timeZone),
    /** "today 14:00", "Thu 19 Nov, 14:00" */
    moment: (ms: number, now = Date.now()) => {
      const near = nearDay(ms, now)
      return near ? `${near} ${time(ms)}` : `${day(ms, now)}, ${time(ms)}`
    },
    /** Hours on the clock since midnight of the day, as a fraction: 14.5, or 24.5 on the day after. */
    hourOfDay: (ms: number, day = isoDay(ms)) => {
      const clock = clockAt(ms, timeZone)
      const { days } = clock.toPlainDate().since(Temporal.PlainDate.from(day))
      return days * 24 + clock.hour + clock.minute / 60
    },
  }
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** A reason of the service with its times as the console writes them. */
export const withLocalTimes = (reason: string, format: TimeFormat) =>
  reason.replace(INSTANT, (instant) => format.moment(Date.parse(instant)))

/** "Zürich" of "Europe/Zurich", in the language of the user */
export function placeOf(timeZone: string) {
  const name = timeZone.split('/').at(-1) ?? timeZone
  return textOr(`cities.${name}`, name.replaceAll('_', ' '))
}
