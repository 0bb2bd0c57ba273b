import { useMemo } from 'react'
import { useSession } from '../api/session.ts'

/** Formats moments in one time zone. */
export type TimeFormat = ReturnType<typeof formatIn>

/** In the time zone of the business. */
export function useTimeFormat(): TimeFormat {
  const { timeZone } = useSession().business
  return useMemo(() => formatIn(timeZone), [timeZone])
}

const DAY_MS = 86_400_000

export function formatIn(timeZone: string, locale = 'en-GB') {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone, ...options })
    return (ms: number) => formatter.format(ms)
  }
  const time = format({ hour: '2-digit', minute: '2-digit' })
  const timeWithSeconds = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const dayMonth = format({ weekday: 'short', day: 'numeric', month: 'short' })
  const dayMonthYear = format({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  const longDay = format({ weekday: 'long', day: 'numeric', month: 'long' })
  const isoDay = dayFormat(timeZone)
  const weekday = format({ weekday: 'short' })

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
    startOfDay: (day: string) => startOfDay(day, timeZone),
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

/** "2026-11-19": the Swedish way to write a day is ISO 8601. */
function dayFormat(timeZone: string) {
  const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' })
  return (ms: number) => formatter.format(ms)
}

/** "Zürich" of "Europe/Zurich" */
export const placeOf = (timeZone: string) =>
  (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ')

/** Midnight in the zone. Computed twice, because the offset may change on that day. */
function startOfDay(day: string, timeZone: string) {
  const wall = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const offsetAt = (ms: number) => Date.parse(`${wall.format(ms).replace(' ', 'T')}Z`) - ms
  const guess = midnight - offsetAt(midnight)
  return midnight - offsetAt(guess)
}
