import { WEEKDAYS } from '../contract/fields.ts'
import type { Frequency, ReportRange, Weekday } from '../contract/report-delivery.ts'

/** When a schedule runs. */
export type Timing = {
  frequency: Frequency
  weekday: Weekday | null
  dayOfMonth: number | null
  /** HH:MM */
  timeOfDay: string
}

/** The first time of the schedule after a moment. */
export function nextScheduledTime(timing: Timing, timeZone: string, after: Temporal.Instant) {
  // Starts a day early: a clock change can move a time past midnight.
  let day = dayOf(after, timeZone).subtract({ days: 1 })
  for (;;) {
    const time = timeOn(day, timing, timeZone)
    if (time && Temporal.Instant.compare(time, after) > 0) return time
    day = day.add({ days: 1 })
  }
}

/** The last time of the schedule up to a moment. */
export function latestScheduledTime(timing: Timing, timeZone: string, until: Temporal.Instant) {
  let day = dayOf(until, timeZone)
  for (;;) {
    const time = timeOn(day, timing, timeZone)
    if (time && Temporal.Instant.compare(time, until) <= 0) return time
    day = day.subtract({ days: 1 })
  }
}

const MAX_COUNTED = 1_000

/** How many times of the schedule lie between two moments, both excluded. */
export function countScheduledTimes(
  timing: Timing,
  timeZone: string,
  { after, before }: { after: Temporal.Instant; before: Temporal.Instant },
) {
  let count = 0
  for (let time = after; count < MAX_COUNTED; count += 1) {
    time = nextScheduledTime(timing, timeZone, time)
    if (Temporal.Instant.compare(time, before) >= 0) return count
  }
  return count
}

export const dayOf = (moment: Temporal.Instant, timeZone: string) =>
  moment.toZonedDateTimeISO(timeZone).toPlainDate()

/** In the gap of a clock change, the later time; of a repeated time, the first. */
const timeOn = (day: Temporal.PlainDate, timing: Timing, timeZone: string) =>
  runsOn(day, timing)
    ? day.toZonedDateTime({ timeZone, plainTime: timing.timeOfDay }).toInstant()
    : undefined

function runsOn(day: Temporal.PlainDate, { frequency, weekday, dayOfMonth }: Timing) {
  switch (frequency) {
    case 'DAILY':
      return true
    case 'WEEKLY':
      return WEEKDAYS[day.dayOfWeek - 1] === weekday
    case 'MONTHLY':
      return day.day === Math.min(dayOfMonth ?? 1, day.daysInMonth)
  }
}

type Days = { startDate: Temporal.PlainDate; endDate: Temporal.PlainDate }

/** The days of a relative range, both included. Weeks begin on Monday. */
export function daysOf(range: ReportRange, today: Temporal.PlainDate): Days {
  const days = (from: number, to: number): Days => ({
    startDate: today.add({ days: from }),
    endDate: today.add({ days: to }),
  })
  const monday = 1 - today.dayOfWeek
  const firstOfMonth = today.with({ day: 1 })
  switch (range) {
    case 'TODAY':
      return days(0, 0)
    case 'YESTERDAY':
      return days(-1, -1)
    case 'TOMORROW':
      return days(1, 1)
    case 'LAST_7_DAYS':
      return days(-7, -1)
    case 'LAST_30_DAYS':
      return days(-30, -1)
    case 'LAST_WEEK':
      return days(monday - 7, monday - 1)
    case 'LAST_MONTH':
      return monthsFrom(firstOfMonth.subtract({ months: 1 }), 1)
    case 'LAST_QUARTER': {
      const inQuarter = (today.month - 1) % 3
      return monthsFrom(firstOfMonth.subtract({ months: inQuarter + 3 }), 3)
    }
    case 'LAST_YEAR':
      return monthsFrom(firstOfMonth.with({ month: 1 }).subtract({ years: 1 }), 12)
    case 'WEEK_TO_DATE':
      return days(monday, 0)
    case 'MONTH_TO_DATE':
      return { startDate: firstOfMonth, endDate: today }
    case 'YEAR_TO_DATE':
      return { startDate: firstOfMonth.with({ month: 1 }), endDate: today }
    case 'NEXT_7_DAYS':
      return days(0, 6)
    case 'NEXT_WEEK':
      return days(monday + 7, monday + 13)
    case 'NEXT_MONTH':
      return monthsFrom(firstOfMonth.add({ months: 1 }), 1)
  }
}

const monthsFrom = (first: Temporal.PlainDate, months: number): Days => ({
  startDate: first,
  endDate: first.add({ months }).subtract({ days: 1 }),
})
