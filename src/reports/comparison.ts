import type { ComparedPeriod } from '../contract/report.ts'
import type { Comparison, DateRange, Scope } from './report.ts'
import { withRange } from './zones.ts'
import type { Words } from './words.ts'

type Shift = { years: number } | { months: number } | { days: number }

/**
 * The earlier range that a range is compared with: the year before for a year or a year to date, the months
 * before for months, the weeks before for weeks, and the same weekdays before for any other days.
 */
export function comparedRange(
  range: DateRange,
  compareWith: Exclude<ComparedPeriod, 'NONE'>,
): DateRange & { shift: Shift } {
  const { startDate, endDate } = range
  const shift = compareWith === 'LAST_YEAR' ? yearShiftOf(range) : shiftOf(range)
  const isToMonthEnd = endDate.add({ days: 1 }).day === 1
  const end = endDate.subtract(shift)
  return {
    shift,
    startDate: startDate.subtract(shift),
    endDate: isToMonthEnd && !('days' in shift) ? end.with({ day: end.daysInMonth }) : end,
  }
}

function shiftOf({ startDate, endDate }: DateRange): Shift {
  const next = endDate.add({ days: 1 })
  const isToMonthEnd = next.day === 1
  if (startDate.dayOfYear === 1 && next.dayOfYear === 1) {
    return { years: next.year - startDate.year }
  }
  if (isYearToDate({ startDate, endDate })) return { years: 1 }
  const days = startDate.until(next, { largestUnit: 'days' }).days
  const isWeeks = startDate.dayOfWeek === 1 && days % 7 === 0
  if (startDate.day === 1 && days > 1 && (isToMonthEnd || !isWeeks)) {
    return {
      months: (endDate.year - startDate.year) * 12 + endDate.month - startDate.month + 1,
    }
  }
  return { days: Math.ceil(days / 7) * 7 }
}

const DAYS_OF_52_WEEKS = 364

/** A year on the calendar for years and months; 52 weeks for other days, so that weekdays match. */
function yearShiftOf(range: DateRange): Shift {
  const before = shiftOf(range)
  if ('years' in before) return before
  if ('months' in before) return { years: Math.ceil(before.months / 12) }
  return { days: Math.ceil(before.days / DAYS_OF_52_WEEKS) * DAYS_OF_52_WEEKS }
}

/** From 1 January into a later month. Not the first quarter: quarters are compared with the one before. */
function isYearToDate({ startDate, endDate }: DateRange) {
  const isFirstQuarter = endDate.month === 3 && endDate.day === 31
  return (
    startDate.dayOfYear === 1 &&
    endDate.year === startDate.year &&
    endDate.month > 1 &&
    !isFirstQuarter
  )
}

/** The scopes to read for the figures of a range, and the comparison that the report shows. */
export type ComparedScopes = {
  /** The part of the range up to now; undefined if the range has ended. */
  toDate: Scope | undefined
  /** Undefined if there is no comparison. */
  previous: Scope | undefined
  comparison: Comparison | null
}

/** `began`: the time of the first row that the business has; null if there are none. */
export function compareScope(
  scope: Scope,
  began: Temporal.Instant | null,
  compareWith: ComparedPeriod,
  words: Words,
): ComparedScopes {
  const { now, timeZone } = scope
  if (compareWith === 'NONE' || Temporal.Instant.compare(scope.from, now) > 0) {
    return { toDate: undefined, previous: undefined, comparison: null }
  }
  const isRunning = Temporal.Instant.compare(now, scope.until) < 0
  const { shift, ...range } = comparedRange(scope, compareWith)
  const samePoint = (zone: string) =>
    now.toZonedDateTimeISO(zone).toPlainDateTime().subtract(shift).toZonedDateTime(zone).toInstant()
  const previous = withRange(scope, range, isRunning ? samePoint : undefined)
  const hasData = began !== null && Temporal.Instant.compare(began, previous.from) <= 0
  return {
    toDate: isRunning ? withRange(scope, scope, () => now) : undefined,
    previous,
    comparison: {
      startDate: range.startDate.toString(),
      endDate: range.endDate.toString(),
      until: isRunning ? writeLocal(samePoint(timeZone), timeZone) : null,
      isLikeForLike: hasData,
      note: hasData ? null : noteOf(began, previous, words),
    },
  }
}

const writeLocal = (moment: Temporal.Instant, timeZone: string) =>
  moment
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' })
    .replace('T', ' ')

function noteOf(began: Temporal.Instant | null, { until, timeZone }: Scope, words: Words) {
  const { say, writeDate } = words
  if (began === null || Temporal.Instant.compare(began, until) >= 0) {
    return say('Nothing is known of the earlier period, so no change is shown.')
  }
  const day = writeDate(began.toZonedDateTimeISO(timeZone).toPlainDate().toString())
  return say('The data begins on {day}, in the earlier period, so no change is shown.', { day })
}
