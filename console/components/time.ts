import { useSession } from '../api/session.ts'
import { useChosenTimeZone } from './chosen-time-zone.ts'

/** Formats moments in one time zone. */
export type TimeFormat = ReturnType<typeof createFormat>

/** In the time zone of the business, unless the user has chosen another one. */
export function useTimeFormat(): TimeFormat {
  const { timeZone } = useSession().business
  return formatIn(useChosenTimeZone() ?? timeZone)
}

/** For days as the service counts them. */
export const useBusinessTimeFormat = () => formatIn(useSession().business.timeZone)

const DAY_MS = 86_400_000
const LOCALE = 'en-GB'

const formats = new Map<string, TimeFormat>()

/** Cached by time zone, because every row of a list calls it. */
export function formatIn(timeZone: string): TimeFormat {
  let format = formats.get(timeZone)
  if (!format) formats.set(timeZone, (format = createFormat(timeZone)))
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

function createFormat(timeZone: string) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    lazyFormat(LOCALE, { timeZone, ...options })
  const time = format({ hour: '2-digit', minute: '2-digit' })
  const timeWithSeconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const dayMonth = cacheDays(format({ weekday: 'short', day: 'numeric', month: 'short' }))
  const dayMonthYear = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const longDay = format({ weekday: 'long', day: 'numeric', month: 'long' })
  // The Swedish way to write a day is ISO 8601.
  const isoDay = cacheDays(lazyFormat('sv-SE', { timeZone, dateStyle: 'short' }))
  const weekday = format({ weekday: 'short' })
  const wall = lazyFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })

  const day = (ms: number, now = Date.now()) => {
    const isThisYear = isoDay(ms).slice(0, 4) === isoDay(now).slice(0, 4)
    return (isThisYear ? dayMonth : dayMonthYear)(ms).replace(/,/g, '')
  }
  const nearDay = (ms: number, now = Date.now()) =>
    ({ [isoDay(now)]: 'today', [isoDay(now + DAY_MS)]: 'tomorrow' })[isoDay(ms)]
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
    /** "Thursday, 19 November" */
    longDay: (ms: number) => longDay(ms).replace(/,/g, '').replace(' ', ', '),
    /** "Today, Thursday 19 November"; with the year if it is another one. */
    headingDay: (ms: number, now = Date.now()) => {
      const year = isoDay(ms).slice(0, 4)
      const near = nearDay(ms, now)
      return [
        near && `${near[0]!.toUpperCase()}${near.slice(1)},`,
        longDay(ms).replace(/,/g, ''),
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
    startOfDay: (day: string) => startOfDay(day, wall),
    /** "today 14:00", "Thu 19 Nov, 14:00" */
    moment: (ms: number, now = Date.now()) => {
      const near = nearDay(ms, now)
      return near ? `${near} ${time(ms)}` : `${day(ms, now)}, ${time(ms)}`
    },
    /** Hours since midnight, as a fraction: 14.5 */
    hourOfDay: (ms: number) => {
      const [hours, minutes] = time(ms).split(':').map(Number) as [number, number]
      return hours + minutes / 60
    },
  }
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** A reason of the service with its times as the console writes them. */
export const withLocalTimes = (reason: string, format: TimeFormat) =>
  reason.replace(INSTANT, (instant) => format.moment(Date.parse(instant)))

/** "Zürich" of "Europe/Zurich" */
export const placeOf = (timeZone: string) =>
  (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ')

/** Midnight in the zone of `wall`. Computed twice, because the offset may change on that day. */
function startOfDay(day: string, wall: (ms: number) => string) {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const offsetAt = (ms: number) => Date.parse(`${wall(ms).replace(' ', 'T')}Z`) - ms
  const guess = midnight - offsetAt(midnight)
  return midnight - offsetAt(guess)
}
