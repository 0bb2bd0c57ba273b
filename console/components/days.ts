/** Days are strings like 2026-11-19 and times like 14:30, in a time zone. */

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

export const addDays = (day: string, count: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS).toISOString().slice(0, 10)

/** The Monday of the day's week. */
export function mondayOf(day: string) {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
  return addDays(day, -((weekday + 6) % 7))
}

const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY']

/** The weekday as in the working hours of staff. */
export const weekdayOf = (day: string) => WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()]!

/** The moment of this day and time in the zone; in a gap of a clock change, the later one. */
export function momentAt(day: string, time: string, timeZone: string) {
  const shown = Date.parse(`${day}T${time}:00Z`)
  const first = shown - offsetMs(shown, timeZone)
  return shown - offsetMs(first, timeZone)
}

/** The day of this moment in the zone. */
export const dayAt = (ms: number, timeZone: string) =>
  new Date(ms + offsetMs(ms, timeZone)).toISOString().slice(0, 10)

/** The zone's offset from UTC. */
export function offsetMs(ms: number, timeZone: string) {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(ms)
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'))
  return shown - Math.floor(ms / MINUTE_MS) * MINUTE_MS
}

export const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
