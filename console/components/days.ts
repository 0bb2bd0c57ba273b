/** Days are strings like 2026-11-19 and times like 14:30, in a time zone. */

export const addDays = (day: string, count: number) =>
  Temporal.PlainDate.from(day).add({ days: count }).toString()

/** The Monday of the day's week. */
export const mondayOf = (day: string) => addDays(day, 1 - Temporal.PlainDate.from(day).dayOfWeek)

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

/** The weekday as in the working hours of staff. */
export const weekdayOf = (day: string) => WEEKDAYS[Temporal.PlainDate.from(day).dayOfWeek - 1]!

/** The moment of this day and time in the zone; in a gap of a clock change, the later one. */
export const momentAt = (day: string, time: string, timeZone: string) =>
  Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(timeZone).epochMilliseconds

/** The first moment of the day in the zone, which is not midnight where a clock change skips it. */
export const startOfDay = (day: string, timeZone: string) =>
  Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds

const FIRST_TIME = '09:00'

/** When a booking on the day may start: at 9:00, or if that is over, in the next half hour. */
export function firstTime(day: string, timeZone: string, now: number) {
  const nine = momentAt(day, FIRST_TIME, timeZone)
  const halfHour = { smallestUnit: 'minute', roundingIncrement: 30, roundingMode: 'ceil' } as const
  const next = clockAt(now, timeZone).round(halfHour)
  return next.toPlainDate().toString() === day ? Math.max(nine, next.epochMilliseconds) : nine
}

/** This moment on the clocks of the zone. */
export const clockAt = (ms: number, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone)

/** The day of this moment in the zone. */
export const dayAt = (ms: number, timeZone: string) =>
  clockAt(ms, timeZone).toPlainDate().toString()

/** "2026-11-17", if the calendar has that day. */
export function isDay(text: string | undefined): text is string {
  if (text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)) return false
  try {
    Temporal.PlainDate.from(text)
    return true
  } catch {
    return false
  }
}
