import type { Subject } from '../store/subject.ts'

export type LocalClock = Pick<Subject, 'timeZone' | 'quietHours'>

type Span = { from: Temporal.Instant; to: Temporal.Instant }

/** The quiet hours that contain a time. They include their beginning and exclude their end. */
export function findQuietSpan(
  time: Temporal.Instant,
  { timeZone, quietHours }: LocalClock,
): Span | undefined {
  if (!quietHours) return undefined
  const local = time.toZonedDateTimeISO(timeZone)
  const [now, from, to] = [local.toPlainTime().toString(), quietHours.from, quietHours.to]
  const isOverMidnight = from > to
  const isQuiet = isOverMidnight ? now >= from || now < to : now >= from && now < to
  if (!isQuiet) return undefined
  const today = local.toPlainDate()
  const firstDay = isOverMidnight && now < to ? today.subtract({ days: 1 }) : today
  const lastDay = isOverMidnight && now >= from ? today.add({ days: 1 }) : today
  return {
    from: instantOf(firstDay, from, timeZone, 'earlier'),
    // If a clock change repeats the hour, the later one: it must be after `time`.
    to: instantOf(lastDay, to, timeZone, 'later'),
  }
}

const instantOf = (
  day: Temporal.PlainDate,
  time: string,
  timeZone: string,
  disambiguation: 'earlier' | 'later',
) =>
  day
    .toPlainDateTime(Temporal.PlainTime.from(time))
    .toZonedDateTime(timeZone, { disambiguation })
    .toInstant()

export function isQuietEnd(time: Temporal.Instant, { timeZone, quietHours }: LocalClock) {
  if (!quietHours) return false
  return time.toZonedDateTimeISO(timeZone).toPlainTime().equals(quietHours.to)
}

/** `21:00–08:00` */
export const quietHoursInWords = ({ quietHours }: LocalClock) =>
  quietHours ? `${quietHours.from}–${quietHours.to}` : 'none'
