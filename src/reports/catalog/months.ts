import type { DateRange, Scope } from '../report.ts'
import { withRange } from '../zones.ts'

export const monthOf = (date: Temporal.PlainDate): DateRange => ({
  startDate: date.with({ day: 1 }),
  endDate: date.with({ day: date.daysInMonth }),
})

/** The other months that the report of a month reads. */
export const otherMonths = ({ startDate }: DateRange) => ({
  before: monthOf(startDate.subtract({ months: 1 })),
  yearBefore: monthOf(startDate.subtract({ years: 1 })),
  next: monthOf(startDate.add({ months: 1 })),
})

export const isRunning = ({ from, until, now }: Scope) =>
  Temporal.Instant.compare(from, now) <= 0 && Temporal.Instant.compare(now, until) < 0

/** The scopes of a month and of the compared months, which end at the same point if it has not ended. */
export function monthScopes(scope: Scope) {
  const { before, yearBefore, next } = otherMonths(scope)
  const earlier = (range: DateRange, shift: { months: number } | { years: number }) =>
    withRange(scope, range, (zone) => {
      if (!isRunning(scope)) return undefined
      const local = scope.now.toZonedDateTimeISO(zone).toPlainDateTime()
      return local.subtract(shift).toZonedDateTime(zone).toInstant()
    })
  return {
    soFar: isRunning(scope) ? withRange(scope, scope, () => scope.now) : scope,
    before: earlier(before, { months: 1 }),
    yearBefore: earlier(yearBefore, { years: 1 }),
    next: withRange(scope, next),
  }
}
